# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of all experiments and reproduced figures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.display import BLUE, COLOURS, GREEN, GREY, ORANGE, RED, canvas, legend_below, line_style, png
from gazeveil.lab.experiments import baselines_compared
from gazeveil.lab.experiments.feature_usefulness import FLOOR, Cell
from gazeveil.lab.experiments.scanpath_privacy import Measured
from gazeveil.lab.experiments.stream_errors import Point
from gazeveil.lab.reproduction.bozkir_figures import Figures
from gazeveil.lab.reproduction.liu_figures import READ_OFF, SAMPLES, SLICE_SIDE, NoiseLevel, Quality
from gazeveil.lab.reproduction.wilson_figures import SWEEPS, Named, Retention
from gazeveil.lab.utility.scanpaths import DIMENSIONS

if TYPE_CHECKING:
    from gazeveil.lab.experiments.heatmap_usefulness import Found


# --- Draws the figures of `gazeveil.lab.reproduction.bozkir_figures`.


def correlations(figures: Figures) -> bytes:
    """Draw figure 1: correlation over time of a feature, and of its differences."""
    figure, (left, right) = canvas(10, 3.8, columns=2)
    for axes, differences, title in ((left, False, "the feature"), (right, True, "its differences")):
        rows = [
            (name, values) for name, of_differences, values in figures.correlations if of_differences == differences
        ]
        for colour, (name, values) in zip(COLOURS, rows, strict=False):
            factor = figures.factors[name][int(differences)]
            axes.plot(np.arange(len(values)) * 0.5, values, color=colour, label=f"{name}, ε′/ε = {factor:.0f}")
        axes.set_xlabel("seconds after the fifth step")
        axes.set_title(f"Correlation of {title} (share of large saccades)", fontsize=10)
        axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.18), frameon=False)
    left.set_ylabel("correlation across readers")
    return png(figure)


def errors(figures: Figures) -> bytes:
    """Draw figure 2: the article's error and ours over the stated ε."""
    figure, (left, right) = canvas(11, 4.6, columns=2)
    methods = list(dict.fromkeys(row["method"] for row in figures.errors))
    for colour, method in zip(COLOURS, methods, strict=False):
        rows = [row for row in figures.errors if row["method"] == method]
        stated = sorted({row["stated_epsilon"] for row in rows})
        for axes, measure in ((left, "nmse"), (right, "range_error")):
            means = [np.mean([row[measure] for row in rows if row["stated_epsilon"] == e]) for e in stated]
            axes.plot(stated, means, color=colour, label=method, linestyle="-" if "published" in method else "--")
            axes.set_xscale("log")
            axes.set_xlabel("stated ε (48 features)")
    left.set_yscale("log")
    left.set_ylabel("NMSE as the article defines it")
    right.set_ylabel("error as a part of the declared range")
    legend_below(figure, left)
    return png(figure)


def accuracies(figures: Figures, voted: bool) -> bytes:
    """Draw figure 3 (with a majority vote) or 4 (without): documents and groups told from noisy features."""
    figure, panels = canvas(11, 4.6, columns=2)
    which = "voted" if voted else "windows"
    methods = list(dict.fromkeys(row["method"] for row in figures.accuracies if row["epsilon"] is not None))
    for axes, what in zip(panels, ("group", "document"), strict=True):
        raw = next(row for row in figures.accuracies if row["epsilon"] is None)
        axes.axhline(raw[what][which], color=GREY, linewidth=0.8, label="without noise")
        axes.axhline(raw[what]["chance"], color=GREY, linestyle=":", linewidth=0.8, label="guessing")
        for colour, method in zip(COLOURS, methods, strict=False):
            rows = [row for row in figures.accuracies if row["method"] == method]
            style = "-" if "published" in method else "--"
            axes.plot([r["epsilon"] for r in rows], [r[what][which] for r in rows], style, color=colour, label=method)
        axes.set_xscale("log")
        axes.set_ylim(0, 1.02)
        axes.set_xlabel("stated ε (48 features)")
        axes.set_title(f"{what} found {'by majority vote' if voted else 'from single windows'}", fontsize=10)
    legend_below(figure, panels[0])
    return png(figure)


# --- Draws the figures of `gazeveil.lab.reproduction.kaleido_figures`.


