# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The pictures of the README and of the gallery, from simulated gaze.

``make pictures`` draws them all; ``python -m benchmarks.pictures NAME`` draws some. The participants are simulated, the
noise is fresh from the operating system, so every run draws other ones. Of one heatmap the one of five draws is shown
whose correlation with the raw map is the median; whole studies and streams are drawn once.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import gazeveil
from gazeveil.aggregate.grid import Grid, render
from gazeveil.aggregate.maps import CountMap
from gazeveil.arrays import FloatArray
from gazeveil.display import BLUE, GREY, canvas, png
from gazeveil.engines import engine_at
from gazeveil.lab.utility.releases import correlation
from gazeveil.release.map_files import enlarged
from gazeveil.simulate import SimulatedStudy

IMAGES = Path(__file__).parents[1] / "docs" / "images"
SEED, SECONDS, DELTA = 1, 5.0, "1e-5"
DRAWS = 5
COLOURS = 256
"""Of a picture's palette: a third of the bytes."""


def main(names: Sequence[str] = ()) -> None:
    for name in names or PICTURES:
        drawn = small(PICTURES[name]())
        (IMAGES / f"{name}.png").write_bytes(drawn)
        print(f"docs/images/{name}.png: {len(drawn) // 1024} kB")


def raw_and_private() -> bytes:
    """One heatmap without and with differential privacy."""
    participants, epsilon = 100, "1"
    shown, alike = released(participants, epsilon)
    return side_by_side(
        [
            ("raw heatmap: no guarantee", raw(participants)),
            (f"private heatmap: ε = {epsilon}, δ = {DELTA}; correlation {alike:.2f}", shown),
        ],
        f"{participants} simulated participants look at a scene for {SECONDS:g} seconds",
    )


def over_epsilon() -> bytes:
    """One heatmap without protection and at three ε."""
    participants = 60
    maps = [("raw", raw(participants))]
    for epsilon in ("0.5", "1", "3"):
        shown, alike = released(participants, epsilon)
        maps.append((f"ε = {epsilon}: correlation {alike:.2f}", shown))
    return side_by_side(maps, f"{participants} participants, δ = {DELTA}")


def over_participants() -> bytes:
    """One heatmap of four numbers of participants."""
    maps = []
    for participants in (15, 30, 60, 120):
        shown, alike = released(participants, "1")
        maps.append((f"{participants} participants: correlation {alike:.2f}", shown))
    return side_by_side(maps, f"ε = 1, δ = {DELTA}")


def whole_study() -> bytes:
    """All stimuli of a study under one budget."""
    participants, stimuli = 100, 4
    study = SimulatedStudy(observers=participants, stimuli=stimuli, sessions=1, tracker="remote", seed=SEED)
    corpus = gazeveil.Corpus.of(study.recordings())
    plan = gazeveil.Study.observed_in(corpus).plan(gazeveil.PrivateHeatmaps(epsilon="3", delta=DELTA))
    found = plan.release(corpus, anyway=True).value.maps
    figure, axes = canvas(9.6, 3.1, 2, stimuli)
    for scene, column in zip(study.scenes(), axes.T, strict=True):
        truth = map_of(corpus.select(stimulus=scene.name))
        over_scene(column[0], scene, truth, "raw")
        alike = correlation(found[scene.name].map, truth)
        over_scene(column[1], scene, found[scene.name].map, f"private: {alike:.2f}")
    figure.suptitle(
        f"{participants} participants, {stimuli} stimuli, ε = 3 and δ = {DELTA} for all together; "
        "numbers are correlations with the raw map", fontsize=9,
    )  # fmt: skip
    return png(figure, dpi=100)


