# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What is guaranteed: guarantees, units of protection, calibration, composition, the ledger."""

from __future__ import annotations

from gazeveil.privacy.guarantee import (
    ApproxDP,
    GazeStreamDP,
    Guarantee,
    PureDP,
    Unproven,
    ZeroConcentratedDP,
    guarantee_from_dict,
)
from gazeveil.privacy.protection import (
    FeatureSeries,
    Neighbours,
    Observer,
    OneRecording,
    ProtectedUnit,
    StretchOfGaze,
    WindowOfGaze,
    unit_from_dict,
)

__all__ = [
    "ApproxDP",
    "FeatureSeries",
    "GazeStreamDP",
    "Guarantee",
    "Neighbours",
    "Observer",
    "OneRecording",
    "ProtectedUnit",
    "PureDP",
    "StretchOfGaze",
    "Unproven",
    "WindowOfGaze",
    "ZeroConcentratedDP",
    "guarantee_from_dict",
    "unit_from_dict",
]
