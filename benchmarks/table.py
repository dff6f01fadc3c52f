# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The tables of benchmarks and their page in the documentation, so that no number there was typed by hand.

``python -m benchmarks.table`` writes docs/performance.md from the stored results: a summary, then a part for each topic
with its plot. It measures nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markdown.extensions.toc import slugify  # type: ignore[import-untyped]

from benchmarks.harness import RESULTS

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "performance.md"
HEAD = (
    "| benchmark | ours | compared with | takes | ratio | aim | note |",
    "|---|---|---|---|---|---|---|",
)


@dataclass(frozen=True, slots=True)
class Topic:
    """One part of the page.

    Attributes:
        title: Its heading.
        about: What was measured, in a sentence or two.
        results: Names of the stored results that it shows, in order.
    """

    title: str
    about: str
    results: tuple[str, ...]


TOPICS = {
    "data": Topic(
        "Reading data and finding events",
        "Time to read files of eye trackers and to detect fixations and saccades.",
        ("readers", "eyelink", "events"),
    ),
    "noise-and-ledger": Topic(
        "Noise and the ledger",
        "Time to draw exact noise, and to charge a privacy budget.",
        ("noise", "ledger"),
    ),
    "aggregates": Topic(
        "Heatmaps and other aggregates",
        "Time to release a heatmap from a large corpus, on one machine and with Spark.",
        ("aggregate", "liu", "spark"),
    ),
    "features": Topic(
        "Features",
        "Time to compute eye-movement features, and to add noise to their series.",
        ("features", "feature_series"),
    ),
    "streams": Topic(
        "Live streams",
        "Time of one sample, and of a whole recording, for every mechanism for gaze streams.",
        ("veils",),
    ),
    "gateway": Topic(
        "The gateway",
        "Latency of gaze that passes through the gateway, beside a proxy that only forwards it.",
        ("gateway", "gateway_push", "protocols"),
    ),
    "busy-gateway": Topic(
        "The gateway on a busy machine",
        "Latency with and without three busy processes beside the gateway, in five runs each.",
        ("gateway_busy",),
    ),
    "pages-and-scenes": Topic(
        "Web pages and scenes",
        "Time of the control page, of mechanisms that run inside a web page, and of finding regions in a scene.",
        ("page", "page_veils", "userstudy", "scene", "scene_live"),
    ),
    "command-line": Topic(
        "The command line",
        "Time until help is shown.",
        ("cli",),
    ),
    "attacks": Topic(
        "Attacks, baselines and the simulator",
        "Time of identification attacks, of training their network, of methods of other groups, and of simulated gaze.",
        ("attacks", "ekyt_gpu", "scanpaths", "peers", "simulate"),
    ),
}
OTHER = "other"
HEADINGS = {"peers": "baselines"}
"""Results that are called otherwise on the page."""
WORDS = {"the peer": "the other", "peer": "the other", "people": "participants", "person": "participant"}
"""Words of stored results, and what is written instead."""


def line(row: dict[str, Any]) -> str:
    """Return one result as a line of the table."""
    rate = f"{_seconds(row['ours_s'])} ({_count(row['work'] / row['ours_s'])} {row['unit']}/s)"
    mark = "" if row["reached"] else " **missed**"
    name, note = in_words(row["name"]), in_words(row["note"])
    shown = [name, rate, row["peer"], _seconds(row["peer_s"]), ratio(row) + mark, aim(row), note]
    return f"| {' | '.join(shown)} |"


def in_words(text: str) -> str:
    """Return a stored name or note in the words of the documentation."""
    for stored_word, word in WORDS.items():
        text = re.sub(rf"\b{stored_word}\b", word, text)
    return text


def ratio(row: dict[str, Any]) -> str:
    """Return the time of the other tool over ours."""
    return f"{row['ratio']:,.{2 if row['ratio'] < 10 else 1 if row['ratio'] < 1000 else 0}f}x"


def aim(row: dict[str, Any]) -> str:
    """Return the ratio that was aimed at."""
    return f"{row['target']:.3g}x"


