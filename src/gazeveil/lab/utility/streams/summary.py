# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""All measures of one veiled stream in one value, and one row of a table."""

from __future__ import annotations

from dataclasses import dataclass

from gazeveil.arrays import PlainRow
from gazeveil.gaze.aoi import AreasOfInterest
from gazeveil.gaze.recording import Recording
from gazeveil.lab.utility.streams.pair import METRICS, Pair


@dataclass(frozen=True, slots=True)
class VeilError(PlainRow):
    """How far a veiled stream is from the raw one, by `METRICS`. NaN where a measure has no value.

    Beside them: how many samples were compared, and the share of those with gaze for which the mechanism gave gaze too.
    """

    samples: int
    answered: float
    rmse_px: float
    rmse_deg: float
    centre_rmse_px: float
    aoi_precision: float
    aoi_recall: float
    aoi_f1: float
    saliency_cc: float
    saliency_kl: float
    lag_s: float
    lag_correlation: float
    jitter: float
    raw_jitter: float
    fixations: float
    veiled_fixations: float
    fixation_count_error: float


def veil_error(raw: Recording, veiled: Recording, aois: AreasOfInterest | None = None) -> VeilError:
    """Compare a recording with its veiled version.

    Args:
        raw: As it came from the tracker.
        veiled: What a mechanism made of it, sample by sample.
        aois: Areas of interest; without them the viewing plane is cut into 4 x 3.

    Raises:
        InputError: If the two do not run in step, or lie on different viewing planes.
    """
    pair = Pair(raw, veiled, aois)
    measured = {name: METRICS[name](pair) for name in METRICS.names() if name in VeilError.__dataclass_fields__}
    return VeilError(samples=int(pair.both.sum()), answered=pair.answered, **measured)
