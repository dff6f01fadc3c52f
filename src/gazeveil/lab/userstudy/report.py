# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The report of a user study: one HTML file, the measures as Parquet, and all numbers as JSON."""

from __future__ import annotations

import json
import math
from pathlib import Path

import polars as pl

from gazeveil.files import replacing
from gazeveil.lab.userstudy._plots import by_condition, over_time
from gazeveil.lab.userstudy.analysis import Analysis, Found, Variance, analyse
from gazeveil.lab.userstudy.overview import Chosen, Overview
from gazeveil.release.visual_report import (
    ReportSection,
    html_picture,
    html_table,
    html_warning,
    paragraph,
    write_report,
)

AGAINST = ["condition", "participants", "mean", "difference", "from", "to", "z", "p (Holm)", "rank-biserial r", "d",
           "d from", "d to", "Bayes factor for none", "in words"]  # fmt: skip


def write_user_study(measures: pl.DataFrame, folder: Path, title: str, overview: Overview | None = None) -> Analysis:
    """Analyse measures and write ``report.html``, ``measures.parquet`` and ``analysis.json``; return what was found.

    With an overview the report also says what each participant did and which level they chose.
    """
    found = analyse(measures)
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(folder / "measures.parquet") as temporary:
        measures.write_parquet(temporary)
    with replacing(folder / "analysis.json") as temporary:
        temporary.write_text(json.dumps(_finite(found.to_dict()), indent=1) + "\n", encoding="utf-8", newline="\n")
    lead = (
        f"{len(found.participants)} participants. Each condition is compared with the one without a mechanism, over "
        "those who met both; trials of a condition are averaged first. Tests are Wilcoxon's signed ranks, exact, "
        "corrected after Holm within each table."
    )
    sections = [*_opening(found), *_measures(found), *_three_way(found), *(_beside(overview) if overview else [])]
    write_report(folder / "report.html", title, lead, sections)
    return found


def _opening(found: Analysis) -> list[ReportSection]:
    return (
        [ReportSection("What to keep in mind", tuple(html_warning(remark) for remark in found.remarks))]
        if found.remarks
        else []
    )


def _measures(found: Analysis) -> list[ReportSection]:
    sections = []
    for name in dict.fromkeys(one.measure.name for one in found.found):
        of_it = [one for one in found.found if one.measure.name == name]
        measure = of_it[0].measure
        better = "higher" if measure.higher_is_better else "lower"
        caption = (
            f"{measure.words}: every participant, mean and 95 % interval of the mean. {better.capitalize()} is better."
        )
        pieces = [html_picture(by_condition(of_it), caption)]
        for one in of_it:
            pieces += [paragraph(f"Control: {one.control}. {_friedman_words(one)}"), html_table(AGAINST, _rows(one))]
        sections.append(ReportSection(measure.words[:1].upper() + measure.words[1:], tuple(pieces)))
    return sections


def _beside(overview: Overview) -> list[ReportSection]:
    columns = ["participant", "rounds", "hits", "misses", "false selections", "attempts", "accuracy (degrees)",
               "finished"]  # fmt: skip
    rows = [
        [one.participant, one.rounds, one.hits, one.misses, one.false_selections, one.attempts, one.accuracy_deg,
         "yes" if one.finished else "not yet"]
        for one in overview.taken
    ]  # fmt: skip
    told = (
        "All rounds of a participant together, practice and free play left out. A miss is a target that arrived. There "
        "are more attempts than rounds where gaze was lost and a round was played again. Accuracy is the mean error "
        "over the nine points at the beginning, without a mechanism."
    )
    people = ReportSection("Participants", (paragraph(told), html_table(columns, rows)))
    return [_levels(overview.chosen), people] if overview.chosen else [people]


def _levels(chosen: Chosen) -> ReportSection:
    caption = "The privacy level that participants had chosen while they played, from the weakest to the strongest."
    columns = ["participant", *(f"share of the time at {level}" for level in chosen.levels), "changes"]
    return ReportSection(
        "Privacy level chosen over time", (html_picture(over_time(chosen), caption), html_table(columns, chosen.rows()))
    )


def _friedman_words(found: Found) -> str:
    test = found.friedman
    if test is None:
        return "Too few participants met all conditions for Friedman's test."
    return (
        f"Friedman's test over all conditions: χ²({test.conditions - 1}) = {test.chi_square:.2f}, {_p(test.p)}, "
        f"Kendall's W = {test.agreement:.2f}, {test.participants} participants."
    )


def _rows(found: Found) -> list[list[object]]:
    rows: list[list[object]] = []
    for (name, mean, each), values in zip(found.rows(), found.means.values(), strict=True):
        if each is None:
            rows.append([name, len(values), mean, *[""] * (len(AGAINST) - 3)])
            continue
        ranks, difference = each.ranks, each.difference
        rows.append([name, difference.participants, mean, ranks.shift, ranks.low, ranks.high, ranks.z, each.p_holm,
                     ranks.rank_biserial, difference.d, difference.low, difference.high, difference.for_none,
                     each.in_words])  # fmt: skip
    return rows


def _three_way(found: Analysis) -> list[ReportSection]:
    return [
        ReportSection(
            f"Mechanism, strength and control: {variance.measure.words}",
            (paragraph(_assumptions(variance)), html_table(
                ["effect", "F", "degrees", "p (Greenhouse–Geisser)", "factor of degrees", "partial η²",
                 "generalised η²", "p by aligned ranks"],
                [
                    [effect.name, effect.f, f"{effect.degrees}, {effect.error_degrees}", effect.p_corrected,
                     effect.greenhouse_geisser, effect.partial_eta_squared,
                     effect.generalised_eta_squared, ranked.p_corrected]
                    for effect, ranked in zip(variance.plain.effects, variance.aligned.effects, strict=True)
                ],
            )),
        )
        for variance in found.variances
    ]  # fmt: skip


def _assumptions(variance: Variance) -> str:
    plain = variance.plain
    said = (
        f"{plain.participants} participants met everything. The condition without a mechanism counts once for each "
        "mechanism, as in Wilson et al. 2024, so its effect is diluted; comparisons with none are not. "
        f"Residuals: Shapiro–Wilk {_p(plain.normal_p)}"
    )
    if plain.plain_assumptions_hold:
        return f"{said}; nothing speaks against a normal distribution, so F and p of the plain analysis count."
    return f"{said}; they are not normal, so p by aligned ranks counts, not the plain analysis."


def _p(value: float) -> str:
    return "p < .001" if value < 0.001 else f"p = {value:.3f}"


def _finite(value: object) -> object:
    """Return values as JSON has them: what is no finite number becomes nothing."""
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value
