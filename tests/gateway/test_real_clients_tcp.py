# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Clients that nobody here wrote, unmodified, over real sockets: PyOpenGaze, PyTribe, PyGaze's copies, GazeFlow's page.

None of their code is part of this project. Put checkouts into one folder (``PyOpenGaze``, ``PyTribe``, ``PyGaze``,
``GazeFlowAPI``) and name it in ``GAZEVEIL_CLIENTS``; what is not there is skipped. The originals are of Python 2, which
is looked for as ``python2.7`` or in ``GAZEVEIL_PYTHON2``. What they said is kept in transcripts, which always run.
"""

from __future__ import annotations

import ast
import functools
import http.server
import json
import math
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path

import pytest

from gazeveil.gateway.protocol import PROTOCOLS
from gazeveil.gateway.protocols.opengaze import OpenGazeSource
from tests.gateway.loopback import SCREEN, serving

CLIENTS = Path(os.environ.get("GAZEVEIL_CLIENTS", "no such folder"))

OPEN_GAZE = """
import json, sys, time
from opengaze import OpenGazeTracker
tracker = OpenGazeTracker(ip='127.0.0.1', port=int(sys.argv[1]), logfile=sys.argv[2])
size = tracker.get_screen_size()
tracker.start_recording()
seen = []
for _ in range(10):
    time.sleep(0.1)
    seen.append(tracker.sample())
pupil = tracker.pupil_size()
tracker.stop_recording()
tracker.close()
print(json.dumps({'size': size, 'seen': seen, 'pupil': pupil}))
"""

EYE_TRIBE = """
import importlib, json, sys, time
module = importlib.import_module(sys.argv[3])
tracker = module.EyeTribe(logfilename=sys.argv[2], host='127.0.0.1', port=int(sys.argv[1]))
tracker.start_recording()
seen = []
for _ in range(10):
    time.sleep(0.1)
    seen.append(tracker.sample())
pupil = tracker.pupil_size()
tracker.stop_recording()
with tracker._lock:
    size = [tracker._tracker.get_screenresw(), tracker._tracker.get_screenresh()]
    tracker.calibration.start(pointcount=7)
    for point in range(7):
        tracker.calibration.pointstart(100 * point, 100)
        result = tracker.calibration.pointend()
