# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The fakes of `bridge_fakes` against the vendors' real packages, where these are installed; else skipped.

No device is needed: what is compared is whether everything that a bridge calls is there, and what the real package does
where no tracker is.
"""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from gazeveil.errors import WireError
from gazeveil.gateway.bridge import BRIDGES
from gazeveil.gateway.bridges.eyelink import EyeLink, _sample
from tests.gateway.bridge_fakes import FakeEyeLink, FakeEyeTracker, FakeSample, FakeSampleData, FakeTobii
from tests.gateway.loopback import SCREEN


def offers(fake: Any) -> set[str]:
    return {name for name in vars(fake) if not name.startswith("_")}


def test_pylink_has_what_the_fake_has_and_its_samples_are_read() -> None:
    pylink = pytest.importorskip("pylink")
    told = {"queue", "coords", "there", "replies", "recording", "last"}
    assert offers(FakeEyeLink) - told <= set(dir(pylink.EyeLink))
    assert offers(FakeSample) <= set(dir(pylink.Sample))
    assert offers(FakeSampleData) <= set(dir(pylink.tracker.SampleData))
    assert (pylink.SAMPLE_TYPE, pylink.MISSING_DATA) == (200, -32768)
    pair = [1000.0, 1100.0]
    eyes = dict.fromkeys(("px", "py", "hx", "hy", "pa"), pair) | {"gx": [-32768.0, 700.0], "gy": [-32768.0, 500.0]}
    others = inspect.signature(pylink.Sample).parameters.keys() - eyes.keys() - {"time", "type", "flags"}
    sample = _sample(pylink.Sample(5010, 200, 0x8000 | 0x4000, **eyes, **dict.fromkeys(others, 0)))
    assert (sample.t, sample.x, sample.y) == (5.01, 700.0, 500.0)


def test_pylink_without_a_tracker_is_a_tracker_that_may_come() -> None:
    pylink = pytest.importorskip("pylink")

    class Simulated(pylink.EyeLink):  # type: ignore[misc, name-defined]
        def __init__(self, _: str) -> None:
            super().__init__(None)

    bridge = EyeLink(type("Package", (), {"EyeLink": Simulated, "SAMPLE_TYPE": 200}), "", SCREEN)
    with pytest.raises(WireError, match="the link is closed"):
        bridge.poll()  # a simulated link is none
    bridge.close()


def test_beam_without_its_app_is_a_tracker_that_may_come() -> None:
    sdk = pytest.importorskip("eyeware.beam_eye_tracker")
    for name in ("API", "Point", "ViewportGeometry", "NULL_DATA_TIMESTAMP", "UserState", "ViewportGaze"):
        assert hasattr(sdk, name)
    assert hasattr(sdk.TrackingConfidence, "LOST_TRACKING")
    assert hasattr(sdk.TrackingDataReceptionStatus, "RECEIVING_TRACKING_DATA")
    with pytest.raises(WireError, match="Beam"):
        BRIDGES["beam"].open("", SCREEN)


def test_tobii_research_has_what_the_fake_has() -> None:
    sdk = pytest.importorskip("tobii_research")
    assert {name for name in dir(FakeTobii) if name.startswith(("EYETRACKER", "find"))} <= set(dir(sdk))
    assert offers(FakeEyeTracker) <= set(dir(sdk.EyeTracker))
    for name in ("EYETRACKER_GAZE_DATA", "EYETRACKER_NOTIFICATION_CONNECTION_LOST"):
        assert getattr(FakeTobii, name) == getattr(sdk, name)
