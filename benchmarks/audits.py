# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Every audit at full length, as it is and with half the noise, put into docs/results.md#audits.

``python -m benchmarks.audits`` runs what is not stored yet, or was with fewer trials, and writes the page; stopped, it
goes on where it was. Given names of subjects it runs these again; with ``--stored`` it runs nothing. There are a
million trials on each input where one costs less than a millisecond, else the number in `FEWER`. ``--at-most 50000``
makes a shorter table first.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import gazeveil.lab.audited  # noqa: F401  (enters the subjects of the lab)
from benchmarks.harness import RESULTS
from gazeveil.files import replacing
from gazeveil.privacy.audit import SUBJECTS, AuditResult, audit, build

PAGE = Path(__file__).parents[1] / "docs" / "results.md"
STORED = RESULTS / "audits.json"
BEGIN, END = "<!-- audits: begin -->", "<!-- audits: end -->"

TRIALS = 1_000_000
FEWER = {
    "gateway-leases": 20_000,
    "gateway-scene": 20_000,
    "clock-turned": 100_000,
    "held-ticks-turned": 100_000,
    "rotate": 100_000,
}
"""How many trials there are of what takes a millisecond or more for all inputs of one.

A lease is written to a file, and a scene goes through a whole hub; the others run whole streams whose promise is
changed, or several veils in turn."""
CONFIDENCE = 0.99
QUICK = 40_000
"""Trials with half the noise; a million, if these see no violation."""

PITCHES = ("0", "45", "60", "80", "89")
MORE: dict[str, tuple[dict[str, str], ...]] = {
    **dict.fromkeys(("clock-sphere", "held-ticks-sphere", "sphere-by-angles"), tuple({"pitch": p} for p in PITCHES)),
    **dict.fromkeys(("heatmap-histogram", "heatmap-bumps", "heatmap-modes"), ({}, {"add_remove": "1"})),
    "heatmap-hierarchical": ({}, {"add_remove": "1"}),
    "kaleido": ({}, {"test_share": "0.5"}),
    "features-lpa": ({}, {"stretch": "1"}),
    "features-dc-fpa": ({}, {"delta": "0.001"}),
    "aoi-visit-order": ({}, {"length": "2", "most": "2"}),
    "aoi-together": ({}, {"delta": "0.001"}),
    "liu-laplace-map": ({}, {"cap": "12"}),
}
"""Subjects that are audited with other options, too."""


@dataclass(frozen=True, slots=True)
class Row:
    """One audit of the table."""

    subject: str
    options: tuple[tuple[str, str], ...]

    @property
    def label(self) -> str:
        """The subject and its options."""
        return " ".join([self.subject, *(f"{name}={value}" for name, value in self.options)])


def rows() -> list[Row]:
    """Return all audits, what takes long last."""
    known = [Row(name, tuple(each.items())) for name in SUBJECTS.names() for each in MORE.get(name, ({},))]
    return sorted(known, key=lambda row: (row.subject in FEWER, _is_stream(row.subject), row.label))


def _is_stream(subject: str) -> bool:
    return SUBJECTS[subject].__module__.startswith("gazeveil.samples")


def measured(row: Row, at_most: int = TRIALS) -> dict[str, Any]:
    """Audit a row as it is and, where it claims a proof that holds, with half the noise."""
    began = time.perf_counter()
    options = dict(row.options)
    subject = build(row.subject, options)
    trials = min(FEWER.get(row.subject, TRIALS), at_most)
    families = None if subject.log_ratio is None else ("threshold", "likelihood-ratio", "histogram")
    result = audit(subject, trials=trials, confidence=CONFIDENCE, seed=1, families=families)
    found: dict[str, Any] = {"row": row.label, "claim": _claim(result), **_short(result)}
    if subject.claim.proven and not result.violated:
        lying = replace(build(row.subject, {**options, "epsilon": "2"}), claim=subject.claim)
        sharp = ("threshold", "classifier") if subject.log_ratio is None else ("threshold", "likelihood-ratio")
        for length in sorted({min(QUICK, trials), trials}):
            half = audit(lying, trials=length, confidence=CONFIDENCE, seed=2, method="sampling", families=sharp)
            found["half"] = _short(half)
            if half.violated:
                break
    return found | {"seconds": round(time.perf_counter() - began, 1)}


