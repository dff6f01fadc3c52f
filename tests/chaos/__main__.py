# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``make chaos``: a real gateway, real sockets, and one fault after another, with a tap on every app.

Seeded, bounded and on loopback. It ends with 1 if a raw sample or a canary came out, a budget was overspent, a veil
spoke too early after a restart, or a stream was not back within five seconds after the cause was gone.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from pathlib import Path

from tests.chaos.world import FAULTS, World, told


async def main(faults: int, seed: int, kinds: list[str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        async with World(Path(folder), seed) as world:
            await world.warm_up()
            for number in range(faults):
                kind = kinds[number] if number < len(kinds) else world.random.choice(kinds)
                seconds = await world.suffer(kind)
                print(f"{number + 1:4d}/{faults}  {kind:22s} back after {seconds:5.2f} s", flush=True)
            verdict = await world.verdict()
    print(told(verdict))
    print(json.dumps(verdict))
    return 0 if verdict["sound"] else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", action="append", choices=sorted(FAULTS), help="only these faults; repeat it")
    given = parser.parse_args()
    sys.exit(asyncio.run(main(given.faults, given.seed, given.kind or list(FAULTS))))
