# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of raw gaze, for the holder of the data: never for release."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gazeveil.display import BLUE, Picture, canvas, legend_below, png

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