def table(stored: dict[str, Any]) -> str:
    """Return what was found as a table."""
    lines = [
        "| subject | claimed | trials | ε at least | would have caught | verdict | with half the noise |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in sorted(rows(), key=lambda row: row.label):
        if (found := stored.get(row.label)) is None:
            continue
        verdict = found["verdict"].replace("promise", "guarantee")
        verdict = f"**{verdict}**" if verdict == "violated" else verdict
        power = "" if found["caught"] is None else f"{found['caught']:.3f}"
        name, *options = row.label.split(" ")
        lines.append(
            f"| `{name}`{''.join(f', {each}' for each in options)} | {found['claim']} | {_trials(found)} | "
            f"{found['epsilon']:.3f} | {power} | {verdict} | {_half(found.get('half'))} |"
        )
    return "\n".join([*lines, "", *_missing(stored)]) + "\n"


def _missing(stored: dict[str, Any]) -> list[str]:
    """Say what the table does not have yet."""
    short = [row for row in rows() if row.label in stored and not is_full(row, stored[row.label])]
    gone = sorted(f"`{row.label}`" for row in rows() if row.label not in stored)
    said = [f"{len(short)} of {len(rows())} rows have fewer trials than wanted so far."] if short else []
    return said + ([f"Not run yet: {', '.join(gone)}."] if gone else [])


def is_full(row: Row, found: dict[str, Any]) -> bool:
    """Whether a row has as many trials as are wanted."""
    return _is_done(found, FEWER.get(row.subject, TRIALS))


def _trials(found: dict[str, Any]) -> str:
    return f"{found['trials']:,}" if found["trials"] else "computed"


def _half(half: dict[str, Any] | None) -> str:
    if half is None:
        return ""
    return f"{half['verdict']}: {half['epsilon']:.3f} ({half['trials']:,} trials)"


def _claim(result: AuditResult) -> str:
    if result.claimed_epsilon is None:
        return "nothing"
    delta = f", δ = {result.claimed_delta:g}" if result.claimed_delta else ""
    return f"ε = {result.claimed_epsilon:g}{delta}"


def _short(result: AuditResult) -> dict[str, Any]:
    return {
        "trials": result.trials,
        "epsilon": result.epsilon_lower_bound,
        "delta": result.delta_lower_bound,
        "caught": result.smallest_caught,
        "verdict": str(result.verdict),
        "event": result.event,
        "pair": result.findings[0].pair if result.findings else "",
    }


def with_table(page: str, made: str) -> str:
    """Return the page with the stretch between its two marks replaced."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{made}\n{END}{rest.partition(END)[2]}"


def main(words: list[str]) -> int:
    """Run what is missing or named, then write the page."""
    at_most = TRIALS
    if words[:1] == ["--at-most"]:
        at_most, words = int(words[1]), words[2:]
    stored: dict[str, Any] = json.loads(STORED.read_text()) if STORED.exists() else {}
    for row in [] if words == ["--stored"] else rows():
        wanted = min(FEWER.get(row.subject, TRIALS), at_most)
        if row.subject not in words if words else _is_done(stored.get(row.label), wanted):
            continue
        stored[row.label] = found = measured(row, at_most)
        print(json.dumps(found, ensure_ascii=False), flush=True)
        with replacing(STORED) as part:
            part.write_text(json.dumps(stored, ensure_ascii=False, indent=1, sort_keys=True) + "\n")
    PAGE.write_text(with_table(PAGE.read_text(), table(stored)))
    return 0


def _is_done(found: dict[str, Any] | None, trials: int) -> bool:
    return found is not None and (found["trials"] == 0 or found["trials"] >= trials)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