def stored(results: Path = RESULTS) -> dict[str, dict[str, Any]]:
    """Return all stored results by name. Audits have a page of their own and are left out."""
    found = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(results.glob("*.json"))}
    return {name: result for name, result in found.items() if "rows" in result}


def topics(known: dict[str, dict[str, Any]]) -> dict[str, Topic]:
    """Return the topics that have results. Results of no topic are in a last one."""
    placed = {name for topic in TOPICS.values() for name in topic.results}
    left = tuple(name for name in known if name not in placed)
    wanted = TOPICS | ({OTHER: Topic("Other results", "Results without a topic.", left)} if left else {})
    return {key: topic for key, topic in wanted.items() if any(name in known for name in topic.results)}


def rows_of(topic: Topic, known: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return all rows of a topic."""
    return [row for name in topic.results if name in known for row in known[name]["rows"]]


def part_of(key: str, topic: Topic, known: dict[str, dict[str, Any]]) -> str:
    """Return the part of a topic."""
    parts = [
        f"## {topic.title}", "",
        topic.about, "",
        f"![Ratio over the aim, {topic.title.lower()}]({picture_of(key)})", "",
    ]  # fmt: skip
    for name in topic.results:
        if name in known:
            machine = ", ".join(f"{key} {value}" for key, value in known[name]["machine"].items())
            parts += [
                f"### {HEADINGS.get(name, name)}",
                "",
                *HEAD,
                *map(line, known[name]["rows"]),
                "",
                f"Machine: {machine}.",
                "",
            ]
    return "\n".join(parts)


def picture_of(key: str) -> str:
    """Return where the plot of a topic lies."""
    return f"images/performance-{key}.png"


def summary(known: dict[str, dict[str, Any]]) -> str:
    """Return how many aims were reached for each topic, and which were missed."""
    parts = ["| topic | comparisons | with an aim | aims reached |", "|---|---|---|---|"]
    missed = []
    for topic in topics(known).values():
        rows = rows_of(topic, known)
        aimed = [row for row in rows if row["target"] > 0]
        reached = sum(row["reached"] for row in aimed)
        parts.append(f"| [{topic.title}](#{slugify(topic.title, '-')}) | {len(rows)} | {len(aimed)} | {reached} |")
        missed += [row for row in aimed if not row["reached"]]
    parts += ["", "**Aims that were missed:**" if missed else "No aim was missed.", ""]
    parts += [f"- {in_words(row['name'])}, compared with {row['peer']}: {ratio(row)}, aim {aim(row)}" for row in missed]
    return "\n".join(parts) + "\n"


def with_stretch(page: str, name: str, made: str) -> str:
    """Return a page with the stretch between two marks replaced."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n\n{made}\n{end}{after}"


def page(results: Path = RESULTS) -> str:
    """Return the page with its summary and a part for each topic."""
    known = stored(results)
    parts = "\n".join(part_of(key, topic, known) for key, topic in topics(known).items())
    shown = with_stretch(PAGE.read_text(encoding="utf-8"), "summary", summary(known))
    return with_stretch(shown, "topics", parts)


def main() -> None:
    """Write the page and its plots from the stored results."""
    from benchmarks.docs_plots import ratio_plot, topics_plot

    PAGE.write_text(page(), encoding="utf-8")
    known = stored()
    rows = {topic.title: rows_of(topic, known) for topic in topics(known).values()}
    for key, topic in topics(known).items():
        (DOCS / picture_of(key)).write_bytes(ratio_plot(rows[topic.title]))
    (DOCS / "images" / "performance.png").write_bytes(topics_plot(rows))


def print_rows(rows: Iterable[dict[str, Any]]) -> None:
    """Print results as they come."""
    for row in rows:
        print(line(row), flush=True)


def _seconds(value: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if value * scale >= 1:
            return f"{value * scale:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


def _count(value: float) -> str:
    for unit, scale in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value:.3g}"


if __name__ == "__main__":
    main()
