# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The fakes of `bridge_fakes` against the vendors' real packages, where these are installed; else skipped.

No device is needed: what is compared is whether everything that a bridge calls is there, and what the real package does
where no tracker is. Real logs of headsets are those of `tests.real_files`, in the folder ``GAZEVEIL_REAL_FILES``.
"""

from __future__ import annotations

import inspect
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gazeveil.errors import WireError
from gazeveil.gateway.bridge import BRIDGES
from gazeveil.gateway.bridges.eyelink import EyeLink, sample_of
from gazeveil.gaze.reading import find_format, read
from tests.gateway.bridge_fakes import FakeEyeLink, FakeEyeTracker, FakeSample, FakeSampleData, FakeTobii
from tests.gateway.loopback import SCREEN
from tests.real_files.sources import sources


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
    sample = sample_of(pylink.Sample(5010, 200, 0x8000 | 0x4000, **eyes, **dict.fromkeys(others, 0)))
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


def real_logs(kind: str) -> list[Path]:
    """Return the real logs of a kind of headset that are here and have a row."""
    folder = Path(os.environ.get("GAZEVEIL_REAL_FILES", "no such folder"))
    places = [folder / f"{one.repository.replace('/', '+')}@{one.commit}" / one.path for one in sources()]
    found = [path for path in places if path.is_file() and path.stat().st_size > 10_000]  # one has a header alone
    return [path for path in found if find_format(path) == f"{kind}-csv"]


@pytest.mark.parametrize(("kind", "at_least"), [("varjo", 14_000), ("vive", 23_000)])
def test_a_real_log_that_grows_is_read_as_the_files_reader_reads_it(kind: str, at_least: int, tmp_path: Path) -> None:
    if not (logs := real_logs(kind)):
        pytest.skip("GAZEVEIL_REAL_FILES has none")
    compared = 0
    for number, path in enumerate(logs):
        header, _, rest = path.read_bytes().partition(b"\n")
        growing = tmp_path / f"{number}.csv"
        growing.write_bytes(header + b"\n")
        bridge, live = BRIDGES[kind].open(str(growing), SCREEN), []
        with growing.open("ab") as log:
            for begin in range(0, len(rest), 3001):
                log.write(rest[begin : begin + 3001])
                log.flush()
                live += bridge.poll()
        bridge.close()
        recording = read(path).recordings[0]
        later = slice(-len(live), None)  # a log that does not say what time is counted in is looked at first
        for name, told in (("x", recording.x), ("y", recording.y)):
            shown = np.where(recording.tracked, told, np.nan)[later]
            np.testing.assert_array_equal([getattr(sample, name) for sample in live], shown)
        np.testing.assert_array_equal([one.t - live[0].t for one in live], recording.t[later] - recording.t[later][0])
        compared += len(live)
    assert compared > at_least
