# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The numbers of Wilson et al. 2024 that ours are set beside: tables 2, 3 and 5. Shares, not percent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

LENGTHS: Final = (5.0, 10.0, 30.0, 60.0, 90.0)

TABLE_2: Final[Mapping[float, tuple[float, float]]] = {
    5.0: (0.2244, 0.2692),
    10.0: (0.1923, 0.2276),
    30.0: (0.4006, 0.4135),
    60.0: (0.5673, 0.5481),
    90.0: (0.6827, 0.6731),
}
"""Interactive headset data by seconds: EKYT trained on conventional eye tracking, and on constrained headset data."""

TABLE_3: Final[Mapping[str, Mapping[str, float]]] = {
    "none": {"": 0.6731},
    "gaussian": {"": 0.141, "wavelet": 0.6314, "exemplars": 0.6839, "white-box": 0.6474},
    "spatial": {"": 0.2179, "wavelet": 0.2179, "exemplars": 0.6147, "white-box": 0.5833},
    "smoothing": {"": 0.141, "wavelet": 0.141, "exemplars": 0.6949, "white-box": 0.5513},
}
"""By mechanism at its high strength and attack; an empty name is no attack."""

TABLE_5: Final[Mapping[str, tuple[float, float]]] = {
    "none": (311.825, 70.94),
    "gaussian": (318.181, 70.95),
    "spatial": (316.606, 70.94),
    "smoothing": (322.041, 70.94),
}
"""Memory of the whole application in MB, and frames per second."""

FRAME_S: Final = 1 / 72.0
"""A frame of the paper's headset."""
