# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Black box: denoise without knowing anything of the mechanism (Wilson 2024, section 5.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError, needing
from gazeveil.lab.attacks.contract import ATTACKS, Attack, Knowledge, Prepared, Trial
from gazeveil.lab.attacks.restoring import Gaze, Restoration

METHODS, MODES = ("BayesShrink", "VisuShrink"), ("soft", "hard")


@ATTACKS.register("wavelet")
@dataclass(frozen=True, slots=True, kw_only=True)
class WaveletDenoising(Attack):
    """Wavelet shrinkage of each axis by itself, with scikit-image's own defaults; it estimates the noise itself.

    The paper does not say what becomes of gaps and of angles that come round (W9). Here gaps are bridged by straight
    lines before and opened again after, and yaw is unwound before and wound after.

    Attributes:
        wavelet: Which one; Haar by default.
        method: ``BayesShrink`` (a threshold for each level) or ``VisuShrink`` (one for all).
        mode: ``soft`` or ``hard`` thresholds.
    """

    name: ClassVar[str] = "wavelet"
    threat_model: ClassVar[str] = "black box"

    wavelet: str = "db1"
    method: str = "BayesShrink"
    mode: str = "soft"

    def __post_init__(self) -> None:
        if self.method not in METHODS or self.mode not in MODES or not isinstance(self.wavelet, str):
            raise OptionError(
                f"no wavelet shrinkage is {self.wavelet!r}, {self.method!r}, {self.mode!r}",
                hint=f"methods: {', '.join(METHODS)}; modes: {', '.join(MODES)}",
            )

    def _prepare(self, knowledge: Knowledge, seed: int) -> Prepared:
        return Restoration(self._guess)

    def _guess(self, veiled: Trial) -> Gaze:
        return self._denoised(veiled.x), self._denoised(veiled.y)

    def _denoised(self, values: FloatArray) -> FloatArray:
        with needing("scikit-image", "attacks", "wavelet denoising"):
            import pywt  # noqa: PLC0415  (an extra)
            from skimage.restoration import denoise_wavelet  # noqa: PLC0415
        try:
            if not np.any(pywt.dwt(values, self.wavelet)[1]):
                return values  # no detail at all, hence no noise: scikit-image would divide by it
            found: FloatArray = denoise_wavelet(
                values, wavelet=self.wavelet, method=self.method, mode=self.mode, rescale_sigma=True
            )
        except ValueError as error:
            raise OptionError(f"the wavelet {self.wavelet!r} cannot be used: {error}") from None
        return found
