# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How well I-VT and I-DT agree with participants who label eye movements by hand, beside Andersson et al. 2017.

The data are theirs: 34 recordings at 500 Hz of participants looking at images, moving dots and videos, each labelled
sample by sample by two experts, MN and RA. As in the article, a detector is compared with both experts at once: its
labels are set against MN's and against RA's, all recordings of one kind of stimulus are pooled, and every sample
counts, also those in blinks and pursuit. The human ceiling is MN against RA.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from gazeveil.arrays import PlainRow
from gazeveil.gaze.events import Detector, DispersionThreshold, VelocityThreshold, samples_within
from gazeveil.lab.datasets import CODERS, STIMULI, Labelled, load
from gazeveil.lab.utility.label_agreement import Agreement, agreement

EVENTS: Final[Mapping[str, int]] = MappingProxyType({"fixation": 1, "saccade": 2})
"""Event and its number in the labels."""

DETECTORS: Final[tuple[tuple[str, str, Detector], ...]] = (
    ("I-VT", "our defaults", VelocityThreshold()),
    ("I-VT", "the article's", VelocityThreshold(threshold=45.36, min_fixation=0.0)),
    ("I-DT", "our defaults", DispersionThreshold()),
    ("I-DT", "the article's", DispersionThreshold(threshold=2.7, min_fixation=0.055)),
)
"""What is compared: our defaults, and the thresholds that the article used."""

# (kappa, F1) for images, dots, videos.
# Detectors, kappa: the variable kappaMat in matlab_analysis_code/20150807.mat, the authors' saved results, at
# github.com/richardandersson/EyeMovementDetectorEvaluation (their IDTk is what the article calls I-DT).
# Detectors, F1: from the labels saved there, pooled in the same way.
# Experts, kappa: Dar, Wagner & Hanke 2021 (REMoDNaV), who used the corrected file as we do. The article's 0.92 for
# images compares each expert with the labels of both, the expert's own among them.
PUBLISHED: Final[Mapping[tuple[str, str], tuple[tuple[float, float | None], ...]]] = MappingProxyType(
    {
        ("I-VT", "fixation"): ((0.667, 0.927), (0.030, 0.253), (0.128, 0.585)),
        ("I-VT", "saccade"): ((0.750, 0.776), (0.626, 0.643), (0.756, 0.771)),
        ("I-DT", "fixation"): ((0.356, 0.900), (0.005, 0.237), (0.033, 0.558)),
        ("I-DT", "saccade"): ((0.447, 0.483), (0.261, 0.278), (0.383, 0.402)),
        ("MN against RA", "fixation"): ((0.84, None), (0.65, None), (0.65, None)),
        ("MN against RA", "saccade"): ((0.91, None), (0.81, None), (0.87, None)),
    }
)


@dataclass(frozen=True, slots=True)
class Row(PlainRow):
    """One line of the table. Published values are None where the source gives none."""

    event: str
    stimuli: str
    who: str
    parameters: str
    f1: float
    kappa: float
    published_f1: float | None
    published_kappa: float | None


def compare(folder: Path) -> list[Row]:
    """Return the table of agreement, event by event and stimulus by stimulus.

    Args:
        folder: Where ``lund2013.parquet`` lies.
    """
    labelled = load(folder)
    pooled: dict[tuple[str, str, str, str], Agreement] = {}
    for item in labelled:
        for key, found in _agreements(item):
            pooled[key] = pooled.get(key, Agreement()) + found
    order = {name: place for place, name in enumerate((*EVENTS, *STIMULI))}
    rows = []
    for (event, stimuli, who, parameters), total in sorted(
        pooled.items(), key=lambda pair: (order[pair[0][0]], order[pair[0][1]])
    ):
        published_kappa, published_f1 = PUBLISHED[who, event][STIMULI.index(stimuli)]
        rows.append(Row(event, stimuli, who, parameters, total.f1, total.kappa, published_f1, published_kappa))
    return rows


def _agreements(item: Labelled) -> Iterator[tuple[tuple[str, str, str, str], Agreement]]:
    for event, number in EVENTS.items():
        experts = [item.labels[coder] == number for coder in CODERS]
        yield (event, item.stimuli, "MN against RA", ""), agreement(*experts)
    for who, parameters, detector in DETECTORS:
        events = detector.detect(item.recording)
        for event, number in EVENTS.items():
            found = samples_within(item.recording.t, events, event)
            for coder in CODERS:
                yield (event, item.stimuli, who, parameters), agreement(item.labels[coder] == number, found)
