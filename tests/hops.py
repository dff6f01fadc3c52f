# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The way of a release through the code, phase by phase: ``python -m tests.hops heatmap CORPUS --stimulus …``.

The command runs twice; the second run, when everything is imported and compiled, is watched. Printed are the modules of
each phase in the order of their first call in it, and how often the package changes from one function to the next, in
the order of first calls. Modules beside the packages do not count.
"""

from __future__ import annotations

import sys
from itertools import pairwise
from types import FrameType
from typing import Final, NamedTuple

from gazeveil.cli.main import run
from tests.test_architecture import SHARED

PHASES: Final = {
    "declare": "",
    "plan": "Study.plan",
    "charge": "new_id",
    "touch": "Measurement.open",
    "noise": ".measure",
    "decode": ".decode",
    "say": "Release.save",
}
"""The phases of a release, and the function whose call begins each: its name, or how its name ends."""


class Call(NamedTuple):
    """A function, called in a phase."""

    phase: str
    module: str
    function: str

    @property
    def package(self) -> str:
        """The package that the module lies in."""
        return self.module.split("/")[0]


def first_calls(arguments: list[str]) -> list[Call]:
    """Return the functions of the package that a command calls, in the order of their first calls in each phase."""
    found: dict[Call, None] = {}
    phases = list(PHASES)
    phase = 0

    def seen(frame: FrameType, event: str, _: object) -> None:
        nonlocal phase
        code = frame.f_code
        inside = code.co_filename.replace("\\", "/").partition("/gazeveil/")[2]
        if event != "call" or not inside or "site-packages" in code.co_filename or code.co_name[0] == "<":
            return
        if phase + 1 < len(phases) and code.co_qualname.endswith(PHASES[phases[phase + 1]]):
            phase += 1
        module = inside.removesuffix(".py")
        if module.split("/")[0] not in SHARED:
            found.setdefault(Call(phases[phase], module, code.co_qualname))

    sys.setprofile(seen)
    try:
        run(arguments)
    finally:
        sys.setprofile(None)
    return list(found)


def modules(calls: list[Call]) -> dict[str, list[str]]:
    """Return the modules of each phase, in the order of their first call in it."""
    return {phase: list(dict.fromkeys(call.module for call in calls if call.phase == phase)) for phase in PHASES}


def once(calls: list[Call]) -> list[Call]:
    """Return each function's first call of all."""
    found: dict[tuple[str, str], Call] = {}
    for call in calls:
        found.setdefault((call.module, call.function), call)
    return list(found.values())


def changes(calls: list[Call]) -> int:
    """Return how often the package changes from one function to the next, in the order of first calls."""
    return sum(one.package != other.package for one, other in pairwise(once(calls)))


def private_stretch(calls: list[Call]) -> list[Call]:
    """Return the first calls from opening the data to the last draw of noise."""
    return [call for call in once(calls) if call.phase in ("touch", "noise")]


if __name__ == "__main__":
    asked = [*sys.argv[1:], "--overwrite"]
    run(asked)
    calls = first_calls(asked)
    for phase, walked in modules(calls).items():
        print(f"{phase:<9}{' '.join(walked)}")
    stretch = private_stretch(calls)
    print(f"the whole command: {changes(calls)} changes of package over {len(once(calls))} functions")
    print(f"with private data in hand: {changes(stretch)} changes over {len(stretch)} functions")