tracker.close()
print(json.dumps({'size': size, 'seen': seen, 'pupil': pupil, 'calibrated': result['result']}))
"""


def checkout(name: str) -> Path:
    if not (CLIENTS / name).is_dir():
        pytest.skip(f"{name} is not in GAZEVEIL_CLIENTS")
    return CLIENTS / name


def python2() -> str:
    found = os.environ.get("GAZEVEIL_PYTHON2") or shutil.which("python2.7")
    if found is None or subprocess.run([found, "-V"], capture_output=True, check=False).returncode:
        pytest.skip("there is no Python 2.7")
    return found


def run(python: str, code: str, folders: list[Path], arguments: list[str], home: Path) -> dict[str, object]:
    (home / "lxml").mkdir()  # PyOpenGaze asks lxml for one function that the standard library has too
    (home / "lxml" / "__init__.py").touch()
    (home / "lxml" / "etree.py").write_text("from xml.etree.ElementTree import fromstring\n")
    path = os.pathsep.join(map(str, [*folders, home]))
    done = subprocess.run(
        [python, "-c", code, *arguments],
        env={"PYTHONPATH": path, "HOME": str(home)},
        cwd=home,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]


def columns(log: Path) -> list[dict[str, str]]:
    header, *lines = log.read_text().splitlines()
    names = header.split("\t")
    return [dict(zip(names, line.split("\t"), strict=True)) for line in lines if not line.startswith("MSG")]


@pytest.mark.parametrize("client", ["PyOpenGaze", "PyGaze"])
def test_pyopengaze_gets_the_veiled_points_and_no_pupil(client: str, tmp_path: Path) -> None:
    folder = checkout(client)
    if client == "PyOpenGaze":
        python, folders = python2(), [folder]
    else:
        python, folders = sys.executable, [folder / "pygaze" / "_eyetracker"]
    with serving("opengaze") as tap:
        told = run(python, OPEN_GAZE, folders, [str(tap.port), "log.tsv"], tmp_path)
    assert tap.faults == []
    assert told["size"] == ["0", "0", "1920", "1080"]
    assert told["pupil"] is None
    places = {(0.25, 0.25), (0.41667, 0.41667), (0.58333, 0.58333), (0.75, 0.75), (0.0, 0.0)}
    assert {tuple(point) for point in told["seen"] if point[0] is not None} <= places  # type: ignore[attr-defined]
    records = columns(tmp_path / "log.tsv")
    assert len(records) > 40
    counts = [int(record["CNT"]) for record in records]
    assert counts == list(range(1, len(counts) + 1))
    assert {record["LPV"] for record in records} == {"0"}
    assert all(record["LPOGX"] == record["BPOGX"] == record["RPOGX"] for record in records)
    names = set(re.findall(rb'(\w+)="', tap.heard("<")))
    assert {name.decode() for name in names} <= set(PROTOCOLS["opengaze"].leaves)


def test_the_bytes_of_a_real_gazepoint_tracker_are_read_without_loss() -> None:
    """PyOpenGaze comes with a log of everything that one sent."""
    logs = sorted(checkout("PyOpenGaze").glob("example/debug_*.txt"))
    if not logs:
        pytest.skip("there is no log")
    reads = re.findall(r"Raw instring: ('.*')$", logs[0].read_text(), re.MULTILINE)
    source = OpenGazeSource(SCREEN)
    source.connected(0.0)
    samples, records = [], 0
    for read in reads:
        data = ast.literal_eval(read).encode()
        records += data.count(b"<REC ")
        samples += source.received(data, 0.0)
    assert len(samples) == records > 100
    assert all(earlier.t <= later.t for earlier, later in pairwise(samples))
    assert sum(math.isfinite(sample.x) for sample in samples) > 100


@pytest.mark.parametrize("client", ["PyTribe", "PyGaze"])
def test_pytribe_gets_the_veiled_points_and_no_pupil(client: str, tmp_path: Path) -> None:
    python, module = (python2(), "pytribe") if client == "PyTribe" else (sys.executable, "pygaze._eyetracker.pytribe")
    with serving("eyetribe") as tap:
        told = run(python, EYE_TRIBE, [checkout(client)], [str(tap.port), "log", module], tmp_path)
    assert told["size"] == [1920, 1080]
    assert (told["pupil"], told["calibrated"]) == (0.0, True)
    places = {(480.0, 270.0), (800.0, 450.0), (1120.0, 630.0), (1440.0, 810.0), (0.0, 0.0)}
    assert {tuple(point) for point in told["seen"]} <= places  # type: ignore[attr-defined]
    frames = columns(tmp_path / "log.tsv")
    assert len(frames) > 10
    assert all(frame["Lrawx"] == frame["avgx"] == frame["Ravgx"] for frame in frames)
    assert {frame["Lpsize"] for frame in frames} == {"0.0"}
    names = set(re.findall(rb'"(\w+)":', tap.heard("<")))
    assert {name.decode() for name in names} <= set(PROTOCOLS["eyetribe"].leaves)


class _Page(http.server.BaseHTTPRequestHandler):
    """Serves a page, and takes its time with the last byte, so that a browser does not think that it has loaded."""

    def __init__(self, page: bytes, *args, **kwargs) -> None:
        self.page = page
        super().__init__(*args, **kwargs)

    def do_GET(self) -> None:
        if self.path != "/":
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(self.page)))
        self.end_headers()
        self.wfile.write(self.page[:-1])
        self.wfile.flush()
        time.sleep(2)
        self.wfile.write(self.page[-1:])

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


def test_gazeflows_page_shows_the_veiled_point_in_a_browser(tmp_path: Path) -> None:
    pytest.importorskip("websockets")
    pages = sorted(checkout("GazeFlowAPI").rglob("GazeFlowAPI.html"))
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if not pages or browser is None:
        pytest.skip("there is no page, or no browser to show it")
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", 43333)) == 0:
            pytest.skip("port 43333, which the page insists on, is taken")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Page, pages[0].read_bytes())) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        with serving("gazepointer", port=43333) as tap:
            page = subprocess.run(
                [
                    *(browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}"),
                    *("--dump-dom", f"http://127.0.0.1:{web.server_port}/"),
                ],
                capture_output=True,
                text=True,
                timeout=60,
                check=True,
            ).stdout
        web.shutdown()
    found = re.search(r"GazeX: (\d+) GazeY: (\d+)<", page)
    assert found is not None
    assert (int(found[1]), int(found[2])) in {(480, 270), (800, 450), (1120, 630), (1440, 810)}
    assert "HeadX: 0 HeadY: 0 HeadZ: 0" in page
    assert tap.faults == []
