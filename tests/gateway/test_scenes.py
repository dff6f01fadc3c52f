# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A scene is watched by a process beside the gateway: real videos, real pushes, a process that dies, tokens."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gazeveil.gateway import scene_watcher
from gazeveil.gateway.scene_program import HEAD, packed_message
from gazeveil.gateway.serve import Gateway
from tests.gateway.test_gateway_serve import running
from tests.ports import free_port

cv2 = pytest.importorskip("cv2")
for _package in ("starlette", "uvicorn", "prometheus_client", "msgspec"):
    pytest.importorskip(_package)

LEAST_PRIORITY = 19
"""The niceness beyond which there is none."""


def picture(side: int, count: int = 2) -> Any:
    """Squares of a side in pixels on a plain ground of 320 x 180."""
    frame = np.full((180, 320, 3), 40, np.uint8)
    for number in range(count):
        left, top = 20 + number * 150, 20
        frame[top : top + side, left : left + side] = (250, 200, 60)
    return frame


def film(path: Path, side: int) -> Path:
    """A second of a scene with squares of a side."""
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"mp4v"), 10, (320, 180))
    for _ in range(10):
        writer.write(picture(side))
    writer.release()
    return path


def text(scene: str, control: int) -> str:
    return (
        f'version = 1\n[gateway]\ncontrol = "127.0.0.1:{control}"\ntoken_file = "token"\n'
        '[[tracker]]\nname = "desk"\nprotocol = "simulate"\nrate_hz = 100\n'
        f"screen = {{ width_px = 1920, height_px = 1080 }}\nscene = {{ {scene} }}\n"
        '[[tracker]]\nname = "other"\nprotocol = "simulate"\nscreen = { width_px = 1920, height_px = 1080 }\n'
        'scene = { source = "push", token_file = "other.token" }\n'
        f'[[app]]\nname = "game"\ntracker = "desk"\nprotocol = "jsonlines"\nlisten = "127.0.0.1:{free_port()}"\n'
        'veil = { preset = "lphu" }\nfollow_scene = "small"\nwindow_at_least = 0.5\nwindow_at_most = 0.5\n'
        'radius_at_least = "60px"\nradius_at_most = "400px"\n'
    )


def scene_of(gateway: Gateway) -> dict[str, Any]:
    told: dict[str, Any] = gateway.status()["trackers"][0]["scene"]
    return told


async def until(gateway: Gateway, radius: float, **other: Any) -> dict[str, Any]:
    """Wait until a radius holds, and anything else that is told."""
    async with asyncio.timeout(30):
        while True:
            told = scene_of(gateway)
            if told["applied"]["radius"] == radius and all(told[name] == value for name, value in other.items()):
                return told
            await asyncio.sleep(0.02)


def test_a_video_sets_the_radius_and_a_killed_process_leaves_the_larger_and_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scene_watcher, "_FIRST_PAUSE_S", 0.3)
    film(tmp_path / "film.mp4", side=40)

    async def run() -> None:
        rules = text('source = "video", file = "film.mp4", updates_hz = 8', free_port())
        async with running(tmp_path, rules) as (gateway, log):
            told = await until(gateway, 182.0)
            assert (told["source"], told["trusted"], told["lost"]) == ("video", True, "")
            assert told["r_small"] == pytest.approx(6 * 20 * 2**0.5, rel=0.06)  # half a diagonal, six times as large
            assert len(told["regions"]) == 2
            picture = gateway.watcher("desk").keyframe
            assert picture is not None
            assert picture.startswith(b"\x89PNG")
            first = gateway.watcher("desk").pid
            assert first is not None
            own = os.getpriority(os.PRIO_PROCESS, 0)
            assert os.getpriority(os.PRIO_PROCESS, first) > own or own == LEAST_PRIORITY
            os.kill(first, signal.SIGKILL)
            assert (await until(gateway, 182.0, lost=scene_watcher.ENDED))["applied"]["why"] == scene_watcher.ENDED
            await until(gateway, 182.0, lost="")
            second = gateway.watcher("desk").pid
            assert second not in (first, None)
        assert "scene-lost" in log.getvalue()
        with pytest.raises(ProcessLookupError):
            os.kill(second or 0, 0)

    asyncio.run(run())


async def ask(port: int, method: str, path: str, token: str, body: bytes = b"") -> tuple[int, bytes]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
    writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    answer = await reader.read()
    writer.close()
    head, _, rest = answer.partition(b"\r\n\r\n")  # type: ignore[assignment]
    return int(answer.split()[1]), rest


def png(frame: Any) -> bytes:
    return bytes(cv2.imencode(".png", frame)[1])


HERE = "/v1/trackers/desk/scene"


