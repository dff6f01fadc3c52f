# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The page about sources and clients says what was tried, and leaves nothing out that is registered."""

from __future__ import annotations

import pytest

from tests.gateway.tried import CLIENTS_TRIED, PAGE, SOURCES_TRIED, known_sinks, known_sources, page, rows

TRIED = rows()
ROOT = PAGE.parents[2]


def test_the_page_is_what_the_rows_say() -> None:
    assert PAGE.read_text() == page(TRIED), "python -m tests.gateway.tried writes it"


def test_every_source_and_every_sink_that_is_registered_has_a_row_and_no_row_is_about_another() -> None:
    assert {row["by"] for row in TRIED.sources} == known_sources()
    assert {row["by"] for row in TRIED.clients} == known_sinks()


@pytest.mark.parametrize(
    ("kind", "ways", "more"),
    [("sources", SOURCES_TRIED, set()), ("clients", CLIENTS_TRIED, {"with"})],
    ids=["sources", "clients"],
)
def test_rows_have_one_name_each_and_tests_that_exist(kind: str, ways: tuple[str, ...], more: set[str]) -> None:
    found = getattr(TRIED, kind)
    assert len({row["name"] for row in found}) == len(found)
    for row in found:
        assert {"name", "by", "tried", "shown", *more} <= set(row) <= {"name", "by", "tried", "shown", "with", "note"}
        assert row["tried"] in ways
        assert row["shown"]
        assert all((ROOT / path).is_file() for path in row["shown"]), row["name"]
        assert not any("|" in str(value) for value in row.values())


def test_pairs_are_of_rows_and_have_tests_that_exist() -> None:
    sources, clients = ({row["name"] for row in found} for found in (TRIED.sources, TRIED.clients))
    assert TRIED.pairs
    for pair in TRIED.pairs:
        assert set(pair) == {"source", "client", "shown"}
        assert pair["source"] in sources
        assert pair["client"] in clients
        shown = [pair["shown"]] if isinstance(pair["shown"], str) else pair["shown"]
        assert all((ROOT / path).is_file() for path in shown)
