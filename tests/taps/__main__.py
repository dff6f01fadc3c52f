# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``make taps``: a tap on every app of a running gateway, for every protocol as tracker and as app.

Trackers that send all that real ones send, ``gazeveil serve``, and apps on real sockets. Each round pairs them
anew, so that after all rounds every protocol has been read from every other. It ends with 1 if anything raw was
found in what an app heard, in the gateway's log, in its ledger or in what it tells its owner.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.taps.search import Found
from tests.taps.world import EVERY, SENDERS, Round, available

MOST_BY_CHANCE = 0.01
"""Raw points that chance alone may be expected to show to the apps of one protocol in six minutes; longer runs more."""


async def main(given: argparse.Namespace) -> dict[str, Any]:
    # every LSL app keeps a thread; with as few as two cores have by default, nothing else would get one
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(32))
    if (task := asyncio.current_task()) is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)  # takes the gateway along
    protocols = tuple(name for name in available() if name in (given.only or (*EVERY, *SENDERS)))
    rounds = given.rounds or len(protocols)
    seconds = given.seconds or 60 * given.minutes / rounds
    heard, told, lines, rude, clean_stops = [], Found(), 0, 0, 0
    for number in range(rounds):
        shift = (number + given.shift) % len(protocols)
        with tempfile.TemporaryDirectory() as folder:
            one = Round(
                Path(folder), protocols, shift, given.seed + 100 * number, rate_hz=given.rate_hz, hearing=given.hearing
            )
            async with one:
                await one.listen(seconds)
                await one.stop()
            heard += one.heard
            told.add(one.told)
            lines += one.log_lines
            rude += sum(tracker.rude for tracker in one.trackers.values())
            clean_stops += one.stopped_cleanly
        bad = [one.app for one in heard if one.veiled and not one.found.clean]
        print(f"round {number + 1} of {rounds}: {'LEAKS in ' + ', '.join(bad) if bad else 'nothing raw'}", flush=True)
    return {
        "protocols": protocols,
        "rounds": rounds,
        "seconds": seconds,
        "apps": [asdict(one) | {"clean": one.found.clean} for one in heard],
        "told": asdict(told) | {"clean": told.clean, "log_lines": lines},
        "garbage_sent": rude,
        "stopped_cleanly": clean_stops == rounds,
        "pairs": len({(one.tracker, one.protocol) for one in heard}),
    }


def table(verdict: dict[str, Any], by: str) -> str:
    """Return the table of what was found, a line for each protocol."""
    lines = [
        "| | records | bytes searched | pairs of numbers | raw points | canaries | off the list | by chance |",
        "|:-|-:|-:|-:|-:|-:|-:|-:|",
    ]
    apps = [one for one in verdict["apps"] if one["veiled"]]
    rows = [(name, [one for one in apps if one[by] == name]) for name in dict.fromkeys(one[by] for one in apps)]
    for name, own in sorted(rows):
        lines.append(_row(name, sum(one["records"] for one in own), [one["found"] for one in own]))
    if by == "dialect":
        lines.append(_row("log, ledger, status, metrics", verdict["told"]["log_lines"], [verdict["told"]]))
    return "\n".join(lines)


def _row(name: str, records: int, found: list[dict[str, Any]]) -> str:
    def total(*keys: str) -> float:
        return sum(float(one[key]) for one in found for key in keys)

    wrong = set().union(*(one["off_list"] | one["not_made_up"] for one in found))
    cells = [
        f"{records:,}", f"{total('searched'):,.0f}", f"{total('pairs'):,.0f}",
        f"{total('raw_points', 'raw_coordinates'):.0f}", f"{total('canaries'):.0f}", ", ".join(sorted(wrong)) or "0",
        f"{total('by_chance'):.1g}",
    ]  # fmt: skip
    return f"| {name} | {' | '.join(cells)} |"


def sound(verdict: dict[str, Any]) -> bool:
    """Tell whether nothing raw was found anywhere, and chance would not have shown anything to any app either."""
    veiled = [one for one in verdict["apps"] if one["veiled"]]
    chance = dict.fromkeys((one["dialect"] for one in veiled), 0.0)
    for one in veiled:
        chance[one["dialect"]] += one["found"]["by_chance"]
    most = max([*chance.values(), verdict["told"]["by_chance"]])
    limit = MOST_BY_CHANCE * max(1.0, verdict["rounds"] * verdict["seconds"] / 360)
    clean = all(one["clean"] for one in [*veiled, verdict["told"]])
    return clean and most < limit and bool(verdict["stopped_cleanly"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.taps", description=__doc__)
    parser.add_argument("--minutes", type=float, default=6.0, help="of listening, in all rounds together")
    parser.add_argument("--seconds", type=float, help="of each round, instead of minutes")
    parser.add_argument("--rounds", type=int, help="as many as there are protocols, unless given")
    parser.add_argument("--shift", type=int, default=0, help="how the first round pairs protocols")
    parser.add_argument("--only", action="append", choices=(*EVERY, *SENDERS), help="only these protocols; repeat it")
    parser.add_argument("--rate-hz", type=float, default=120.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--hearing", action="store_true", help="also run apps without a veil, to show that taps hear")
    parser.add_argument("--json", type=Path, help="write everything here")
    arguments = parser.parse_args()
    result = asyncio.run(main(arguments))
    print(table(result, "dialect"), table(result, "tracker"), sep="\n\n")
    if arguments.json:
        arguments.json.write_text(json.dumps(result, default=sorted))
    print("SOUND" if sound(result) else "NOT VALID")
    sys.exit(0 if sound(result) else 1)
