# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Clients that nobody here wrote, unmodified, against ``gazeveil serve`` itself with a simulated tracker.

All apps of this policy have the same veil, so they share its noise: whatever a client saw, a witness that reads JSON
lines must have seen too, and none of it may be the simulated eye's own gaze, which is known. What is not in the folder
``GAZEVEIL_CLIENTS`` is skipped, see `test_real_clients_tcp`; ``websockets`` and ``pylsl`` are tried wherever they are.
``GAZEVEIL_CLIENTS_PYTHON`` is an interpreter that has PsychoPy, its plugins (see `psychopy_client`) and pyxdf.
"""

from __future__ import annotations

import csv
import functools
import http.server
import itertools
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gazeveil.gateway import simulated_trackers
from gazeveil.geometry import screen
from tests.gateway.loopback_messages import LSL_ON_THIS_MACHINE
from tests.gateway.test_real_clients_tcp import EYE_TRIBE, OPEN_GAZE, _Page, checkout, columns, python2, run
from tests.ports import free_port

for _package in ("starlette", "uvicorn", "prometheus_client", "msgspec", "websockets", "zmq"):
    pytest.importorskip(_package)

ROOT = Path(__file__).resolve().parents[2]
SEED, RATE_HZ = 11, 60
WIDTH, HEIGHT = 1920, 1080
INLET_NAME = f"inlet-{os.getpid()}"
APPS = {  # the names are those that clients look for, where they do
    "witness": "jsonlines", "opengaze": "opengaze", "eyetribe": "eyetribe", "flow": "gazepointer",
    "page": "websocket", "unnamed": "pupil", "psychopy": "pupil", "phone": "neon", "pupil_capture": "lsl",
    INLET_NAME: "lsl",
}  # fmt: skip
EXTRA = {"psychopy": 'shown_as = "psychopy_iohub_surface"\nblank_pupils = true\n'}
PYTHON = os.environ.get("GAZEVEIL_CLIENTS_PYTHON", "")
INSISTS = {"flow": 43333, "unnamed": 50020, "opengaze": 4242, "eyetribe": 6555}
WAIT_S = 60.0

Point = tuple[float, float]


class Served:
    """A running gateway, and a witness of everything that left its veil."""

    def __init__(self, ports: dict[str, int]) -> None:
        self.ports = ports
        self.seen: list[Point] = []
        self._connection = socket.create_connection(("127.0.0.1", ports["witness"]))
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._connection.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._connection.close()

    def check(self, points: Iterable[Point], scale: Point = (1.0, 1.0), places: int = 5, least: int = 5) -> None:
        """Say that points, in fractions once divided by a scale, are veiled ones and not the eye's own."""
        near = 0.5 * 10.0**-places + 1e-9
        found = {(x, y) for x, y in points if (x, y) != (0.0, 0.0)}
        assert len(found) >= least
        time.sleep(0.3)  # the witness may be a little later
        for x, y in found:
            shown = [(vx * scale[0], vy * scale[1]) for vx, vy in self.seen]
            slack = (near + 1e-6 * scale[0], near + 1e-6 * scale[1])
            assert any(abs(vx - x) <= slack[0] and abs(vy - y) <= slack[1] for vx, vy in shown), (x, y)
        raw = {(round(x * scale[0], places), round(y * scale[1], places)) for x, y in self._raw()}
        assert not {(round(x, places), round(y, places)) for x, y in found} & raw

    def _raw(self) -> list[Point]:
        eye = simulated_trackers.simulated(screen(WIDTH, HEIGHT, 527, 296, 600), seed=SEED, rate_hz=RATE_HZ)
        return [(s.x / WIDTH, s.y / HEIGHT) for s in itertools.islice(eye, 200 * RATE_HZ) if s.x == s.x]

    def _listen(self) -> None:
        with self._connection.makefile("rb") as lines:
            for line in lines:
                told = json.loads(line)
                if told.get("valid"):
                    self.seen.append((told["x"], told["y"]))


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A gateway; somebody may take one of its ports before it does, so it is tried again."""
    for insisting in (True, True, False, False):
        folder = tmp_path_factory.mktemp("gateway")
        ports = {
            name: INSISTS[name] if insisting and name in INSISTS and is_free(INSISTS[name]) else free_port()
            for name, protocol in APPS.items()
            if protocol != "lsl"
        }
        (folder / "policy.toml").write_text(policy_text(ports))
        command = [sys.executable, "-m", "gazeveil", "serve", "policy.toml", "--create-ledger"]
        with (folder / "log").open("wb") as log:
            gateway = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
        deadline = time.monotonic() + WAIT_S
        while is_free(ports["witness"]) and gateway.poll() is None and time.monotonic() < deadline:
            time.sleep(0.1)
        if gateway.poll() is None:
            break
        if "cannot listen" not in (folder / "log").read_text():
            break
    try:
        witnessed = Served(ports)
        while not witnessed.seen and time.monotonic() < deadline:
            time.sleep(0.1)
        assert witnessed.seen
        yield witnessed
        witnessed.close()
    except OSError:
        pytest.fail(f"there is no gateway: {(folder / 'log').read_text()[-2000:]}")
    finally:
        gateway.terminate()
        gateway.wait(30)


def policy_text(ports: dict[str, int]) -> str:
    text = (
        'version = 1\n[gateway]\nledger = "ledger.sqlite"\n[[tracker]]\nname = "eye"\nprotocol = "simulate"\n'
        f'seed = {SEED}\nrate_hz = {RATE_HZ}\nparticipant = "anna"\n'
        f"screen = {{ width_px = {WIDTH}, height_px = {HEIGHT}, "
        "width_mm = 527, height_mm = 296, distance_mm = 600 }\n"
        '[[budget]]\nparticipant = "*"\nepsilon_per_day = 1000000\nradius = 90\n'
    )
    for name, protocol in APPS.items():
        if protocol == "lsl" and "lsl" not in available_here():
            continue
        text += f'[[app]]\nname = "{name}"\ntracker = "eye"\nprotocol = "{protocol}"\nrate_hz = {2 * RATE_HZ}\n'
        text += f'listen = "127.0.0.1:{ports[name]}"\n' if name in ports else ""
        text += EXTRA.get(name, "") + 'veil = { preset = "lphu" }\n'
    return text


@functools.cache
def available_here() -> tuple[str, ...]:
    """The protocols whose packages are here, asked in another process: liblsl is set up once per process."""
    code = "from tests.taps.world import available; print(*available())"
    said = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    return tuple(said.stdout.split())


def port_of(served: Served, name: str) -> int:
    if served.ports[name] != INSISTS[name]:
        pytest.skip(f"port {INSISTS[name]}, which this client insists on, is taken")
    return served.ports[name]


@pytest.mark.parametrize("client", ["PyOpenGaze", "PyGaze"])
def test_pyopengaze_works_unmodified(client: str, served: Served, tmp_path: Path) -> None:
    folder = checkout(client)
    if client == "PyOpenGaze":
        python, folders = python2(), [folder]
    else:
        python, folders = sys.executable, [folder / "pygaze" / "_eyetracker"]
    told = run(python, OPEN_GAZE, folders, [str(served.ports["opengaze"]), "log.tsv"], tmp_path)
    assert told["size"] == ["0", "0", str(WIDTH), str(HEIGHT)]
    assert told["pupil"] is None
    records = [record for record in columns(tmp_path / "log.tsv") if record["BPOGV"] == "1"]
    assert len(records) > 30
    served.check((float(record["BPOGX"]), float(record["BPOGY"])) for record in records)


@pytest.mark.parametrize("client", ["PyTribe", "PyGaze"])
def test_pytribe_works_unmodified(client: str, served: Served, tmp_path: Path) -> None:
    python, module = (python2(), "pytribe") if client == "PyTribe" else (sys.executable, "pygaze._eyetracker.pytribe")
    told = run(python, EYE_TRIBE, [checkout(client)], [str(served.ports["eyetribe"]), "log", module], tmp_path)
    assert told["size"] == [WIDTH, HEIGHT]
    assert (told["pupil"], told["calibrated"]) == (0.0, True)
    frames = columns(tmp_path / "log.tsv")
    assert len(frames) > 10
    served.check(((float(f["rawx"]), float(f["rawy"])) for f in frames), (WIDTH, HEIGHT), places=2)


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("simple_realtime_time_sync.py", "Pupil time (calculated locally)"),
        ("remote_annotations.py", "Found Pupil Capture"),
        ("filter_gaze_on_surface.py", "coordinates: "),
        ("filter_messages.py", ""),
    ],
)
def test_pupil_helpers_work_unmodified(script: str, says: str, served: Served) -> None:
    path = checkout("pupil-helpers") / "python" / script
    port_of(served, "unnamed")
    client = subprocess.Popen([sys.executable, "-u", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        said, _ = client.communicate(timeout=6)
    except subprocess.TimeoutExpired:
        client.send_signal(signal.SIGINT)
        said, _ = client.communicate(timeout=6)
    assert "Traceback" not in said
    assert says in said
    assert bool(says) == bool(said)  # filter_messages.py listens to raw pupils alone, and hears nothing
    points = [(float(x), 1.0 - float(y)) for x, y in re.findall(r"coordinates: ([-\d.e]+),([-\d.e]+)", said)]
    if script == "filter_gaze_on_surface.py":
        served.check(points)


INLET = """
import json, sys, pylsl
found = pylsl.resolve_bypred("type='Gaze' and name='%s'" % sys.argv[1], 1, 20)
inlet = pylsl.StreamInlet(found[0], recover=False)
channel = inlet.info(10).desc().child("channels").child("channel")
labels = []
while not channel.empty():
    labels.append([channel.child_value("label"), channel.child_value("type"), channel.child_value("unit")])
    channel = channel.next_sibling("channel")
