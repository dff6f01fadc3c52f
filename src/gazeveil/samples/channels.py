# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What becomes of every channel of a recording: veiled or dropped, never passed through unseen (erratum K9).

===========================  =============================================================================
channel                      in a veiled recording
===========================  =============================================================================
``t``                        as it was: device time is public in every guarantee of ours
``x``, ``y``                 the veiled point
``valid``                    whether the veil gave a point: computed from its output, not from the tracker's flag
``left``, ``right``          dropped; or, with ``eyes="same"``, both are the one veiled point
``pupil`` (combined, eyes)   dropped
``events``                   dropped: fixations, saccades, blinks and messages were found in raw gaze
``rate_hz``, ``geometry``    as they were: they describe the device
head, eye origins, ipd       recordings have none; live they are dropped unless an app's policy declares them
keys                         as they were: rename participants with other means if their names are secret
===========================  =============================================================================

Two eyes are never veiled one by one. Their noises would be independent, so their mean would have less of it than one
alone, and the guarantee would cost twice as much.
"""

from __future__ import annotations

from typing import Literal, get_args

from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError
from gazeveil.gaze.recording import Eye, Recording

Eyes = Literal["drop", "same"]


def veiled_channels(recording: Recording, x: FloatArray, y: FloatArray, *, eyes: Eyes = "drop") -> Recording:
    """Return a recording that carries the veiled point, and of the other channels only what the table allows.

    It is built from named parts, not copied and cleaned, so a channel that is added to recordings later is dropped
    until someone decides otherwise.

    Raises:
        OptionError: If ``eyes`` is neither drop nor same.
    """
    if eyes not in get_args(Eyes):
        raise OptionError(f"eyes must be {' or '.join(get_args(Eyes))}, not {eyes!r}")
    x.flags.writeable = y.flags.writeable = False
    both = Eye(x, y) if eyes == "same" else None
    return Recording(
        recording.t,
        x,
        y,
        recording.geometry,
        **recording.key._asdict(),
        left=both if recording.left is not None else None,
        right=both if recording.right is not None else None,
        rate_hz=recording.rate_hz,
    )


def dropped_channels(recording: Recording, *, eyes: Eyes = "drop") -> list[str]:
    """Return the channels that a recording has and its veiled version does not."""
    has = {
        "pupil": recording.pupil is not None,
        "events": len(recording.events) > 0,
        "left eye": recording.left is not None and eyes == "drop",
        "right eye": recording.right is not None and eyes == "drop",
        "left pupil": recording.left is not None and recording.left.pupil is not None,
        "right pupil": recording.right is not None and recording.right.pupil is not None,
        "validity": not bool(recording.tracked.all()),
    }
    return [name for name, there in has.items() if there]
