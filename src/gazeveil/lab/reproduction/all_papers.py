# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""All figures and tables of the four papers, measured side by side, and one page about them."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any, Final

from gazeveil.arrays import Tell, silent
from gazeveil.errors import UnknownName, closest
from gazeveil.lab.bench import runner
from gazeveil.lab.bench.runner import Case
from gazeveil.lab.reproduction import bozkir_claims, kaleido_attack_claims, kaleido_claims, liu_claims, wilson_claims
from gazeveil.lab.reproduction.finding import Check, Finding, Job, Verdict
from gazeveil.release.visual_report import (
    ReportSection,
    html_details,
    html_page,
    html_picture,
    html_table,
    html_warning,
    paragraph,
)


@dataclass(frozen=True, slots=True)
class Part:
    """A measurement and the figures that come out of it.

    Attributes:
        job: What measures; importable, so that another process can run it.
        paper: Authors and year.
        figures: Titles by name, in the order of the paper.
    """

    job: Job
    paper: str
    figures: Mapping[str, str]


def run(
    parts: Sequence[Part],
    data: Path | None,
    *,
    quick: bool = False,
    workers: int = 2,
    limit_s: float = math.inf,
    tell: Tell = silent,
) -> list[Finding]:
    """Measure all parts; a part that fails gives findings that say why.

    Args:
        parts: What to measure; the first are begun first.
        data: The folder of data sets, or None.
        quick: Measure on less.
        workers: How many processes at a time; with 0 all is done in this one.
        limit_s: Seconds after which a part is ended and marked.
        tell: Called with how many parts are done.
    """
    cases = [Case(" ".join(part.figures), part.job, group=number) for number, part in enumerate(parts)]
    results = runner.run(
        cases,
        _measured,
        (data, quick),
        workers=workers,
        limit_s=limit_s,
        follow=lambda now: tell(now.done, now.total) if now.done else None,
    )
    found: list[Finding] = []
    for part, case in zip(parts, cases, strict=True):
        result = results[case.key]
        known = {one.name: one for one in result.answer or ()}
        error = result.error or "the measurement had no such figure"
        found += [known.get(name) or failed(part, name, error) for name in part.figures]
    return found


def failed(part: Part, name: str, error: str) -> Finding:
    """Return the marked row of a figure that could not be measured."""
    return Finding(name, part.paper, part.figures[name], "none", (), error=error)


def _measured(setting: tuple[Path | None, bool], job: Job) -> list[Finding]:
    data, quick = setting
    wall, cpu = time.perf_counter(), time.process_time()
    found = job(data, quick=quick)
    wall_s, cpu_s = time.perf_counter() - wall, time.process_time() - cpu
    return [replace(one, wall_s=wall_s, cpu_s=cpu_s) for one in found]


# --- Which figures and tables there are, and what measures them. Those that take longest come first.


PARTS: Final = (
    Part(wilson_claims.measure_table_3, wilson_claims.PAPER, {"wilson-table-3": "Table 3: attacks on mechanisms"}),
    Part(wilson_claims.measure_figure_2, wilson_claims.PAPER, {"wilson-2": "Figure 2: accuracy and hits, by strength"}),
    Part(bozkir_claims.measure, bozkir_claims.PAPER, {
        "bozkir-1": "Figure 1: correlation over time", "bozkir-2": "Figure 2: utility over ε",
        "bozkir-3": "Figure 3: classes, with vote", "bozkir-4": "Figure 4: classes, without vote",
    }),
    Part(kaleido_claims.measure_eyes, kaleido_claims.PAPER, {
        "kaleido-13": "Figure 13: error of noisy gaze", "kaleido-15": "Figure 15: saliency maps",
    }),
    Part(kaleido_attack_claims.measure_scanpaths, kaleido_attack_claims.PAPER, {
        "kaleido-10": "Figure 10: similarity of scanpaths", "kaleido-11": "Figure 11: outliers",
    }),
    Part(kaleido_attack_claims.measure_traits, kaleido_attack_claims.PAPER, {
        "kaleido-12": "Figure 12: identity and traits",
    }),
    Part(kaleido_claims.measure_head_and_eyes, kaleido_claims.PAPER, {"kaleido-14": "Figure 14: head and eye"}),
    Part(wilson_claims.measure_table_2, wilson_claims.PAPER, {"wilson-table-2": "Table 2: identification by length"}),
    Part(liu_claims.measure, liu_claims.PAPER, {
        "liu-2": "Figure 2: noise of gaze maps", "liu-3": "Figure 3: quality over ε",
    }),
    Part(wilson_claims.measure_table_5, wilson_claims.PAPER, {"wilson-table-5": "Table 5: cost"}),
    Part(kaleido_claims.measure_costs, kaleido_claims.PAPER, {"kaleido-9": "Figure 9: cost"}),
    Part(kaleido_claims.measure_table_1, kaleido_claims.PAPER, {"kaleido-table-1": "Table 1: data sets"}),
)  # fmt: skip

