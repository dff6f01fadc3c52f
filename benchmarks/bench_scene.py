# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What the scene costs beside Kaleido's figure 9: looking for a keyframe, finding regions, working out radii.

Kaleido 2021 (section 7.2) reports 33 ms for a keyframe and 80 ms for regions (YOLOv3-tiny), means of 100 trials on an
i7-7700 with a GTX 1080. Ours are means of 100 trials on frames of 1920 x 1080 pixels, in processor time of one thread,
so that neighbours on the machine do not count. The machines differ, so the ratios are told and not raced; the aim is
not to be slower than the paper.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.harness import Row, busy, seconds
from gazeveil.gaze.video import opencv
from gazeveil.scene.context import radii
from gazeveil.scene.frames import Pixels
from gazeveil.scene.keyframes import KeyframeDetector
from gazeveil.scene.regions import FINDERS, as_regions
from gazeveil.simulate.stimuli import clouds, page, painted

TRIALS = 100
KEYFRAME_S, REGIONS_S = 33e-3, 80e-3
PAPER = "Kaleido 2021, figure 9"
DETECTORS = [folder / "shared/models" for folder in Path(__file__).resolve().parents]


def frames() -> list[Pixels]:
    """Return frames as a screen has them: a painted scene, a page, a photograph's patches."""
    return [make(1, 1920, 1080) for make in (painted, page, clouds)]


def mean(job: Callable[[], object], trials: int = TRIALS) -> float:
    """Return the mean seconds of a job, after one run that does not count."""
    job()
    return statistics.fmean(seconds(job, time.thread_time) for _ in range(trials))


def keyframe() -> Row:
    """One look, every second one a new scene."""
    shown = frames()
    detector = KeyframeDetector()
    looks = iter(range(10 * TRIALS))

    def look() -> None:
        number = next(looks)
        detector.add_frame(number / 2, shown[number // 2 % 3])

    return Row(
        "keyframe, one look at 1920x1080",
        PAPER,
        mean(look),
        KEYFRAME_S,
        1.0,
        unit="looks",
        note=busy().removeprefix("; "),
    )


def regions(name: str, model: Path | None = None, trials: int = TRIALS) -> Row:
    """The regions of a keyframe."""
    find = FINDERS[name](model)
    shown = frames()
    turns = iter(range(10 * trials))
    took = mean(lambda: find(shown[next(turns) % 3]), trials)
    what = f"regions, {name}" + (f" ({model.stem})" if model else "")
    note = f"{', '.join(str(len(find(frame))) for frame in shown)} regions{busy()}"
    return Row(
        f"{what}, 1920x1080",
        f"{PAPER}, YOLOv3-tiny",
        took,
        REGIONS_S,
        0.0 if name == "saliency" else 1.0,
        unit="frames",
        note=note,
    )


def many_radii() -> Row:
    """Radii of 500 regions: 124,750 pairs, against the distances alone."""
    boxes = np.sort(np.random.default_rng(1).random((500, 2, 2)), axis=1).reshape(500, 4)
    scene = as_regions(boxes)
    x, y = np.random.default_rng(2).random((2, 500))

    def floor() -> None:
        np.hypot(x[:, None] - x, y[:, None] - y)

    return Row(
        "radii of 500 regions",
        "numpy, all distances",
        mean(lambda: radii(scene, 1, 1)),
        mean(floor),
        0.1,
        note=busy().removeprefix("; "),
    )


def run() -> list[Row]:
    opencv().setNumThreads(1)
    found = [path for folder in DETECTORS if folder.is_dir() for path in folder.glob("*.onnx")]
    return [
        keyframe(),
        regions("image"),
        regions("saliency", trials=10),
        *(regions("onnx", model) for model in found),
        many_radii(),
    ]