_LABELS = {13: "RMSE (px)", 15: "correlation of saliency maps"}
_COMPARED = ("kaleido as published", "clock")
_WINDOW = 1.0


def over_the_promise(points: Sequence[Point], figure: int, sets: Sequence[Mapping[str, Any]]) -> bytes:
    """Draw the paper's figure: over ε, one line a window and radius, for the published mechanism and for ours."""
    veils = [name for name in _COMPARED if any(point.veil == name for point in points)] or [points[0].veil]
    plot, panels = canvas(5 * len(veils), 3 * len(sets), len(sets), len(veils), squeeze=False, sharey="row")
    windows = sorted({point.setting.window for point in points})
    for row, one in zip(panels, sets, strict=True):
        for axes, veil in zip(row, veils, strict=True):
            for radius, style in zip(sorted({point.setting.radius for point in points}), ("-", "--"), strict=False):
                for window, colour in zip(windows, COLOURS, strict=False):
                    chosen = [
                        point for point in points
                        if (point.streams, point.veil) == (one["name"], veil)
                        and (point.setting.window, point.setting.radius) == (window, radius)
                    ]  # fmt: skip
                    _line(axes, chosen, figure, f"w = {window:g} s, r = {radius:g} px", color=colour, linestyle=style)
            _centre(axes, one, figure)
            axes.set_title(f"{veil}\n{one['title']}", fontsize=9)
            axes.set_xlabel("ε")
        row[0].set_ylabel(_LABELS[figure])
    legend_below(plot, panels[0][0], fontsize=7)
    return png(plot, dpi=68)


def veils_compared(points: Sequence[Point], figure: int, sets: Sequence[Mapping[str, Any]]) -> bytes:
    """Draw all mechanisms over ε at one window, one panel a set and radius."""
    radii = sorted({point.setting.radius for point in points})
    windows = sorted({point.setting.window for point in points}, key=lambda window: abs(window - _WINDOW))
    plot, panels = canvas(5 * len(radii), 3 * len(sets), len(sets), len(radii), squeeze=False, sharey="row")
    for row, one in zip(panels, sets, strict=True):
        for axes, radius in zip(row, radii, strict=True):
            for number, veil in enumerate(dict.fromkeys(point.veil for point in points)):
                chosen = [
                    point for point in points
                    if (point.streams, point.veil) == (one["name"], veil)
                    and (point.setting.window, point.setting.radius) == (windows[0], radius)
                ]  # fmt: skip
                _line(axes, chosen, figure, veil, **line_style(number))
            _centre(axes, one, figure)
            if figure == 13:
                axes.set_yscale("log")
            axes.set_title(f"{one['title']}\nw = {windows[0]:g} s, r = {radius:g} px", fontsize=9)
            axes.set_xlabel("ε")
        row[0].set_ylabel(_LABELS[figure])
    legend_below(plot, panels[0][0], fontsize=7)
    return png(plot, dpi=68)


def _line(axes: Any, points: Sequence[Point], figure: int, label: str, **style: str) -> None:
    measured, error = ("rmse", "recording_se") if figure == 13 else ("cc", "cc_se")
    ordered = sorted(points, key=lambda point: point.setting.epsilon)
    axes.errorbar(
        [point.setting.epsilon for point in ordered],
        [getattr(point, measured) for point in ordered],
        yerr=np.nan_to_num([getattr(point, error) for point in ordered]),
        label=label, capsize=2, linewidth=1.2, **style,
    )  # fmt: skip


def _centre(axes: Any, one: Mapping[str, Any], figure: int) -> None:
    if figure == 13:
        axes.axhline(one["centre"], color="black", linewidth=0.8, linestyle=":", label="always the centre")


# --- Draws the figures of `gazeveil.lab.reproduction.liu_figures`.


_LEVELS = (("good", BLUE), ("okay", ORANGE))
_FEW = 200
"""With fewer observers the surface rises so steeply that nothing else can be seen."""


