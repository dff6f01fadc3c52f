# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The report of a user study: one HTML file, the measures as Parquet, and all numbers as JSON."""

from __future__ import annotations

import json
import math
from pathlib import Path

import polars as pl

from gazeveil.files import replacing
from gazeveil.release.report import Section, picture, table, warning, words, write_report
from gazeveil.userstudy._plots import by_condition
from gazeveil.userstudy.analysis import Analysis, Found, Variance, analyse

AGAINST = ["condition", "participants", "mean", "difference", "from", "to", "z", "p (Holm)", "rank-biserial r", "d",
           "d from", "d to", "Bayes factor for none", "in words"]  # fmt: skip


def write_user_study(measures: pl.DataFrame, folder: Path, title: str) -> Analysis:
    """Analyse measures and write ``report.html``, ``measures.parquet`` and ``analysis.json``; return what was found."""
    found = analyse(measures)
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(folder / "measures.parquet") as temporary:
        measures.write_parquet(temporary)
    with replacing(folder / "analysis.json") as temporary:
        temporary.write_text(json.dumps(_finite(found.to_dict()), indent=1) + "\n", encoding="utf-8")
    lead = (
        f"{len(found.participants)} participants. Each condition is compared with the one without a mechanism, over "
        "those who met both; trials of a condition are averaged first. Tests are Wilcoxon's signed ranks, exact, "
        "corrected after Holm within each table."
    )
    write_report(folder / "report.html", title, lead, [*_opening(found), *_measures(found), *_three_way(found)])
    return found


def _opening(found: Analysis) -> list[Section]:
    return (
        [Section("What to keep in mind", tuple(warning(remark) for remark in found.remarks))] if found.remarks else []
    )


def _measures(found: Analysis) -> list[Section]:
    sections = []
    for name in dict.fromkeys(one.measure.name for one in found.found):
        of_it = [one for one in found.found if one.measure.name == name]
        measure = of_it[0].measure
        better = "higher" if measure.higher_is_better else "lower"
        caption = (
            f"{measure.words}: every participant, mean and 95 % interval of the mean. {better.capitalize()} is better."
        )
        pieces = [picture(by_condition(of_it), caption)]
        for one in of_it:
            pieces += [words(f"Control: {one.control}. {_friedman_words(one)}"), table(AGAINST, _rows(one))]
        sections.append(Section(measure.words.capitalize(), tuple(pieces)))
    return sections


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


def _three_way(found: Analysis) -> list[Section]:
    return [
        Section(
            f"Mechanism, strength and control: {variance.measure.words}",
            (words(_assumptions(variance)), table(
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
    said = f"{plain.participants} participants met everything. Residuals: Shapiro–Wilk {_p(plain.normal_p)}"
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