ORDER: Final = (
    "liu-2", "liu-3", "bozkir-1", "bozkir-2", "bozkir-3", "bozkir-4", "wilson-2", "wilson-table-2", "wilson-table-3",
    "wilson-table-5", "kaleido-table-1", "kaleido-9", "kaleido-10", "kaleido-11", "kaleido-12", "kaleido-13",
    "kaleido-14", "kaleido-15",
)  # fmt: skip
"""As the index lists them."""


def chosen(names: Sequence[str]) -> tuple[Part, ...]:
    """Return the parts that measure some figures; all of them if no name is given.

    Raises:
        UnknownName: If there is no such figure.
    """
    if unknown := [name for name in names if name not in ORDER]:
        raise UnknownName(f"no figure or table is called {unknown[0]!r}", hint=closest(unknown[0], ORDER))
    return tuple(part for part in PARTS if not names or set(names) & set(part.figures))


# --- The page about all figures: an index with one row each, then a section each, in one file that needs no other.


_ORDER = (Verdict.AGREES, Verdict.DIFFERS, Verdict.NOT_COMPARABLE, Verdict.FAILED)


def summary(findings: Sequence[Finding]) -> str:
    """Say how many agree."""
    count = Counter(one.verdict for one in findings)
    return ", ".join(f"{verdict}: {count[verdict]}" for verdict in _ORDER if count[verdict])


def decisive(finding: Finding) -> Check | None:
    """Return the statement that a row of the index shows: the first that decides the verdict."""
    return next((check for check in finding.checks if check.verdict is finding.verdict), None)


def index_row(finding: Finding) -> tuple[str, str, str, str, str]:
    """Return one row of the index: figure, the paper's statement, ours, data, verdict with its reason."""
    if finding.error:
        return finding.name, "–", "–", finding.data, f"{Verdict.FAILED}: {finding.error}"
    told = decisive(finding)
    if told is None:
        return finding.name, "–", "–", finding.data, str(finding.verdict)
    reason = f": {told.reason}" if told.reason and finding.verdict is not Verdict.AGREES else ""
    agreeing = sum(check.verdict is Verdict.AGREES for check in finding.checks)
    count = f" ({agreeing} of {len(finding.checks)} statements agree)" if len(finding.checks) > 1 else ""
    return finding.name, told.claim, told.ours, finding.data, f"{finding.verdict}{reason}{count}"


def to_json(findings: Sequence[Finding], about: Mapping[str, Any]) -> dict[str, Any]:
    """Return everything but the pictures as plain values."""
    return {**about, "summary": summary(findings), "figures": [one.to_dict() for one in findings]}


def to_html(findings: Sequence[Finding], about: Mapping[str, Any]) -> str:
    """Return the page."""
    lead = (
        f"{summary(findings)}. A figure differs if one of the paper's statements about it does. "
        f"{'A quick run on few data: intervals are wide. ' if about['quick'] else ''}"
        f"Measured with {about['software']} in {about['wall_s']:.0f} s ({about['cpu_s']:.0f} s of processor time), "
        f"{about['workers']} processes."
    )
    head = ("figure", "paper states", "ours", "data", "verdict")
    index = ReportSection("Index", (_index(head, findings),))
    return html_page("Four papers, measured again", lead, [index, *(_section(one) for one in findings)])


def to_markdown(findings: Sequence[Finding]) -> str:
    """Return the index as a table of Markdown, for the docs."""
    lines = ["| figure | paper states | ours | verdict |", "|---|---|---|---|"]
    for one in findings:
        name, claim, ours, _, verdict = (text.replace("|", "/") for text in index_row(one))
        lines.append(f"| {name} | {claim} | {ours} | {verdict} |")
    return "\n".join(lines)


def _index(head: Sequence[str], findings: Sequence[Finding]) -> str:
    rows = []
    for number, one in enumerate(findings, start=2):
        name, *rest = index_row(one)
        cells = "".join(f'<td style="white-space:normal">{escape(text)}</td>' for text in rest)
        rows.append(f'<tr><td><a href="#s{number}">{escape(name)}</a></td>{cells}</tr>')
    titles = "".join(f"<th>{escape(title)}</th>" for title in head)
    return f'<div class="scroll"><table><thead><tr>{titles}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def _section(one: Finding) -> ReportSection:
    title = f"{one.paper}, {one.title}"
    if one.error:
        return ReportSection(title, (html_warning(f"This figure could not be measured: {one.error}"),))
    statements = [(check.claim, check.ours, str(check.verdict), check.reason) for check in one.checks]
    pieces = [
        paragraph(f"Verdict: {one.verdict}. Data: {one.data}."),
        html_table(("the paper states", "ours", "verdict", "reason"), statements).replace(
            "<td>", '<td style="white-space:normal">'
        ),
        *(paragraph(note) for note in one.notes),
        *(html_picture(png, caption) for caption, png in one.pictures.items()),
    ]
    if one.rows:
        pieces.append(html_details("All numbers", html_table(one.columns, one.rows)))
    measured = f"Measured alone by: {one.command}. " if one.command else ""
    pieces.append(paragraph(f"{measured}It took {one.wall_s:.0f} s, {one.cpu_s:.0f} s of processor time."))
    return ReportSection(title, tuple(pieces))