def noise_surface(levels: Sequence[NoiseLevel]) -> bytes:
    """Draw figure 2 (a): the published noise over the map's side and the number of observers."""
    figure, axes = canvas(7, 5.4, subplot_kw={"projection": "3d"})
    for level, colour in _LEVELS:
        rows = [row for row in levels if row.level == level and row.observers >= _FEW]
        sides, people = sorted({row.side for row in rows}), sorted({row.observers for row in rows})
        height = {(row.side, row.observers): row.published for row in rows}
        across, along = np.meshgrid(sides, people)
        surface = np.array([[height[side, count] for side in sides] for count in people])
        axes.plot_wireframe(across, along, surface, color=colour, linewidth=0.8, label=f"{level} privacy")
    axes.set_xlabel("√r (pixels)")
    axes.set_ylabel("observers n")
    axes.set_zlabel("noise σ, theorem 3.4")
    axes.view_init(elev=24, azim=145)  # from where little noise is needed, so that the rise hides nothing
    axes.set_title("Noise that theorem 3.4 asks for, cap 1 (Liu 2019, figure 2a)")
    legend_below(figure, axes)
    return png(figure)


def noise_slice(levels: Sequence[NoiseLevel]) -> bytes:
    """Draw figure 2 (b): the slice at 300 x 300 pixels, with the corrected noise below it."""
    figure, axes = canvas(8, 4.6)
    for level, colour in _LEVELS:
        rows = sorted(
            (row for row in levels if row.level == level and row.side == SLICE_SIDE), key=lambda row: row.observers
        )
        people = [row.observers for row in rows]
        axes.plot(people, [row.published for row in rows], color=colour, label=f"{level}, published")
        axes.plot(people, [row.sound for row in rows], color=colour, linestyle="--", label=f"{level}, corrected")
        axes.plot(
            people,
            [row.bounded for row in rows],
            color=colour,
            linestyle=":",
            label=f"{level}, corrected, at most {SAMPLES} samples each",
        )
    for level, count in READ_OFF:
        axes.plot(
            [row.observers for row in levels if (row.level, row.side, row.observers) == (level, SLICE_SIDE, count)],
            [row.published for row in levels if (row.level, row.side, row.observers) == (level, SLICE_SIDE, count)],
            marker="o",
            color=RED,
        )
    axes.axhline(1.5, color=GREY, linewidth=0.8)
    axes.set_yscale("log")
    axes.set_xlabel("observers n")
    axes.set_ylabel("noise σ")
    axes.set_title(f"Noise for a {SLICE_SIDE} x {SLICE_SIDE} map (Liu 2019, figure 2b)\ndots: what the paper reads off")
    legend_below(figure, axes)
    return png(figure)


def quality_over_epsilon(rows: Sequence[Quality], observers: int) -> bytes:
    """Draw figure 3: correlation and squared error over ε, with standard deviations."""
    figure, (left, right) = canvas(11, 4.8, columns=2)
    for colour, name in zip(COLOURS, dict.fromkeys(row.mechanism for row in rows), strict=False):
        points = [row for row in rows if row.mechanism == name]
        epsilon = [row.epsilon for row in points]
        style = {"color": colour, "label": name, "capsize": 2, "linestyle": "-" if "published" in name else "--"}
        for axes, measure in ((left, "cc"), (right, "mse")):
            spreads = [getattr(row, measure) for row in points]
            axes.errorbar(epsilon, [s.mean for s in spreads], yerr=[np.nan_to_num(s.sd) for s in spreads], **style)
    left.set_ylabel("correlation with the map without noise")
    right.set_ylabel("mean squared error")
    right.set_yscale("log")
    for axes in (left, right):
        axes.set_xlabel("ε (Gaussian: δ = n^(-3/2))")
    legend_below(figure, left)
    figure.suptitle(f"Five simulated participants copied to {observers:,} (Liu 2019, figure 3)")
    return png(figure)


# --- Draws who is identified against what is left of use, a point for every baseline.


def baselines_drawn(
    of_samples: Sequence[baselines_compared.SamplesRow], of_features: Sequence[baselines_compared.FeaturesRow]
) -> bytes:
    """Draw a panel for every set: the strongest way of attack across, what is left of use upwards."""
    sets = list(dict.fromkeys([*(row.people for row in of_samples), *(row.people for row in of_features)]))
    plot, axes = canvas(5.2 * len(sets), 4.6, 1, len(sets), squeeze=False)
    for place, name in zip(axes[0], sets, strict=True):
        gaze = [row for row in of_samples if row.people == name]
        series = [row for row in of_features if row.people == name]
        _baseline_points(place, [(row.peer, strongest(row), row.utilities["saliency_cc"], row.chance) for row in gaze])
        has_documents = any(row.document == row.document for row in series)
        left = [row.document if has_documents else 1 - row.error for row in series]
        at = [(row.peer, strongest(row), use, row.chance) for row, use in zip(series, left, strict=True)]
        _baseline_points(place, at)
        what = "correlation of maps" if gaze else "documents found" if has_documents else "1 - error"
        place.set_ylabel(what)
        place.set_xlabel("identified, strongest attack")
        place.set_title(name, fontsize=9)
        place.set_xlim(-0.02, 1.02)
    return png(plot, dpi=80)


