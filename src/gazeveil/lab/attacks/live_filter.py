# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The strongest filter that we measured against a mechanism, on a stream that goes on.

What a participant sees as "undone".

As a program it answers one question after the other, as `gazeveil.gateway.control.recovery.RecoveryProgram` says:
veiled points of the last seconds and the mechanism's public parameters in, a guess of the gaze before the mechanism
out. It never gets anything else. The filters are those that `mirrored` tries first (docs/reference/attacks.md has what
they recover); none of them needs the beginning of a stream, and none learns from raw gaze.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Mapping
from typing import IO, Any, Final

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import GazeveilError
from gazeveil.geometry import Geometry, with_usual_screen
from gazeveil.lab import load
from gazeveil.lab.attacks.contract import Trial
from gazeveil.lab.attacks.restoring import Restoration, if_named, noisy_part
from gazeveil.lab.attacks.threats.inverse_smoothing import InverseSmoothing
from gazeveil.lab.attacks.threats.saccade_model import SaccadeModel
from gazeveil.lab.attacks.threats.spatial_dither import SpatialDither
from gazeveil.samples.mechanism import SampleMechanism, mechanism_from_dict
from gazeveil.samples.space import Screen, space_of

load()

Filter = InverseSmoothing | SpatialDither | SaccadeModel
FILTERS: Final[tuple[Filter, ...]] = (InverseSmoothing(), SpatialDither(), SaccadeModel())
"""The first that fits is used."""
_HUMBLE = 10


def filter_for(veil: SampleMechanism) -> str | None:
    """Return the name of the filter that is used against a mechanism; None if none fits."""
    found = _fitting(veil)
    return None if found is None else found.name


def undone(veil: Mapping[str, Any], geometry: Geometry, points: FloatArray) -> FloatArray:
    """Return a guess of the gaze before a mechanism.

    Args:
        veil: The mechanism as plain values.
        geometry: The viewing plane of gaze; where it does not know degrees, it is taken as usual.
        points: Rows of seconds and veiled gaze in the viewing plane's unit.

    Returns:
        A row for every point, but for a few at the beginning that no filter could use; none where no filter fits.
    """
    scale = 1.0
    if veil["space"]["kind"] == Screen.kind:
        known = space_of(geometry if geometry.knows_degrees else with_usual_screen(geometry))
        scale = known.degrees(1.0)
    mechanism = mechanism_from_dict(_scaled(veil, scale))
    found = _fitting(mechanism)
    if found is None:
        return points[:0]
    points = _from_a_release(mechanism, points)
    t, x, y = points[:, 0], points[:, 1] / scale, points[:, 2] / scale
    steps = np.diff(t)
    rate = 1.0 / max(float(np.median(steps[steps > 0])) if (steps > 0).any() else 0.0, 1e-3)
    guess = Restoration(lambda seen: found.guess(mechanism, seen)).query(Trial("", "", "", t, x, y, rate))
    return np.column_stack([t, guess.x * scale, guess.y * scale])


def _fitting(veil: SampleMechanism) -> Filter | None:
    return next((each for each in FILTERS if each.fits(veil)), None)


def _from_a_release(mechanism: SampleMechanism, points: FloatArray) -> FloatArray:
    """Return points from a sample on that was let through, where every this many-th is: who comes later counts anew."""
    last = noisy_part(mechanism)
    hold = None if last is None else if_named(last, "temporal")
    if hold is None:
        return points
    changes = np.flatnonzero((np.diff(points[:, 1:], axis=0) != 0).any(axis=1)) + 1
    return points[changes[0] % hold.keep_every :] if len(changes) else points


def _scaled(values: Mapping[str, Any], scale: float) -> dict[str, Any]:
    """Return a recipe in a space where a degree is one unit."""
    made: dict[str, Any] = {}
    for name, value in values.items():
        if name == "space" and value["kind"] == Screen.kind:
            made[name] = {
                "kind": Screen.kind,
                "width": value["width"] / scale,
                "height": value["height"] / scale,
                "pixels_per_degree": 1.0,
            }
        elif name == "radius" and str(value).endswith("px"):
            made[name] = f"{float(str(value).removesuffix('px')) / scale!r}px"
        elif isinstance(value, list):
            made[name] = [_scaled(each, scale) if isinstance(each, Mapping) else each for each in value]
        else:
            made[name] = value
    return made


def answer(questions: IO[bytes], answers: IO[bytes]) -> None:
    """Answer questions until there are no more."""
    while head := questions.readline():
        asked = json.loads(head)
        points = np.frombuffer(questions.read(24 * asked["points"])).reshape(-1, 3)
        try:
            guess = undone(asked["veil"], Geometry.from_dict(asked["geometry"]), points)
        except GazeveilError:
            guess = points[:0]
        answers.write(json.dumps({"points": len(guess)}).encode() + b"\n" + np.ascontiguousarray(guess).tobytes())
        answers.flush()


def main() -> None:
    """Answer the gateway's questions until it hangs up."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):  # those are for the gateway, which then hangs up
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(max(0, _HUMBLE - os.nice(0)))
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing else may speak where answers go
    answer(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
