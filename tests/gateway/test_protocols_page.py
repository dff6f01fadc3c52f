# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The page about wire protocols says what the lists in the code say, row by row."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from pathlib import Path

import pytest

from gazeveil.gateway.protocol import PROTOCOLS, Protocol

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "reference"
PAGE = FOLDER / "protocols.md"
HERE = {"opengaze": PAGE, "eyetribe": PAGE, "gazepointer": PAGE, "neon": PAGE}


def table(head: str, fields: Mapping[str, str]) -> list[str]:
    """Rows of a table, with neighbours of one reason in one row."""
    rows = [f"| {head} | |", "|---|---|"]
    for reason, group in groupby(fields.items(), key=lambda item: item[1]):
        rows.append(f"| {', '.join(f'`{name}`' for name, _ in group)} | {reason} |")
    return rows


def section(protocol: Protocol) -> str:
    page = HERE[protocol.name].read_text()
    _, _, rest = page.partition(f"# {protocol.title} (`{protocol.name}`, port {protocol.port})\n")
    assert rest, f"the page has no section {protocol.title} (`{protocol.name}`, port {protocol.port})"
    return rest.partition("\n## ")[0]


@pytest.mark.parametrize("name", HERE)
def test_the_page_lists_what_leaves_and_what_does_not(name: str) -> None:
    protocol = PROTOCOLS[name]
    lines = section(protocol).splitlines()
    for rows in (table("leaves", protocol.leaves), table("withheld", protocol.withheld)):
        begin = lines.index(rows[0])
        found = []
        for line in lines[begin:]:
            if not line.startswith("|"):
                break
            found.append(line)
        assert found == rows


def test_the_page_names_every_protocol_with_its_port() -> None:
    text = PAGE.read_text()
    for protocol in PROTOCOLS.values():
        carries = ", ".join(sorted(protocol.outputs)) or "nothing: trackers alone use it"
        assert f"| {protocol.title} | `{protocol.name}` | {protocol.port} | {carries} |" in text
