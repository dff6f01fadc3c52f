# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What the eyes did: fixations, saccades and blinks, found in recordings and in live gaze."""

from __future__ import annotations

from gazeveil.gaze.events.base import DETECTORS, Detector, detector
from gazeveil.gaze.events.blinks import detect_blinks, find_gaps
from gazeveil.gaze.events.idt import DispersionThreshold
from gazeveil.gaze.events.ivt import VelocityThreshold
from gazeveil.gaze.events.online import Stream
from gazeveil.gaze.events.sequences import MainSequence, main_sequence, main_sequence_by_observer
from gazeveil.gaze.events.speed import velocity
from gazeveil.gaze.events.table import Event

__all__ = [
    "DETECTORS",
    "Detector",
    "DispersionThreshold",
    "Event",
    "MainSequence",
    "Stream",
    "VelocityThreshold",
    "detect_blinks",
    "detector",
    "find_gaps",
    "main_sequence",
    "main_sequence_by_observer",
    "velocity",
]