def strongest(row: baselines_compared.SamplesRow | baselines_compared.FeaturesRow) -> float:
    """Return how often participants are identified by whatever does it best."""
    found = [value for ways in row.identified.values() for value in ways.values()]
    return max((value[0] if isinstance(value, tuple) else value for value in found), default=math.nan)


def _baseline_points(axes: Any, points: Sequence[tuple[str, float, float, float]]) -> None:
    for name, identified, use, chance in points:
        colour = GREY if name == "none" else ORANGE if "synth" in name or "same" in name else BLUE
        axes.scatter([identified], [use], color=colour, s=18)
        side, shift = ("right", -4) if identified > 0.6 else ("left", 4)
        axes.annotate(name, (identified, use), fontsize=6, xytext=(shift, 3), textcoords="offset points", ha=side)
        axes.axvline(chance, color=RED, linestyle="--", linewidth=0.8)


# --- Draws what `gazeveil.lab.experiments.scanpath_privacy` found: Kaleido's figures 10 and 11, and linkage.


def scanpaths_drawn(sets: Sequence[Measured]) -> bytes:
    """Draw similarity, linkage and outliers of every mechanism, a row for every set."""
    plot, panels = canvas(15, 3.6 * len(sets) + 0.5, len(sets), 3, squeeze=False)
    for (similarity, linkage, outlying), one in zip(panels, sets, strict=True):
        _similarity(similarity, one)
        _linkage(linkage, one)
        _outliers(outlying, one)
        similarity.set_title(one.title, fontsize=8, loc="left", pad=26)
    return png(plot, dpi=80)


def _similarity(axes: Any, one: Measured) -> None:
    at = np.arange(len(one.rows))
    for number, name in enumerate(DIMENSIONS):
        axes.scatter(
            at,
            [row.similarity[name] for row in one.rows],
            s=12,
            color=COLOURS[number],
            label=name,
            marker="osD^v"[number],
        )
    means = np.array([row.mean for row in one.rows])
    axes.errorbar(
        at, means, yerr=_bars(means, [row.mean_interval for row in one.rows]), fmt="_", color="black", label="mean"
    )
    axes.axhline(one.between_people["mean"], color="black", linewidth=1, label="different participants")
    axes.axhline(one.random["mean"], color=RED, linestyle="--", linewidth=1, label="random scanpaths")
    axes.set_ylabel("MultiMatch with the raw scanpath")
    _legend_above(axes, 4)
    _veils(axes, one)


def _linkage(axes: Any, one: Measured) -> None:
    at = np.arange(len(one.rows))
    for name, colour, shift in (("linked", BLUE, -0.15), ("warped", ORANGE, 0.15)):
        values = np.array([getattr(row, name) for row in one.rows])
        bars = _bars(values, [getattr(row, f"{name}_interval") for row in one.rows])
        label = {"linked": "by MultiMatch", "warped": "by warped distance"}[name]
        axes.errorbar(at + shift, values, yerr=bars, fmt="o", markersize=4, color=colour, label=label)
    axes.axhline(one.rows[0].chance, color=RED, linestyle="--", linewidth=1, label="chance")
    axes.set_ylabel("scanpaths identified")
    axes.set_ylim(0, 1.05)
    _legend_above(axes, 3)
    _veils(axes, one)


