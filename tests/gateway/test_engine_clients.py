# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The clients for game engines, compiled and run against a gateway on real sockets; skipped where no compiler is."""

from __future__ import annotations

import asyncio
import math
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.gateway.test_gateway_serve import running
from tests.ports import free_port
from tests.recipes import ROOT

pytest.importorskip("websockets")

CLIENTS, TRIALS = ROOT / "docs" / "clients", ROOT / "tests" / "gateway" / "clients"
POLICY = """\
version = 1

[[tracker]]
name = "headset"
protocol = "push"
listen = {inlet}
headset = {{ fov_x_deg = 110, fov_y_deg = 100 }}

[tracker.fields]
direction = "gaze"
axes = "unity"
head = "head"

[[app]]
name = "game"
tracker = "headset"
protocol = "websocket"
listen = {app}
head_and_eyes = ["head"]
rate_hz = 200
veil = {{ mechanism = "eye-and-head", epsilon = 3, window = "0.1", radius = "5deg", head_radius = 10 }}
"""
STRICT = ("-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror")


def needs(*tools: str) -> None:
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not here")


def compiled(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def made_of_cpp(folder: Path) -> list[str]:
    needs("g++")
    compiled("g++", *STRICT, f"-I{CLIENTS}", TRIALS / "main.cpp", "-o", folder / "client", "-pthread")
    return [str(folder / "client")]


def made_of_csharp(folder: Path) -> list[str]:
    needs("mcs", "mono")
    program = folder / "client.exe"
    compiled("mcs", "-warnaserror", "-warn:4", f"-out:{program}", CLIENTS / "GazeveilClient.cs", TRIALS / "Main.cs")
    return ["mono", str(program)]


async def said(command: Sequence[str], *more: object) -> list[str]:
    """Run a program to its end and return its lines."""
    program = await asyncio.create_subprocess_exec(*command, *map(str, more), stdout=asyncio.subprocess.PIPE)
    async with asyncio.timeout(60):
        out, _ = await program.communicate()
    return out.decode().splitlines()


@pytest.mark.parametrize("make", [made_of_cpp, made_of_csharp])
def test_a_client_sends_raw_gaze_and_another_reads_it_veiled(make: object, tmp_path: Path) -> None:
    assert callable(make)
    command = make(tmp_path)
    app, inlet = free_port(), free_port()

    async def run() -> None:
        async with running(tmp_path, POLICY.format(app=app, inlet=inlet)) as (gateway, _):
            assert await said(command, "send", inlet, "wrong") == ["error this is not the token"]
            token = (tmp_path / "headset.token").read_text().strip()
            sender = await asyncio.create_subprocess_exec(*command, "send", str(inlet), token)
            try:
                *lines, guarantee = await said(command, "read", app, 60)
            finally:
                sender.kill()
                await sender.wait()
            samples = [tuple(map(float, line.split())) for line in lines]
            assert len(samples) == 60
            t, x, y, valid, yaw, pitch = zip(*samples, strict=True)
            assert list(t) == sorted(t)
            assert set(valid) == {1}
            assert all(map(math.isfinite, (*x, *y, *yaw, *pitch)))
            assert len(set(x)) > 3 < len(set(yaw))  # noise on both, since neither moved
            assert "gaze and head pointed" in guarantee
            assert gateway.meters.trackers["headset"].garbage == 0

    asyncio.run(run())


def test_the_part_for_unity_is_right_by_the_compiler_and_stand_ins_for_unitys_types(tmp_path: Path) -> None:
    needs("mcs")
    both = CLIENTS / "GazeveilClient.cs", TRIALS / "UnityStandIns.cs"
    options = "-warnaserror", "-target:library", "-define:UNITY_5_3_OR_NEWER", f"-out:{tmp_path / 'unity.dll'}"
    compiled("mcs", *options, *both)
