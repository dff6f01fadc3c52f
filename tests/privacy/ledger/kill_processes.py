# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Kill processes at random moments while they charge one ledger and write releases; then count what is left.

    python tests/privacy/ledger/kill_processes.py ledger.sqlite releases --kills 1000 --processes 8

Prints one JSON object. The budget is granted in small portions when it is all but spent, so that the processes run
against its limit all the time. With ``--release-first`` they do it the wrong way round, which must show.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path

from gazeveil.engines import engine_at
from gazeveil.errors import BudgetExceeded
from gazeveil.noise import NoiseSource, laplace
from gazeveil.privacy.guarantee import PureDP
from gazeveil.privacy.ledger import Charged, Ledger
from gazeveil.release.verify import verify

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.privacy.ledger.counts_product import CORPUS, counting

COST = PureDP("0.001")
PORTION = PureDP("0.015")
DATASET = "study"


def work(address: str, folder: Path, *, release_first: bool) -> None:
    """Charge and release for ever."""
    plan = counting(COST)
    while True:
        with Ledger.open(address) as ledger:
            for _ in range(20):
                try:
                    if release_first:
                        release = plan.release(CORPUS)
                        release.save(folder / release.id)
                        ledger.charge(DATASET, COST, charge_id=release.id)
                    else:
                        release = plan.release(CORPUS, ledger=ledger, account=DATASET)
                        release.save(folder / release.id)
                except BudgetExceeded:
                    time.sleep(0.001)


def start(address: str, folder: Path, *, release_first: bool) -> int:
    """Fork a process that works, and return its id."""
    child = os.fork()
    if child:
        return child
    try:
        work(address, folder, release_first=release_first)
    except BaseException as error:  # noqa: BLE001  (a worker that fails on its own must be noticed)
        print(f"worker failed: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
    os._exit(1)


def count_what_is_left(address: str, folder: Path) -> dict[str, object]:
    """Replay the ledger and look at every release."""
    files: Counter[str] = Counter()
    with Ledger.open(address) as ledger:
        found = ledger.verify()
        account = ledger.account(DATASET)
        charged = {event.id: event for event in ledger.history() if isinstance(event, Charged)}
        faults = list(found.faults)
        for path in folder.iterdir():
            name = path.name.lstrip(".").split(".")[0]
            if name not in charged:
                faults.append(f"{path.name} is there without a charge")
            if path.name.endswith(".partial"):
                files["partial"] += 1
            elif path.name.endswith(".private-report.json"):
                files["reports"] += 1
                json.loads(path.read_text())
            else:
                files["releases"] += 1
                faults += [f"{path.name}: {fault.text}" for fault in verify(path, ledger).faults]
    if account.budget is None or account.spent["epsilon"] > account.budget.numbers()["epsilon"]:
        faults.append("more was spent than granted")
    if account.spent["epsilon"] != len(charged) * COST.epsilon:
        faults.append("what was spent is not what was charged")
    return {
        "budget": str(account.totals.spent[0] + account.totals.remaining[0]),
        "spent": str(account.totals.spent[0]),
        "charges": len(charged),
        **files,
        "wasted": len(charged) - files["releases"],
        "faults": faults,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--pause", type=float, default=0.04, help="mean seconds between kills")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--release-first", action="store_true")
    given = parser.parse_args()
    given.folder.mkdir(parents=True)
    chance = random.Random(given.seed)
    engine_at()
    laplace(NoiseSource.secure(), 1.0)  # code is loaded once, not in every process
    with Ledger.open(given.address, create=True) as ledger:
        ledger.grant(DATASET, PORTION)
    begin = time.monotonic()
    workers = [start(given.address, given.folder, release_first=given.release_first) for _ in range(given.processes)]
    failed = 0
    try:
        for kill in range(given.kills):
            time.sleep(chance.expovariate(1 / given.pause))
            victim = chance.randrange(len(workers))
            os.kill(workers[victim], signal.SIGKILL)
            _, status = os.waitpid(workers[victim], 0)
            failed += os.WIFEXITED(status)
            workers[victim] = start(given.address, given.folder, release_first=given.release_first)
            if kill % 4 == 3:
                with Ledger.open(given.address) as ledger:
                    if not ledger.account(DATASET).affords(COST * 3):
                        ledger.grant(DATASET, PORTION)
    finally:
        for worker in workers:
            os.kill(worker, signal.SIGKILL)
            os.waitpid(worker, 0)
    told = {"kills": given.kills, "processes": given.processes, "failed_workers": failed}
    told |= {"seconds": round(time.monotonic() - begin, 1)} | count_what_is_left(given.address, given.folder)
    print(json.dumps(told))
    return 1 if told["faults"] or failed else 0


if __name__ == "__main__":
    sys.exit(main())
