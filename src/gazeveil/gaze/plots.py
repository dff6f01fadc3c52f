# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of raw gaze and of data quality, for the holder of the data: never for release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from gazeveil.display import BLUE, ORANGE, Picture, canvas, legend_below, png
from gazeveil.gaze.quality import MEASURES, Quality, Trace, overall, problems, severity, tally
from gazeveil.gaze.recording import Key

if TYPE_CHECKING:
    from gazeveil.gaze.corpus import Corpus
    from gazeveil.gaze.recording import Recording


_RAW = "raw gaze, not for publication"
_MOST_POINTS = 20_000
_MOST_SHOWN = 60


def recording_picture(recording: Recording) -> Picture:
    """Draw one recording: where gaze was, and where over time."""
    made, (plane, course) = canvas(9, 3.6, 1, 2)
    every = max(len(recording) // _MOST_POINTS, 1)
    x, y, t = recording.x[::every], recording.y[::every], recording.t[::every]
    plane.plot(x, y, linewidth=0.5, color=BLUE, alpha=0.6)
    try:
        left, top, right, bottom = recording.geometry.extent()
        plane.set_xlim(left, right)
        plane.set_ylim(bottom, top)
    except ValueError:  # a plane whose size nobody knows
        plane.invert_yaxis()
    plane.set_aspect("equal", adjustable="box")
    plane.set_title(_RAW, fontsize=9)
    course.plot(t, x, linewidth=0.6, label="x")
    course.plot(t, y, linewidth=0.6, label="y")
    course.set_xlabel("time in s")
    course.set_ylabel(f"gaze in {recording.geometry.unit}")
    legend_below(made, course)
    course.set_title(str(recording.key), fontsize=9)
    return Picture(png(made))


def corpus_picture(corpus: Corpus) -> Picture:
    """Draw who was recorded with which stimulus, and how often."""
    keys = corpus.keys()
    people = list(dict.fromkeys(key.observer for key in keys))
    stimuli = list(dict.fromkeys(key.stimulus for key in keys))
    counts = np.zeros((len(people), len(stimuli)), dtype=np.int64)
    for key in keys:
        counts[people.index(key.observer), stimuli.index(key.stimulus)] += 1
    made, axes = canvas(min(3 + 0.3 * len(stimuli), 14), min(1.5 + 0.18 * len(people), 14))
    shown = axes.imshow(counts, aspect="auto", cmap="cividis", vmin=0)
    made.colorbar(shown, ax=axes, label="recordings")
    if len(stimuli) <= _MOST_SHOWN:
        axes.set_xticks(range(len(stimuli)), [name or "(none)" for name in stimuli], rotation=90, fontsize=7)
    if len(people) <= _MOST_SHOWN:
        axes.set_yticks(range(len(people)), people, fontsize=7)
    axes.set_title("who was recorded with what: not for publication", fontsize=9)
    return Picture(png(made))


# --- Data quality: recordings by measures, and traces of the worst ones.


_COLOURS: Final = {"good": "#cfe3f2", "fair": "#f7dfa3", "poor": "#e2926e", None: "#eeeeee"}
_MOST_ROWS: Final = 32
_LONGEST_LABEL: Final = 34


def quality_picture(found: Sequence[Quality], traces: Mapping[Key, Trace]) -> Picture:
    """Draw recordings by measures, the worst first, each cell in the colour of its grade, and the traces beside."""
    ranked = sorted(found, key=severity, reverse=True)
    shown = ranked[:_MOST_ROWS]
    of = {quality.key: quality for quality in found}
    known = [key for key in traces if key in of][:4]
    height = max(1.6 + 0.27 * len(shown), 1.7 * len(known) + 0.9, 3.2)
    figure, axes = _axes(height, len(known))
    _table(axes[0], shown, len(found))
    for axis, key in zip(axes[1:], known, strict=True):
        _trace(axis, of[key], traces[key], last=key == known[-1])
    counts = ", ".join(f"{count:,} {grade}" for grade, count in tally(found).items())
    figure.suptitle(f"Data quality of {len(found):,} recordings: {counts}. Raw data, not for publication.", fontsize=11)
    return Picture(png(figure, 130))


def _axes(height: float, traces: int) -> tuple[Any, list[Any]]:
    if not traces:
        figure, axis = canvas(9.5, height)
        return figure, [axis]
    mosaic = [["table", f"trace {row}"] for row in range(traces)]
    figure, axes = canvas(15, height, mosaic=mosaic, width_ratios=(1.45, 1))
    return figure, [axes["table"], *(axes[f"trace {row}"] for row in range(traces))]


def _table(axis: Any, shown: Sequence[Quality], count: int) -> None:
    """Draw the heat strip: one row a recording, one column a measure."""
    columns = len(MEASURES)
    for row, quality in enumerate(shown):
        for column, measure in enumerate(MEASURES):
            colour = _COLOURS[measure.grade(quality)]
            axis.add_patch(_cell(column, row, colour))
            text = "" if measure.value(quality) is None else measure.in_words(quality)
            axis.text(column, row, text, ha="center", va="center", fontsize=7.5, color="#222222")
    axis.set_xlim(-0.5, columns - 0.5)
    axis.set_ylim(max(len(shown), 1) - 0.5, -0.5)
    axis.set_xticks(range(columns), [measure.title for measure in MEASURES], fontsize=8.5)
    axis.xaxis.tick_top()
    axis.set_yticks(range(len(shown)), [_label(quality.key) for quality in shown], fontsize=8)
    for label, quality in zip(axis.get_yticklabels(), shown, strict=True):
        label.set_color("#a63d12" if overall(quality) == "poor" else "#222222")
    axis.tick_params(length=0)
    for side in axis.spines.values():
        side.set_visible(False)
    handles = [_cell(0, 0, _COLOURS[grade]) for grade in ("good", "fair", "poor", None)]
    axis.legend(
        handles,
        ["good", "fair", "poor", "not graded"],
        loc="upper center",
        bbox_to_anchor=(0.5, -0.01),
        ncols=4,
        frameon=False,
        fontsize=8,
    )
    if count > len(shown):
        axis.set_xlabel(f"the worst {len(shown)} of {count:,} recordings", fontsize=8, labelpad=22)


def _trace(axis: Any, quality: Quality, trace: Trace, *, last: bool) -> None:
    """Draw how gaze goes over time; where it is lost, the ground is shaded."""
    axis.plot(trace.t, trace.x, linewidth=0.8, color=BLUE, label="x")
    axis.plot(trace.t, trace.y, linewidth=0.8, color=ORANGE, label="y")
    lost = np.isnan(trace.x) | np.isnan(trace.y)
    axis.fill_between(
        trace.t, 0, 1, where=lost, transform=axis.get_xaxis_transform(), color="#999999", alpha=0.35, linewidth=0
    )
    why = next(iter(problems(quality)), "nothing odd")
    axis.set_title(f"{_label(quality.key)}: {_cut(why.split(':')[0], 60)}", fontsize=8.5, loc="left")
    axis.set_ylabel(f"gaze in {trace.unit}", fontsize=8)
    axis.tick_params(labelsize=7.5)
    axis.margins(x=0.01)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    axis.legend(fontsize=7.5, loc="lower right", bbox_to_anchor=(1, 0.98), ncols=2, frameon=False)
    if last:
        axis.set_xlabel("time in s (lost gaze is shaded)", fontsize=8)


def _cell(column: int, row: int, colour: str) -> Any:
    from matplotlib.patches import Rectangle  # noqa: PLC0415

    return Rectangle((column - 0.48, row - 0.44), 0.96, 0.88, facecolor=colour, edgecolor="none")


def _label(key: Key) -> str:
    parts = [key.observer, key.stimulus, *(part for part in (key.session, key.trial) if part != "1")]
    return _cut(" / ".join(part for part in parts if part), _LONGEST_LABEL)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