def _outliers(axes: Any, one: Measured) -> None:
    at = np.arange(len(one.rows))
    values = np.array([row.outlier_f1 for row in one.rows])
    bars = _bars(values, [row.outlier_interval for row in one.rows])
    axes.errorbar(at, values, yerr=bars, fmt="o", markersize=4, color=BLUE, label="F1 of outliers")
    axes.scatter(at, [row.random_f1 for row in one.rows], marker="_", color=RED, s=60, label="as many at random")
    axes.axhline(one.rows[0].everybody_f1, color=GREY, linestyle=":", linewidth=1, label="all called outliers")
    axes.set_ylabel("F1")
    axes.set_ylim(0, 1.05)
    _legend_above(axes, 3)
    _veils(axes, one)


def _legend_above(axes: Any, columns: int) -> None:
    axes.legend(fontsize=6, ncols=columns, loc="lower left", bbox_to_anchor=(0, 1), frameon=False, borderaxespad=0.2)


def _bars(values: FloatArray, intervals: Sequence[tuple[float, float]]) -> FloatArray:
    low, high = np.array(intervals).T
    return np.asarray(np.nan_to_num(np.maximum(np.stack([values - low, high - values]), 0.0)))


def _veils(axes: Any, one: Measured) -> None:
    axes.set_xticks(range(len(one.rows)), [row.veil for row in one.rows], rotation=60, ha="right", fontsize=6)


# --- Draws private feature series, and how useful they are.


def usefulness(cells: Sequence[Cell]) -> bytes:
    """Draw errors over ε, a panel for every product."""
    products = list(dict.fromkeys(cell.product for cell in cells))
    methods = [method for method in dict.fromkeys(cell.method for cell in cells) if method != FLOOR]
    looks = {method: line_style(number) for number, method in enumerate(methods)}
    columns = min(3, len(products))
    rows = -(-len(products) // columns)
    figure, panels = canvas(3.6 * columns, 2.7 * rows, rows=rows, columns=columns, squeeze=False, sharey=True)
    for axes in panels.ravel()[len(products) :]:
        axes.set_axis_off()
    handles: dict[str, Any] = {}
    for axes, product in zip(panels.ravel(), products, strict=False):
        here = [cell for cell in cells if cell.product == product]
        for method in dict.fromkeys(cell.method for cell in here):
            mine = [cell for cell in here if cell.method == method]
            style = {"color": "black", "linestyle": ":"} if method == FLOOR else looks[method]
            wide = 2.6 if "ours" in method or method.startswith("bins") else 1.2
            (handles[method],) = axes.plot([c.epsilon for c in mine], [c.error for c in mine], linewidth=wide, **style)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_title(product, fontsize=8)
    for axes in panels[:, 0]:
        axes.set_ylabel("error, part of range", fontsize=8)
    for axes in panels[-1]:
        axes.set_xlabel("ε")
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4, fontsize=8)
    return png(figure, dpi=85)


def groups(
    truths: Mapping[str, FloatArray],
    released: Mapping[tuple[int, float], Mapping[str, tuple[FloatArray, FloatArray]]],
    feature: str,
    step: float,
) -> bytes:
    """Draw group series of one feature: a panel for every number of participants and ε, true means dotted.

    Args:
        truths: The true mean of every task, over time.
        released: For participants and ε, for every task the released mean and its standard deviation.
        feature: What it is.
        step: Seconds from one step to the next.
    """
    sizes, epsilons = sorted({n for n, _ in released}), sorted({e for _, e in released})
    figure, panels = canvas(
        3.4 * len(sizes), 2.6 * len(epsilons), rows=len(epsilons), columns=len(sizes), squeeze=False, sharey=True
    )
    for row, epsilon in enumerate(epsilons):
        for column, size in enumerate(sizes):
            axes = panels[row][column]
            for colour, (task, (mean, sd)) in zip(COLOURS, released[size, epsilon].items(), strict=False):
                minutes = np.arange(len(mean)) * step / 60
                axes.plot(minutes, truths[task], ":", color=colour, linewidth=1)
                axes.plot(minutes, mean, color=colour, label=task)
                axes.fill_between(minutes, mean - sd, mean + sd, color=colour, alpha=0.2, linewidth=0)
            axes.set_title(f"{size} participants, ε = {epsilon:g}", fontsize=9)
            axes.set_xlabel("minutes")
    panels[0][0].set_ylabel(f"{feature}\n(part of its range)")
    legend_below(figure, panels[0][0])
    return png(figure, dpi=85)


# --- Draws the results of `gazeveil.lab.experiments.heatmap_usefulness`.


