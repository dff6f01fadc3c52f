# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Recognise participants with a trained EKYT network.

Five seconds of velocity at a time, the nearest window by cosine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar, Final

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError, OptionError
from gazeveil.lab.attacks.contract import RECOGNISERS, Gallery, Recogniser, Trial
from gazeveil.lab.attacks.ekyt.files import load_model
from gazeveil.lab.attacks.ekyt.windows import velocities, window_samples
from gazeveil.lab.attacks.enrolment import adapted
from gazeveil.lab.attacks.gaze_features import cached
from gazeveil.lab.attacks.matching import EmbeddedGallery

SHIPPED: Final = Path(__file__).parents[1] / "models" / "ekyt-simulated.npz"
"""The model that comes with the package, trained on simulated participants only."""


@RECOGNISERS.register("ekyt")
@dataclass(frozen=True, slots=True)
class Ekyt(Recogniser):
    """Eye Know You Too (Lohr and Komogortsev 2022), judged window by window (Wilson 2024, section 3.3).

    Attributes:
        model: A model file of ``gazeveil lab attack train ekyt``; without, the one that comes with the package.
        seconds: Length of a window.
        step: Seconds from one window to the next.
        device: Where the network runs: ``cpu`` or ``cuda``.
    """

    name: ClassVar[str] = "ekyt"
    model: Path | None = None
    seconds: float = 5.0
    step: float = 1.0
    device: str = "cpu"

    def __post_init__(self) -> None:
        for name in ("seconds", "step"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise OptionError(f"{name} must be above 0, not {value!r}")

    @property
    def sees(self) -> frozenset[str]:
        """Nothing beyond velocity."""
        return frozenset()

    def enrol(self, reference: Sequence[Trial], seed: int = 1) -> Gallery:
        """Embed the reference trials; nothing is trained, so the seed does not matter.

        Raises:
            InputError: If there is no model, or no reference trial has a usable window.
        """
        return EmbeddedGallery(self._embedding(), reference)

    def trained_on(self, strangers: Sequence[Trial], seed: int = 1) -> Recogniser:
        """Return the network with a last linear layer that is learnt on other participants' gaze.

        It stays as it is itself.

        Raises:
            InputError: If there is no model, or fewer than four participants have usable windows in two sessions.
        """
        return adapted(self._embedding(), strangers)

    def _embedding(self, *, before_last: bool = False) -> _Embedding:
        path = self.model_file()
        changed = path.stat().st_mtime_ns if path.exists() else 0
        return _embedding(path, changed, self.device, self.seconds, self.step, before_last)

    def model_file(self) -> Path:
        """Return the file of the model.

        Raises:
            InputError: If none was given and none comes with the package.
        """
        if self.model is not None:
            return self.model
        if not SHIPPED.exists():
            raise InputError(
                "no EKYT model comes with this installation",
                hint="train one with `gazeveil lab attack train ekyt --out model.npz`, and give it",
            )
        return SHIPPED


class _Embedding:
    """A model that turns trials into embeddings, or into what its last layers see, each trial once."""

    def __init__(self, path: Path, changed: int, device: str, seconds: float, step: float, before_last: bool) -> None:
        from gazeveil.lab.attacks.ekyt.network import Ensemble  # noqa: PLC0415  (loads torch)

        model = load_model(path)
        self._ensemble = Ensemble(model, device)
        self._rate_hz = model.rate_hz
        self._samples = window_samples(seconds, model.rate_hz)
        self._step = max(1, round(step * model.rate_hz))
        self._before_last = before_last
        self._what = ("ekyt", path, changed, device, self._samples, self._step, before_last)

    def __call__(self, trial: Trial) -> FloatArray:
        """Return a row for each of a trial's windows."""
        return cached(self._what, trial, self._work_out)

    def _work_out(self, trial: Trial) -> FloatArray:
        velocity = velocities(trial.t, trial.x, trial.y, trial.rate_hz, self._rate_hz)
        embed = self._ensemble.averages_sliding if self._before_last else self._ensemble.embed_sliding
        found = embed(velocity, self._samples, self._step)
        return found.reshape(len(found), math.prod(found.shape[1:])).astype(np.float64)


_embedding = lru_cache(maxsize=4)(_Embedding)
"""The embedding of a model file as it is now; ``changed`` tells a new file of the same name apart."""