seen = []
while len(seen) < 60:
    values, t = inlet.pull_sample(timeout=10)
    seen.append(values)
behind = pylsl.local_clock() - (t + inlet.time_correction(10))
print(json.dumps({"seen": seen, "labels": labels, "behind": behind}))
"""


def lsl_environment(folder: Path) -> dict[str, str]:
    if "lsl" not in available_here():
        pytest.skip("pylsl is not here")
    (folder / "lsl_api.cfg").write_text(LSL_ON_THIS_MACHINE)
    return {**os.environ, "LSLAPICFG": str(folder / "lsl_api.cfg")}


def test_a_reader_of_lsl_goes_by_type_labels_and_clock(served: Served, tmp_path: Path) -> None:
    told = subprocess.run(
        [sys.executable, "-c", INLET, INLET_NAME],
        env=lsl_environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    said = json.loads(told.stdout.splitlines()[-1])
    seen = said["seen"]
    assert said["labels"] == [
        ["confidence", "Confidence", "normalized"],
        ["norm_pos_x", "ScreenX", "normalized"],
        ["norm_pos_y", "ScreenY", "normalized"],
    ]
    assert abs(said["behind"]) < 30.0  # one clock, and a busy machine
    assert {values[0] for values in seen} <= {0.0, 1.0}
    served.check((x, 1.0 - y) for confidence, x, y in seen if confidence)


def test_pupil_helpers_inlet_records_the_stream(served: Served, tmp_path: Path) -> None:
    script = checkout("pupil-helpers") / "LabStreamingLayer" / "lsl_inlet.py"
    kept = tmp_path / "recording.csv"
    client = subprocess.Popen(
        [sys.executable, script, "-R", kept], env=lsl_environment(tmp_path), stderr=subprocess.DEVNULL
    )
    try:
        client.wait(6)
    except subprocess.TimeoutExpired:
        client.send_signal(signal.SIGINT)
        client.wait(10)
    header, *rows = csv.reader(kept.read_text().splitlines())
    assert header == ["timestamp", "confidence", "norm_pos_x", "norm_pos_y"]
    served.check((float(x), 1.0 - float(y)) for _, confidence, x, y in rows if float(confidence))


def run_program(name: str, home: Path, *arguments: str) -> dict[str, Any]:
    if not PYTHON:
        pytest.skip("GAZEVEIL_CLIENTS_PYTHON names no interpreter with PsychoPy and PyGaze")
    done = subprocess.run(
        [PYTHON, Path(__file__).with_name(name), *arguments],
        env={"HOME": str(home), "PATH": os.environ["PATH"]},
        cwd=home,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]


def test_psychopys_pupil_core_plugin_gets_samples_without_pupils(served: Served, tmp_path: Path) -> None:
    """G4: it got 290 errors, no sample, and a calibration that never ended."""
    told = run_program("psychopy_client.py", tmp_path, "pupil", str(served.ports["psychopy"]), "4")
    assert (told["failed"], told["calibrated"]) == (0, 200)  # EYETRACKER_OK
    assert len(told["events"]) > 60
    for event in told["events"]:
        assert all(value != value for value in event[14:22] + event[33:41])  # noqa: PLR0124  (NaN: eyes and pupils)
        assert abs(event[9]) < 5.0  # the delay, in seconds: times are on one clock
    seen = {(x, y) for x, y in served.seen}
    for place in told["places"]:  # whole pixels, from the middle of the display and upwards
        x, y = place[0] + WIDTH / 2, HEIGHT / 2 - place[1]
        assert any(int(vx * WIDTH) == x and abs(int(vy * HEIGHT) - y) <= 1 for vx, vy in seen), place


def test_psychopys_gazepoint_plugin_works_unmodified(served: Served, tmp_path: Path) -> None:
    told = run_program("psychopy_client.py", tmp_path, "gazepoint", str(served.ports["opengaze"]), "4")
    assert (told["failed"], told["calibrated"]["SUMMARY"]["VALID_POINTS"]) == (0, 5)
    samples = [event for event in told["events"] if len(event) == 35]
    assert len(samples) > 60
    assert all(event[13:16] == [0.0, 0.0, 0.0] for event in samples)  # no pupil


@pytest.mark.parametrize("kind", ["opengaze", "eyetribe"])
def test_pygazes_eye_tracker_works_as_opensesame_makes_it(kind: str, served: Served, tmp_path: Path) -> None:
    port_of(served, kind)
    told = run_program("pygaze_client.py", tmp_path, kind)
    assert told["pupil"] == {"opengaze": -1, "eyetribe": 0.0}[kind]
    if kind == "opengaze":  # shares of five digits, which PyGaze turned into pixels
        served.check((x / WIDTH, y / HEIGHT) for x, y in told["seen"])
    else:
        served.check(map(tuple, told["seen"]), (WIDTH, HEIGHT), places=2)


XDF = """
import json, sys, pyxdf
(stream,), _ = pyxdf.load_xdf(sys.argv[1])
offsets = stream["footer"]["info"]["clock_offsets"][0]["offset"]
print(json.dumps({"name": stream["info"]["name"], "offsets": len(offsets), "rows": stream["time_series"].tolist()}))
"""


def test_labrecorder_writes_the_stream_to_a_file(served: Served, tmp_path: Path) -> None:
    """Its command line, built from its sources: header, samples, clock offsets and footer."""
    recorder = checkout("LabRecorder") / "LabRecorderCLI"
    if not PYTHON:
        pytest.skip("GAZEVEIL_CLIENTS_PYTHON names no interpreter with pyxdf")
    kept = tmp_path / "recording.xdf"
    client = subprocess.Popen(
        [recorder, kept, f'name="{INLET_NAME}"'],
        env=lsl_environment(tmp_path),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    time.sleep(12.0)  # it measures clock offsets every five seconds
    client.communicate(b"\n", timeout=30)
    command = [PYTHON, "-c", XDF, str(kept)]
    told = json.loads(subprocess.run(command, capture_output=True, timeout=60, check=True).stdout.splitlines()[-1])
    assert told["name"] == [INLET_NAME]
    assert told["offsets"] >= 1
    served.check((x, 1.0 - y) for confidence, x, y in told["rows"][-60:] if confidence)


def test_websockets_reads_the_stream(served: Served) -> None:
    from websockets.sync.client import connect

    seen: list[Point] = []
    with connect(f"ws://127.0.0.1:{served.ports['page']}", compression=None) as client:
        assert json.loads(client.recv(10))["type"] == "hello"
        while len(seen) < 60:
            told = json.loads(client.recv(10))
            if told.get("valid"):
                seen.append((told["x"], told["y"]))
    served.check(seen, places=6)


NEON = """
import json, sys
from pupil_labs.realtime_api.simple import Device
device = Device("127.0.0.1", int(sys.argv[1]))
seen = [device.receive_gaze_datum(timeout_seconds=20) for _ in range(60)]
told = {
    "seen": [(one.x, one.y, one.worn) for one in seen], "times": [one.timestamp_unix_seconds for one in seen],
    "name": device.phone_name, "serial": device.module_serial, "errors": device.get_errors(),
    "video": device.receive_scene_video_frame(timeout_seconds=0.1),
    "offset": device.estimate_time_offset(5).time_offset_ms.median,
    "event": device.send_event("begin").recording_id,
}
device.close()
print(json.dumps(told))
"""


def test_pupil_labs_real_time_api_works_unmodified(served: Served) -> None:
    """It brings video codecs with it, so it has a virtual environment of its own among the clients."""
    python = checkout("pupil-labs-realtime-api") / "bin" / "python"
    done = subprocess.run(
        [python, "-c", NEON, str(served.ports["phone"])], capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert (told["name"], told["serial"], told["errors"]) == ("phone", "gazeveil", [])
    assert (told["video"], told["event"]) == (None, None)
    assert abs(told["offset"]) < 1000
    assert abs(told["times"][-1] - time.time()) < 100
    assert told["times"] == sorted(told["times"])
    served.check(((x, y) for x, y, worn in told["seen"] if worn), (1600, 1200), places=2)


def test_gazeflows_page_shows_the_veiled_point_in_a_browser(served: Served, tmp_path: Path) -> None:
    pages = sorted(checkout("GazeFlowAPI").rglob("GazeFlowAPI.html"))
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if not pages or browser is None:
        pytest.skip("there is no page, or no browser to show it")
    port_of(served, "flow")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Page, pages[0].read_bytes())) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
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
    found = re.search(r"GazeX: ([\d.]+) GazeY: ([\d.]+)<", page)
    assert found is not None
    served.check([(float(found[1]), float(found[2]))], (WIDTH, HEIGHT), places=0, least=1)
    assert "HeadX: 0 HeadY: 0 HeadZ: 0" in page
