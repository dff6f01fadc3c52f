# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A gateway to play with: simulated gaze, the mouse, a recording, and two toy apps. Nothing of it is kept.

It is an ordinary gateway with the policy ``demo.toml``, in a folder that is removed at the end. Its budget is made up,
and no participant is recorded.
"""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import Callable, Iterator
from importlib import resources
from itertools import takewhile
from pathlib import Path

from gazeveil.gateway import simulated_trackers
from gazeveil.gateway.logs import Log
from gazeveil.gateway.memory import state_in
from gazeveil.gateway.page_side import Undo
from gazeveil.gateway.policy import read_policy
from gazeveil.gateway.serve import Gateway
from gazeveil.gaze.aoi import AreasOfInterest, Rectangle
from gazeveil.geometry import Geometry, screen

_SCREEN = screen(1920, 1080, 527, 296, 600)
"""As in ``demo.toml``."""
_RECORDING_S, _RECORDING_SEED = 30.0, 2


@contextlib.contextmanager
def demo_folder() -> Iterator[Path]:
    """Make a folder with the demo's policy and what it names, and yield the policy's path; then remove it.

    Whatever a gateway keeps elsewhere on a machine is kept in it as well, as long as the block lasts.
    """
    with tempfile.TemporaryDirectory(prefix="gazeveil-demo-") as name:
        folder = Path(name)
        text = resources.files("gazeveil.gateway").joinpath("demo.toml").read_text(encoding="utf-8")
        (folder / "policy.toml").write_text(text, encoding="utf-8", newline="\n")
        (folder / "recording.csv").write_text(_recording(_SCREEN), encoding="utf-8", newline="\n")
        AreasOfInterest(targets(_SCREEN), _SCREEN).to_json(folder / "targets.json")
        with state_in(folder / "state"):  # the ledger's anchor would outlive the ledger
            yield folder / "policy.toml"


async def play(
    policy: Path, log: Log, stop: asyncio.Event, opened: Callable[[Gateway], None], undo: Undo | None = None
) -> None:
    """Run the demo until ``stop``; ``opened`` is called once it can be used; see `Gateway` for ``undo``."""
    async with Gateway(read_policy(policy), log, create_ledger=True, undo=undo, demo=True) as gateway:
        opened(gateway)
        await stop.wait()


def targets(geometry: Geometry) -> tuple[Rectangle, ...]:
    """Return the nine targets of the toy app: three rows, above a line of words at the bottom."""
    width, height = float(geometry.width_px or 0), float(geometry.height_px or 0)
    across, down = 0.24 * width / 2, 0.22 * height / 2
    centres = [((column + 0.5) / 3 * width, 0.87 * (row + 0.5) / 3 * height) for row in range(3) for column in range(3)]
    return tuple(
        Rectangle(str(number), x - across, y - down, x + across, y + down)
        for number, (x, y) in enumerate(centres, start=1)
    )


def _recording(geometry: Geometry) -> str:
    """Return gaze of another simulated participant than the one who is simulated live."""
    gaze = takewhile(
        lambda sample: sample.t < _RECORDING_S, simulated_trackers.simulated(geometry, seed=_RECORDING_SEED)
    )
    rows = (f"{sample.t:.4f},{sample.x:.1f},{sample.y:.1f}" for sample in gaze)
    return "\n".join(["t,x,y", *rows, ""]).replace("nan", "")
