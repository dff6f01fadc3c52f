# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the page about sources and clients from its rows: ``python -m tests.gateway.tried``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gazeveil.gateway.bridge import BRIDGES
from gazeveil.gateway.policy.settings import REPLAY, SIMULATE
from gazeveil.gateway.protocol import PROTOCOLS
from tests.taps.world import BRIDGE, EVERY, SENDERS

REFERENCE: Final = Path(__file__).resolve().parents[2] / "docs" / "reference"
PAGE: Final = REFERENCE / "sources-and-clients.md"
ROWS: Final = "sources-and-clients*.toml"
HOW: Final = {
    "recording": "with gaze that a real one recorded",
    "interface": "with a fake of the interface that its vendor publishes",
    "emulator": "with a program that speaks as it does",
    "peer": "with the tracker side of gazeveil itself",
    "unmodified": "unmodified",
    "transcript": "with its recorded conversation",
    "published": "by its published description",
}
SOURCES_TRIED: Final = ("recording", "interface", "emulator", "peer")
CLIENTS_TRIED: Final = ("unmodified", "transcript", "published")
TOGETHER, TAPPED, BRIDGED = "**together**", "tapped", "bridged"

Row = dict[str, Any]


@dataclass(frozen=True)
class Tried:
    """All rows."""

    sources: list[Row]
    clients: list[Row]
    pairs: list[Row]


def rows() -> Tried:
    """Return the rows of all files, in the order of the files and of the rows in them."""
    files = [tomllib.loads(path.read_text()) for path in sorted(REFERENCE.glob(ROWS), key=lambda path: path.stem)]
    return Tried(*([row for file in files for row in file.get(kind, [])] for kind in ("source", "client", "pair")))


def known_sources() -> set[str]:
    """Return everything that gaze can come from."""
    protocols = {one.name for one in PROTOCOLS.values() if one.source is not None or one.listener is not None}
    return {*protocols, *BRIDGES.names(), SIMULATE, REPLAY}


def known_sinks() -> set[str]:
    """Return every protocol that apps read."""
    return {one.name for one in PROTOCOLS.values() if one.sink is not None}


def cell(source: Row, client: Row, pairs: set[tuple[str, str]]) -> str:
    """Say how a source and a client were run with each other."""
    if (source["name"], client["name"]) in pairs:
        return TOGETHER
    if client["by"] not in EVERY:
        return ""
    if source["by"] in BRIDGES:
        return BRIDGED if BRIDGE in SENDERS else ""
    return TAPPED if source["by"] in (*EVERY, *SENDERS) else ""


def page(tried: Tried) -> str:
    """Return the page."""
    pairs = {(pair["source"], pair["client"]) for pair in tried.pairs}
    numbers = range(1, len(tried.clients) + 1)
    head = f"| source | {' | '.join(map(str, numbers))} |"
    grid = [head, "|---" * (1 + len(tried.clients)) + "|"]
    grid += [
        f"| {source['name']} | {' | '.join(cell(source, client, pairs) for client in tried.clients)} |"
        for source in tried.sources
    ]
    sources = ["| source | read by | tried | |", "|---|---|---|---|"]
    sources += [
        f"| {row['name']} | {_way(row['by'])} | {HOW[row['tried']]} | {row.get('note', '')} |" for row in tried.sources
    ]
    clients = ["| | client | speaks | tried | with | |", "|---:|---|---|---|---|---|"]
    clients += [
        f"| {n} | {row['name']} | `{row['by']}` | {HOW[row['tried']]} | {row.get('with', '')} | {row.get('note', '')} |"
        for n, row in zip(numbers, tried.clients, strict=True)
    ]
    return _TEXT.format(sources="\n".join(sources), clients="\n".join(clients), grid="\n".join(grid))


def _way(by: str) -> str:
    return f"the bridge `{by}`" if by in BRIDGES else f"`{by}`"


_TEXT: Final = """# Sources and clients

Every source that gaze can come from, every client that reads it, and how each was tried. No real tracker was at hand:
where a row says *fake* or *emulator*, that is what it was. Sources that have no row can
[send gaze to the gateway](../how-to/connect-trackers.md#send-gaze-to-the-gateway).

This page is written by `python -m tests.gateway.tried` from `docs/reference/sources-and-clients*.toml`. A test compares
it with those rows, the rows with the tests that they name, and both with everything that is registered.

## Sources

{sources}

A bridge is `gazeveil track --from NAME`: [Read a vendor's tracker](../how-to/connect-trackers.md).

## Clients

{clients}

## Each with each

Whatever the source, the gateway makes the same kind of sample of it, so every source serves every client. Numbers are
those of the clients above.

- **together**: this source and this client were run with each other, over sockets.
- tapped: `make taps` runs the source's protocol with the client's over sockets, and searches every byte for raw gaze.
- bridged: the same with a bridge before the gateway, a different one each round; so not each bridge with each client.
- Empty: each was tried by itself.

{grid}
"""


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(rows()))


if __name__ == "__main__":
    main()