_TITLES = {
    "cc": "correlation with the map of all",
    "residual": "… after the prior is regressed out",
    "hits": "hot spots found",
}
_LOOKS = {
    "prior": (GREY, ":"),
    "none": (GREY, "--"),
    "liu": (RED, "-"),
    "grid": (ORANGE, "-"),
    "hierarchical": (GREEN, "-"),
    "histogram": (BLUE, "--"),
    "ours": (BLUE, "-"),
}


def usefulness_plot(found: Found) -> bytes:
    """Draw the three measures over the number of participants, one line a method, at the first ε."""
    figure, axes = canvas(12, 4.4, columns=3, sharex=True)
    for panel, (measure, title) in zip(axes, _TITLES.items(), strict=True):
        panel.set_xscale("log")  # with its limits first, or a single number of people has no width to be drawn in
        panel.set_xlim(min(found.plan.observers) / 1.2, max(found.plan.observers) * 1.2)
        panel.set_ylim(-0.12, 1.02)
        drawn = {name: method for name, method in found.plan.chosen().items() if name in _LOOKS}
        for name, method in drawn.items():
            colour, line = _LOOKS[name]
            scores = [getattr(found.row(name, count), measure) for count in found.plan.observers]
            panel.errorbar(
                found.plan.observers,
                [score.mean for score in scores],
                [score.error for score in scores],
                color=colour,
                linestyle=line,
                linewidth=2.4 if name == "ours" else 1.4,
                marker="o",
                markersize=3,
                label=method.title.replace("`", ""),
            )
        panel.set_xticks(found.plan.observers, [str(count) for count in found.plan.observers])
        panel.minorticks_off()
        panel.set_xlabel("participants")
        panel.set_title(title)
        panel.grid(alpha=0.3)
    legend_below(figure, axes[0])
    split = f", {found.split} scenes" if found.split else ""
    figure.suptitle(f"{found.gallery}{split}, ε = {found.plan.epsilons[0]:g}, δ = {found.plan.delta:g}, replace one")
    return png(figure)


# --- Draws figure 2 of Wilson et al. 2024.


_HITS = {False: "-", True: ":"}


def hits_over_strength(rows: Sequence[Retention], named: Sequence[Named] = ()) -> bytes:
    """Draw Wilson's figure 2: F1 (dotted) and who is identified (solid) over strength, with the paper's settings."""
    shown = {row.veil for row in rows} | {row.veil for row in named}
    veils = [name for name in SWEEPS if name in shown]
    plot, panels = canvas(3.2 * len(veils), 3.4, 1, len(veils), squeeze=False, sharey=True)
    none = next((row.f1 for row in rows if row.veil == "none"), None)
    for axes, veil in zip(panels[0], veils, strict=True):
        mine = [row for row in rows if row.veil == veil]
        errors = np.nan_to_num([row.se for row in mine])
        f1 = [row.f1 for row in mine]
        axes.errorbar(
            [row.strength for row in mine], f1, yerr=errors, color=BLUE, capsize=2, linestyle=_HITS[bool(named)]
        )
        _accuracy(axes, [row for row in named if row.veil == veil])
        for setting in (SWEEPS[veil].low, SWEEPS[veil].high):
            if setting is not None:
                axes.axvline(setting, color=ORANGE, linestyle="--", linewidth=1)
        if none is not None:
            axes.axhline(none, color=GREY, linewidth=0.8)
        axes.set_title(veil)
        axes.set_xlabel(SWEEPS[veil].symbol)
        axes.set_ylim(0, 1.02)
    panels[0][0].set_ylabel("weighted F1 of objects hit" if not named else "F1 of objects (dotted), identified")
    if named:
        legend_below(plot, panels[0][0], fontsize=7)
    return png(plot, dpi=68)


def _accuracy(axes: Any, rows: Sequence[Named]) -> None:
    for recogniser, colour in zip(dict.fromkeys(row.recogniser for row in rows), COLOURS[2:], strict=False):
        mine = [row for row in rows if row.recogniser == recogniser]
        strengths = [row.strength for row in mine]
        axes.plot(strengths, [row.accuracy for row in mine], color=colour, label=f"identified by {recogniser}")
        axes.fill_between(strengths, [row.low for row in mine], [row.high for row in mine], color=colour, alpha=0.15)
