# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The page about all figures: an index with one row each, then a section each, in one file that needs no other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from gazeveil.lab.experiments.reproduction.finding import Check, Finding, Verdict
from gazeveil.release.visual_report import (
    ReportSection,
    html_details,
    html_page,
    html_picture,
    html_table,
    html_warning,
    paragraph,
)

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
