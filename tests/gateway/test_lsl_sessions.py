# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A tracker in an LSL session of its own: the gateway finds it, and apps that look for any gaze do not.

Everything here is a process of its own over the real liblsl, which has one session a process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from gazeveil.gateway.machine_checks import tried_bypasses
from gazeveil.gateway.policy.settings import read_policy
from tests.gateway.loopback_messages import LSL_ON_THIS_MACHINE

pytest.importorskip("pylsl")
pytest.importorskip("msgspec")

RAW = f"raw-{os.getpid()}"
VEILED = f"veiled-{os.getpid()}"
"""Names of this run alone: other tests may use LSL on this machine at the same time."""
PATIENCE_S = 180.0

POLICY = """
version = 1
{gateway}
[[tracker]]
name = "desk"
protocol = "lsl"
stream = "tracker"
session = "{session}"
screen = {{ width_px = 1920, height_px = 1080, width_mm = 527, height_mm = 296, distance_mm = 600 }}
[[app]]
name = "{app}"
tracker = "desk"
protocol = "lsl"
veil = {{ preset = "mpmu" }}
"""

NAIVE = """
import json, pylsl
for n in range(20):
    found = pylsl.resolve_byprop("type", "Gaze", 1 if n else 64, 2.0)
    print(json.dumps([[one.name(), one.source_id(), one.session_id()] for one in found]))
"""


@dataclass(frozen=True)
class SetUp:
    policy: Path
    app_settings: dict[str, str]
    """The environment of an app, which is in LSL's default session."""


@contextmanager
def running(*words: str, until: str) -> Iterator[None]:
    """Run a command of ours until the block ends; it has begun when its log has the event."""
    command = [sys.executable, "-m", "gazeveil", *words]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            begun = time.monotonic()
            assert process.stderr is not None
            for line in process.stderr:
                if f'"event": "{until}"' in line:
                    break
                assert time.monotonic() - begun < PATIENCE_S, f"{words[0]} never said {until!r}; at last {line}"
            else:
                pytest.fail(f"{words[0]} ended early")
            yield
        finally:
            process.terminate()
            process.communicate()


@pytest.fixture(scope="module")
def set_up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SetUp]:
    """The set-up of the how-to: the tracker in a session of its own, a gateway, and apps in the default session."""
    folder = tmp_path_factory.mktemp("sessions")
    policy = folder / "policy.toml"
    policy.write_text(POLICY.format(gateway="", session=RAW, app=VEILED))
    (folder / "lsl_api.cfg").write_text(LSL_ON_THIS_MACHINE)
    with ExitStack() as stack:
        tracker = ("track", "--simulate", "--protocol", "lsl", "--session", RAW)
        stack.enter_context(running(*tracker, until="gateway started"))
        stack.enter_context(running("serve", str(policy), until="tracker found"))
        yield SetUp(policy, {**os.environ, "LSLAPICFG": str(folder / "lsl_api.cfg")})


def test_twenty_apps_that_look_for_any_gaze_never_find_the_raw_stream(set_up: SetUp) -> None:
    looked = subprocess.run(
        [sys.executable, "-c", NAIVE], env=set_up.app_settings, capture_output=True, text=True, timeout=120, check=True
    )
    tries = [json.loads(line) for line in looked.stdout.splitlines()]
    assert len(tries) == 20
    assert all(tries), "the veiled stream is there, so that each try finds something"
    assert [VEILED, f"gazeveil:{VEILED}", "default"] in tries[0]
    assert not [one for found in tries for one in found if one[2] == RAW]


def test_a_tracker_of_our_own_feeds_a_gateway_whose_app_has_the_same_name_in_the_same_session(
    set_up: SetUp, tmp_path: Path
) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(POLICY.format(gateway=f'[gateway]\nlsl_session = "{RAW}"', session=RAW, app="tracker"))
    with running("serve", str(policy), until="tracker found"):
        """It would never be found if the gateway listened to its own stream, which is silent until then."""


def test_a_stream_is_found_on_purpose_by_accident_or_not_at_all(
    set_up: SetUp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LSLAPICFG", set_up.app_settings["LSLAPICFG"])
    (hidden,) = tried_bypasses(read_policy(set_up.policy))
    assert hidden.is_open
    assert f"if it asks for session '{RAW}'" in hidden.meaning
    other = tmp_path / "policy.toml"
    other.write_text(POLICY.format(gateway="", session=f"none-{RAW}", app="other"))
    (absent,) = tried_bypasses(read_policy(other))
    assert not absent.is_open
    careless = tmp_path / "lsl_api.cfg"
    careless.write_text(LSL_ON_THIS_MACHINE.replace("[lab]", f"[lab]\nSessionID = {RAW}"))
    monkeypatch.setenv("LSLAPICFG", str(careless))
    (exposed,) = tried_bypasses(read_policy(set_up.policy))
    assert exposed.is_open
    assert "looks for any stream of gaze may pick it" in exposed.meaning
