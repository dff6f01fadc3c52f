# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""All measures of one veiled stream in one value, and one row of a table."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from gazeveil.gaze.aoi import AreasOfInterest
from gazeveil.gaze.recording import Recording
from gazeveil.utility.streams.pair import METRICS, Pair


@dataclass(frozen=True, slots=True)
class VeilError:
    """How far a veiled stream is from the raw one. NaN where a measure has no value (see `METRICS` for each).

    Attributes:
        samples: Samples that were compared.
        answered: Share of the samples with gaze for which the mechanism gave gaze too.
        rmse_px: Root mean square distance in pixels.
        rmse_deg: The same as an angle.
        centre_rmse_px: What "always the centre" would have.
        aoi_precision: Mean over areas of interest.
        aoi_recall: Mean over areas of interest.
        aoi_f1: Mean over areas of interest.
        saliency_cc: Correlation of the maps of where gaze was.
        saliency_kl: Divergence of the raw map from the veiled one.
        lag_s: How late the veiled stream follows.
        lag_correlation: How well it follows then.
        jitter: Root mean square step from sample to sample.
        raw_jitter: That of the raw stream.
        fixations: How many the raw stream has.
        veiled_fixations: How many a detector finds in the veiled one.
        fixation_count_error: The change, relative to the true number.
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

    def to_dict(self) -> dict[str, float]:
        """Return the measures by name: one row of a table."""
        return asdict(self)


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
