# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Running a veil over a recording: the same draws and the same output as sample by sample."""

from __future__ import annotations

import numpy as np

from gazeveil.errors import GeometryError, InputError
from gazeveil.gaze.recording import Recording
from gazeveil.samples.channels import Eyes, veiled_channels
from gazeveil.samples.mechanism import Veil


def veiled(recording: Recording, veil: Veil, *, eyes: Eyes = "drop") -> Recording:
    """Return the recording behind a veil, with the channels that `gazeveil.samples.channels` allows.

    Raises:
        GeometryError: If the recording's unit is not that of the veil's space.
        InputError: If a time is not a number; the veil is shut and nothing comes out.
    """
    recording.need_samples("a veil")
    space = veil.mechanism.space
    if space.axes != 2 or str(recording.geometry.unit) != space.unit:
        raise GeometryError(
            f"the veil works in {space.unit} with {space.axes} axes, the recording is in {recording.geometry.unit}",
            hint="convert it with recording.to(unit), or make the veil with space_of(recording.geometry)",
        )
    if not np.all(np.isfinite(recording.t)):
        veil.close("a time stamp was not a number")
        raise InputError(
            f"{recording.time_faults.not_finite:,} samples of {recording.key} have no time",
            hint="drop them first with recording.take(numpy.isfinite(recording.t))",
        )
    x, y = veil.run(recording.t, recording.x, recording.y)
    return veiled_channels(recording, x, y, eyes=eyes)
