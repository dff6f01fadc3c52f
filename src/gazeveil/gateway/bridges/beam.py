# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Beam Eye Tracker (a webcam as tracker) through Eyeware's ``beam_eye_tracker``.

The app must run. We set our screen as its viewport, and read the point in shares of it.
"""

from __future__ import annotations

import contextlib
from typing import Any, Final

from gazeveil.errors import WireError
from gazeveil.gateway.bridge import BRIDGES, NOWHERE, Bridge, BridgeKind, broken, moment_of, point_of, refused, vendors
from gazeveil.gateway.protocol import ViewingPlane
from gazeveil.gateway.sample import RawSample

TITLE: Final = "Beam Eye Tracker"
_MODULE: Final = "eyeware.beam_eye_tracker"
_INSTALL: Final = "pip install beam-eye-tracker, and the app Beam Eye Tracker"


class Beam(Bridge):
    """A running Beam app."""

    def __init__(self, sdk: Any, plane: ViewingPlane) -> None:
        self._sdk = sdk
        width, height = plane.pixels
        try:
            viewport = sdk.ViewportGeometry()
            viewport.point_00, viewport.point_11 = _corner(sdk, 0, 0), _corner(sdk, width - 1, height - 1)
            self._api: Any = sdk.API("gazeveil", viewport)
            self._api.attempt_starting_the_beam_eye_tracker()
            self._last = float(sdk.NULL_DATA_TIMESTAMP().value)
        except Exception as error:  # RuntimeError today, if the app is not installed
            raise refused(TITLE, error) from error
        self._began = False

    def poll(self) -> list[RawSample]:
        """Return the newest sample, if it is new: the interface keeps no others."""
        try:
            receives = self._api.get_tracking_data_reception_status()
            if receives != self._sdk.TrackingDataReceptionStatus.RECEIVING_TRACKING_DATA:
                if self._began:
                    raise WireError(f"{TITLE}: the app sends nothing any more")
                return []
            self._began = True
            user = self._api.get_latest_tracking_state_set().user_state()
            t = moment_of(TITLE, user.timestamp_in_seconds.value)
            if t == self._last:
                return []
            self._last = t
            gaze = user.viewport_gaze
            lost = gaze.confidence == self._sdk.TrackingConfidence.LOST_TRACKING
            where = gaze.normalized_point_of_regard
            return [RawSample(t, *(NOWHERE if lost else point_of((where.x, where.y))))]
        except WireError:
            raise
        except Exception as error:
            raise broken(TITLE, error) from error

    def close(self) -> None:
        """Drop the app's object, which is the connection."""
        with contextlib.suppress(Exception):
            self._api = None


def _corner(sdk: Any, x: int, y: int) -> Any:
    point = sdk.Point()
    point.x, point.y = x, y
    return point


BRIDGES.register("beam")(
    BridgeKind(
        name="beam",
        title=TITLE,
        unit="norm",
        open=lambda _, plane: Beam(vendors(_MODULE, TITLE, _INSTALL), plane),
        device="not needed",
        withheld={
            "head_pose": "Pose of the head.",
            "unified_screen_gaze": "The same gaze on all screens.",
            "confidence": "Describes the raw eye; only whether it is lost is used.",
            "sim_game_camera_state, game_immersive_hud_state": "Made of raw gaze and head.",
        },
        module=_MODULE,
        install=_INSTALL,
    )
)