def test_what_is_pushed_only_raises_and_its_token_opens_nothing_else(tmp_path: Path) -> None:
    port = free_port()

    async def run() -> None:
        async with running(tmp_path, text('source = "push"', port)) as (gateway, _):
            control, pusher = ((tmp_path / name).read_text().strip() for name in ("token", "scene.token"))
            await asyncio.wait_for(gateway.watcher("desk")._begun.wait(), 60)

            async def boxes(value: Any, token: str = pusher, **more: Any) -> int:
                return (await ask(port, "POST", f"{HERE}/boxes", token, json.dumps({"boxes": value} | more).encode()))[
                    0
                ]

            assert await boxes([[0.5, 0.5, 0.501, 0.501]]) == 200  # one tiny box
            assert scene_of(gateway)["applied"]["radius"] == 90
            assert scene_of(gateway)["r_small"] < 2
            assert await boxes([[0.1, 0.1, 0.2, 0.2], [0.5, 0.5, 0.7, 0.7]], control) == 200
            assert scene_of(gateway)["applied"]["radius"] == 182
            assert (await ask(port, "GET", f"{HERE}/frame", control))[0] == 404
            assert (await ask(port, "POST", f"{HERE}/frame", pusher, png(picture(60))))[0] == 200
            status, shown = await ask(port, "GET", f"{HERE}/frame", control)
            assert (status, shown[:4]) == (200, b"\x89PNG")
            status, told = await ask(port, "GET", HERE, control)
            assert (status, json.loads(told)["source"], json.loads(told)["trusted"]) == (200, "push", False)

            for wrong in (
                [[0, 0, 1]],
                [[0.5, 0.5, 0.4, 0.6]],
                [[0, 0, 2, 2]],
                [["a"] * 4],
                "boxes",
                None,
                [[0, 0, 1, 1]] * 1001,
            ):
                assert await boxes(wrong) == 422
            assert await boxes([], more=1) == 422
            gateway.watcher("desk")._lately.clear()  # sixteen pushes a second are taken
            for bad in (b"", b"GIF89a", b"\x89PNG\r\n\x1a\n" + bytes(40)):
                assert (await ask(port, "POST", f"{HERE}/frame", pusher, bad))[0] == 422
            await until(gateway, 256.0)

            closed = ["/v1/status", HERE, f"{HERE}/frame", "/v1/budget", "/metrics"]
            for path in closed:
                assert (await ask(port, "GET", path, pusher))[0] == 401
            for path in (
                "/v1/apps/game/level",
                "/v1/apps/game/switch",
                "/v1/policy/reload",
                "/v1/trackers/other/scene/boxes",
            ):
                assert (await ask(port, "POST", path, pusher, b"{}"))[0] == 401
            for token in ("", "wrong"):
                assert await boxes([], token) == 401
            assert (await ask(port, "POST", "/v1/trackers/nobody/scene/boxes", pusher, b"{}"))[0] == 401
            assert (await ask(port, "POST", "/v1/trackers/nobody/scene/boxes", control, b"{}"))[0] == 404

            codes = await asyncio.gather(*(boxes([[0.1, 0.1, 0.2, 0.2]]) for _ in range(24)))
            assert set(codes) == {200, 429}

    asyncio.run(run())


def test_nobody_pushes_over_a_scene_that_is_watched_and_a_source_that_is_missing_is_told(tmp_path: Path) -> None:
    (tmp_path / "film.mp4").write_bytes(b"no video")
    port = free_port()

    async def run() -> None:
        async with running(tmp_path, text('source = "video", file = "film.mp4"', port)) as (gateway, _):
            control = (tmp_path / "token").read_text().strip()
            body = b'{"boxes": []}'
            status, told = await ask(port, "POST", f"{HERE}/boxes", control, body)
            assert (status, "no other can be pushed" in json.loads(told)["message"]) == (409, True)
            told_why = f"{tmp_path / 'film.mp4'}: expected a video, found something else, or a damaged one"
            await until(gateway, 90.0, lost=told_why)

    asyncio.run(run())


PROGRAM = (sys.executable, "-m", "gazeveil.gateway.scene_program")
TASK = {
    "source": "push", "loop": True, "finder": "image", "weights": None, "area": [0, 0, 1, 1], "updates_hz": 8,
    "width": 1920, "height": 1080,
}  # fmt: skip


@contextlib.contextmanager
def answering(*command: str, **task: Any) -> Iterator[subprocess.Popen[bytes]]:
    """The program, begun by a command, that has answered its task; the gateway then hangs up."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(packed_message({**TASK, **task}))
        process.stdin.flush()
        assert len(process.stdout.read(HEAD.size)) == HEAD.size
        yield process
        process.stdin.close()
        assert process.wait(20) == 0


@pytest.mark.parametrize("source", ["push", "video"])
def test_the_program_ends_when_the_gateway_does(tmp_path: Path, source: str) -> None:
    with answering(*PROGRAM, source=source, file=str(film(tmp_path / "film.mp4", 20))) as process:
        assert process.poll() is None


@pytest.mark.skipif(shutil.which("nice") is None, reason="nice gives a gateway less priority")
@pytest.mark.parametrize("niceness", [0, 5, 15, 19])
def test_the_program_has_less_priority_than_the_gateway_or_the_least_there_is(niceness: int) -> None:
    gateway = min(os.getpriority(os.PRIO_PROCESS, 0) + niceness, LEAST_PRIORITY)
    with answering("nice", "-n", str(niceness), *PROGRAM) as process:
        assert os.getpriority(os.PRIO_PROCESS, process.pid) == min(gateway + 10, LEAST_PRIORITY)


GOOD: dict[str, Any] = {
    "at": 1.0, "small": 1.0, "large": None, "window": 2, "frame": 1, "keyframes": 1, "regions": [[0, 0, 1, 1]],
    "took": {},
}  # fmt: skip


@pytest.mark.parametrize(
    "wrong",
    [
        {"small": float("nan")},
        {"at": "now"},
        {"regions": [[0, float("inf")]]},
        {"regions": 1},
        {"frame": None},
        {"took": []},
    ],
)
def test_what_a_process_says_is_checked(wrong: dict[str, Any]) -> None:
    assert scene_watcher._reading(GOOD).small == 1.0
    with pytest.raises((ValueError, TypeError, AttributeError)):
        scene_watcher._reading({**GOOD, **wrong})