def veiled_stream() -> bytes:
    """Two seconds of gaze before and after a veil, and what is left after looking back a quarter of a second."""
    recording = SimulatedStudy(observers=1, stimuli=1, sessions=1, tracker="remote", seed=SEED).recording(0, 0)
    figure, axes = canvas(9.0, 3.0)
    axes.plot(recording.t, recording.x, color="black", linewidth=1.5, label="raw gaze: stays with the participant")
    for lag, colour, words in ((0.0, GREY, "veiled, at once"), (0.25, BLUE, "veiled, 0.25 s late")):
        parameters = {"epsilon": "3", "window": "0.5", "radius": "60px", "lag": lag}
        veil = gazeveil.VeiledRecordings(mechanism="clock", parameters=parameters)
        corpus = gazeveil.Corpus.of([recording])
        release = gazeveil.Study.observed_in(corpus).plan(veil).release(corpus, anyway=True)
        seen = next(iter(release.value.recordings()))
        axes.plot(seen.t, seen.x, color=colour, linewidth=1, label=words)
    axes.set_xlabel("seconds")
    axes.set_ylabel("x in pixels")
    axes.set_title("mechanism clock: ε = 3 for where one participant looked during any 0.5 s, within 60 px", fontsize=9)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8)
    return png(figure, dpi=100)


PICTURES: dict[str, Callable[[], bytes]] = {
    "private-heatmap": raw_and_private,
    "gallery-epsilon": over_epsilon,
    "gallery-participants": over_participants,
    "gallery-study": whole_study,
    "gallery-stream": veiled_stream,
}


@cache
def looked(participants: int) -> gazeveil.Corpus:
    study = SimulatedStudy(observers=participants, stimuli=1, sessions=1, tracker="remote", seconds=SECONDS, seed=SEED)
    return gazeveil.Corpus.of(study.recordings())


def released(participants: int, epsilon: str) -> tuple[FloatArray, float]:
    """Return a private map and its correlation with the raw one: the median of five draws of noise."""
    corpus = looked(participants)
    mechanism = gazeveil.PrivateHeatmap(epsilon=epsilon, delta=DELTA)
    plan = gazeveil.Study.observed_in(corpus).plan(mechanism, stimulus=corpus.stimuli[0])
    maps = [plan.release(corpus, anyway=True).value.map for _ in range(DRAWS)]  # anyway: shown also where weak
    alike = [float(correlation(each, raw(participants))) for each in maps]
    middle = int(np.argsort(alike)[DRAWS // 2])
    return maps[middle], alike[middle]


def raw(participants: int) -> FloatArray:
    return map_of(looked(participants))


def map_of(corpus: gazeveil.Corpus) -> FloatArray:
    """Return the heatmap of one stimulus without any protection, with the cells and blur of a release."""
    grid = Grid.of_degrees(corpus.geometry, 1.0)
    summed = engine_at().sum_over_observers(corpus, CountMap(grid)).total.reshape(grid.shape)
    blurred = render(summed.astype(np.float64), 1.1)
    return np.asarray(blurred / blurred.sum())


def side_by_side(maps: Sequence[tuple[str, FloatArray]], title: str) -> bytes:
    """Draw maps of the one scene beside each other."""
    scene = SimulatedStudy(observers=1, stimuli=1, seed=SEED).scenes()[0]
    figure, axes = canvas(4.8 * len(maps) if len(maps) < 3 else 12.0, 3.1 if len(maps) < 3 else 2.3, 1, len(maps))
    for (words, values), place in zip(maps, axes, strict=True):
        over_scene(place, scene, values, words)
    figure.suptitle(title, fontsize=10)
    return png(figure, dpi=100)


def over_scene(axes: Any, scene: Any, values: FloatArray, words: str) -> None:
    picture = scene.picture(480, 270)
    height, width = picture.shape[:2]
    warm = np.clip(enlarged(values, height, width), 0, None)
    strength = warm / max(float(warm.max()), 1e-12)
    axes.imshow(picture.mean(axis=2), cmap="gray", vmin=-60, vmax=300)
    axes.imshow(strength, cmap="inferno", alpha=np.clip(strength * 1.6, 0, 0.8), vmin=0, vmax=1)
    axes.set_title(words, fontsize=9)
    axes.set_axis_off()


def small(drawn: bytes) -> bytes:
    """Return a picture with a palette, packed as small as PNG goes."""
    with Image.open(io.BytesIO(drawn)) as picture:
        colours = picture.convert("RGB")
    reduced = colours.quantize(palette=colours.quantize(COLOURS), dither=Image.Dither.FLOYDSTEINBERG)
    buffer = io.BytesIO()
    reduced.save(buffer, format="PNG", optimize=True)
    return buffer.getvalue()


if __name__ == "__main__":
    main(sys.argv[1:])
