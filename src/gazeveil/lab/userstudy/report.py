# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The report of a user study: one HTML file with pictures, the measures as Parquet, and all numbers as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from gazeveil.display import BLUE, ORANGE, canvas, legend_below, line_style, png
from gazeveil.files import replacing
from gazeveil.lab.userstudy.analysis import Analysis, Found, Variance, analyse
from gazeveil.lab.userstudy.design import BASELINE
from gazeveil.lab.userstudy.sessions import Chosen, Overview
from gazeveil.release.visual_report import (
    ReportSection,
    html_picture,
    html_table,
    html_warning,
    paragraph,
    write_report,
)


def by_condition(found: Sequence[Found]) -> bytes:
    """Draw every participant as a point, and the mean of each condition with its 95 % interval."""
    figure, panels = canvas(5.2 * len(found), 3.6, 1, len(found), sharey=True, squeeze=False)
    for axes, one in zip(panels[0], found, strict=True):
        for place, (condition, values) in enumerate(one.means.items()):
            aside = place + np.linspace(-0.18, 0.18, len(values)) if len(values) > 1 else np.array([place])
            axes.plot(aside, np.sort(values), "o", color="#9aa5b1", markersize=3)
            half = 1.96 * values.std(ddof=1) / math.sqrt(len(values)) if len(values) > 1 else 0.0
            colour = ORANGE if condition.mechanism == BASELINE else BLUE
            axes.errorbar([place], [values.mean()], [half], fmt="D", color=colour, markersize=6, capsize=4)
        axes.axhline(next(iter(one.means.values())).mean(), color=ORANGE, linewidth=0.8, linestyle="--")
        axes.set_xticks(range(len(one.means)), [condition.name for condition in one.means], rotation=30, ha="right")
        axes.set_title(f"control: {one.control}")
    unit = f" ({found[0].measure.unit})" if found[0].measure.unit else ""
    panels[0][0].set_ylabel(f"{found[0].measure.words}{unit}")
    return png(figure)


def over_time(chosen: Chosen) -> bytes:
    """Draw the level that each participant had chosen, and how many had chosen which."""
    figure, (steps, shares) = canvas(10.4, 3.6, 1, 2)
    places = np.array(list(chosen.by_participant.values()))
    aside = np.linspace(-0.12, 0.12, len(places)) if len(places) > 1 else np.zeros(1)
    for line, shift in zip(places, aside, strict=True):
        steps.step(chosen.seconds, line + shift, where="post", color=BLUE, alpha=0.5, linewidth=1.2)
    steps.set_yticks(range(len(chosen.levels)), chosen.levels)
    steps.set_ylim(-0.5, len(chosen.levels) - 0.5)
    steps.set_ylabel("privacy level")
    steps.set_title("each participant")
    there = np.maximum(np.isfinite(places).sum(axis=0), 1)
    for place, level in enumerate(chosen.levels):
        shares.step(
            chosen.seconds, (places == place).sum(axis=0) / there, where="post", label=level, **line_style(place)
        )
    shares.set_ylim(-0.02, 1.02)
    shares.set_ylabel("share of participants")
    shares.set_title("all participants")
    legend_below(figure, shares)
    for axes in (steps, shares):
        axes.set_xlabel("seconds since the free part began")
    return png(figure)


# --- The report of a user study: one HTML file, the measures as Parquet, and all numbers as JSON.


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
