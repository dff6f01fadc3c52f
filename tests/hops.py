# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How often a release changes package on its way: ``python -m tests.hops heatmap CORPUS --stimulus …``.

Functions of the package are taken in the order of their first call, in a second run of the command, when everything is
imported and compiled. Modules that everybody uses do not count. The private stretch is from opening the corpus to the
last draw of noise.
"""

from __future__ import annotations

import sys
from itertools import pairwise
from types import FrameType

from gazeveil.cli.main import run
from tests.test_architecture import SHARED


def first_calls(arguments: list[str]) -> list[tuple[str, str]]:
    """Return package and function of every first call while a command runs."""
    found: dict[tuple[str, str], None] = {}

    def seen(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        inside = code.co_filename.partition("/gazeveil/")[2]
        if event == "call" and inside and "site-packages" not in code.co_filename and code.co_name[0] != "<":
            package = inside.split("/")[0].removesuffix(".py")
            if package not in SHARED:
                found.setdefault((package, code.co_qualname))

    sys.setprofile(seen)
    try:
        run(arguments)
    finally:
        sys.setprofile(None)
    return list(found)


def changes(calls: list[tuple[str, str]]) -> int:
    """Return how often the package changes from one call to the next."""
    return sum(one[0] != other[0] for one, other in pairwise(calls))


def private_stretch(calls: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the calls from opening the data to the last draw of noise."""
    opened = next(place for place, (_, name) in enumerate(calls) if name in {"Measurement.open", "Corpus.open"})
    noised = max(place for place, (package, _) in enumerate(calls) if package == "noise")
    return calls[opened : noised + 1]


if __name__ == "__main__":
    asked = [*sys.argv[1:], "--overwrite"]
    run(asked)
    calls = first_calls(asked)
    stretch = private_stretch(calls)
    print(f"the whole command: {changes(calls)} changes of package over {len(calls)} functions")
    print(f"with private data in hand: {changes(stretch)} changes over {len(stretch)} functions")
