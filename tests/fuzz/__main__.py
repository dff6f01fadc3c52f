# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``make fuzz``: every parser of the gateway against a million made-up inputs each.

An input is a valid one that was bent, cut, doubled, spliced or blown up, or plain noise, and comes in pieces. A parser
may refuse it with its own error and nothing else; it may not take longer than a second, and may not keep what it got.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import signal
import sys
import time

from tests.fuzz.parsers import Parser, parsers

SLOWEST_S = 1.0
MOST_GROWTH_MB = 64.0
FRESH_EVERY = 50
POLICY_SHARE = 100
"""A policy is a file that its owner writes, and takes a millisecond to read: it gets a hundredth of the inputs."""

TOKENS = (
    b"", b"\0", b"\n", b"\r\n", b'"', b"{", b"}", b"[", b"]", b"<", b"/>", b"=", b"NaN", b"Infinity", b"-1e999",
    b"1e308", b"99999999999999999999", b"\xff\xfe", b"\xf0\x9f\x91\x81", b"&lt;", b"<!ENTITY a 'b'>", b"<![CDATA[",
    b"\\u0000", b"null", b"true", b"\x7e\xff\xff", b"\x80\x80\x80\x80\x01", b"\xc1",
    b"\xdd\xff\xff\xff\xff", b"\xc9\xff\xff\xff\xff\x01",
)  # fmt: skip


class Hang(BaseException):
    """A parser took too long; no `except Exception` in it may swallow this."""


def bent(seed: bytes, rng: random.Random, seeds: tuple[bytes, ...]) -> bytes:
    """Return an input made of a valid one."""
    data = bytearray(seed)
    for _ in range(rng.choice((1, 1, 2, 4, 8))):
        at = rng.randrange(len(data) + 1)
        what = rng.randrange(9)
        if what == 0 and data:
            data[at % len(data)] ^= 1 << rng.randrange(8)
        elif what == 1:
            data[at : at + rng.randrange(20)] = b""
        elif what == 2:
            data[at:at] = rng.choice(TOKENS)
        elif what == 3:
            data[at:at] = rng.randbytes(rng.randrange(16))
        elif what == 4:
            other = rng.choice(seeds)
            data = data[:at] + bytearray(other[rng.randrange(len(other) + 1) :])
        elif what == 5:
            data[at:at] = data[at : at + rng.randrange(200)]
        elif what == 6:
            data = data[:at]
        elif what == 7 and rng.random() < 0.01:
            data[at:at] = rng.choice(TOKENS) * rng.randrange(5000)
        else:
            digits = [i for i, byte in enumerate(data) if 48 <= byte <= 57]
            if digits:
                data[rng.choice(digits)] = rng.choice(b"0123456789-.eE")
    return bytes(data)


def memory_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def fuzz(parser: Parser, inputs: int, seed: int) -> dict[str, object]:
    """Throw inputs at a parser, and say how it did."""
    rng = random.Random(f"{seed} {parser.name}")
    take = parser.make()
    for one in parser.seeds:  # whatever is loaded on first use is not growth
        try:
            take(one)
        except parser.refuses:
            take = parser.make()
    begun, before, refused, slowest = time.perf_counter(), memory_mb(), 0, 0.0
    faults: list[str] = []
    for number in range(inputs):
        data = (
            rng.randbytes(rng.randrange(64))
            if rng.random() < 0.05
            else bent(rng.choice(parser.seeds), rng, parser.seeds)
        )
        started = time.perf_counter()
        signal.setitimer(signal.ITIMER_REAL, SLOWEST_S * 5)
        try:
            take(data)
        except parser.refuses:
            refused += 1
            take = parser.make()
        except Hang:
            faults.append(f"input {number} hangs: {data[:80]!r}")
            take = parser.make()
        except Exception as error:  # noqa: BLE001  (that is what is looked for)
            faults.append(f"input {number}: {type(error).__name__}: {error}: {data[:80]!r}")
            take = parser.make()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        slowest = max(slowest, time.perf_counter() - started)
        if number % FRESH_EVERY == 0:
            take = parser.make()
        if len(faults) >= 10:
            break
    growth = memory_mb() - before
    if growth > MOST_GROWTH_MB:
        faults.append(f"memory grew by {growth:.0f} MB")
    if slowest > SLOWEST_S:
        faults.append(f"the slowest input took {slowest:.2f} s")
    return {
        "parser": parser.name,
        "inputs": number + 1,
        "refused": refused,
        "slowest_ms": round(slowest * 1e3, 2),
        "memory_growth_mb": round(growth, 1),
        "seconds": round(time.perf_counter() - begun, 1),
        "faults": faults,
    }


def _hang(number: int, frame: object) -> None:
    raise Hang


def main(inputs: int, seed: int, only: str) -> int:
    signal.signal(signal.SIGALRM, _hang)
    results = []
    for parser in parsers():
        if only in parser.name:
            share = POLICY_SHARE if parser.name == "policy" else 1
            result = fuzz(parser, max(inputs // share, 1), seed)
            results.append(result)
            print("{parser:32s} {inputs:>9,} inputs, {refused:>9,} refused, slowest {slowest_ms} ms, memory +{memory_growth_mb} MB, {seconds} s".format(**result), flush=True)  # fmt: skip  # noqa: E501
            for fault in result["faults"]:  # type: ignore[attr-defined]
                print(f"  FAULT {fault}", flush=True)
    print(json.dumps({"results": results}))
    return 1 if any(result["faults"] for result in results) else 0


if __name__ == "__main__":
    options = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    options.add_argument("--inputs", type=int, default=1_000_000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", default="", help="only parsers whose name has this in it")
    given = options.parse_args()
    sys.exit(main(given.inputs, given.seed, given.only))
