# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A short run of the garbage that ``make fuzz`` sends in millions."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

from gazeveil.errors import WireError
from gazeveil.gateway.bridge import BRIDGES
from gazeveil.gateway.protocol import PROTOCOLS
from tests.gateway import fuzz_protocols
from tests.gateway.fuzz_protocols import Parser, fuzz, parsers


@pytest.fixture(scope="module", autouse=True)
def no_folder_stays() -> Iterator[None]:
    yield
    fuzz_protocols._folder().cleanup()


@pytest.mark.parametrize("parser", list(parsers()), ids=lambda parser: parser.name)
def test_garbage_is_understood_or_refused(parser: Parser) -> None:
    inputs = 300 if parser.share == 1 else 60
    outcome = fuzz(parser, inputs, seed=11)
    assert outcome.finding == ""
    assert outcome.understood + outcome.refused == inputs
    assert outcome.understood or parser.name == "websocket handshake"  # nobody guesses the answer to a key


def test_every_protocol_is_fuzzed_and_every_bridge_without_a_vendors_package() -> None:
    bare = {kind.name for kind in BRIDGES.values() if not kind.install}
    assert {parser.name.split()[0] for parser in parsers()} == {*PROTOCOLS.names(), *bare, "policy"}


def test_a_crash_is_found() -> None:
    def fragile(data: bytes) -> object:
        if b"[" in data:
            raise KeyError("a")
        return []

    assert "KeyError" in fuzz(Parser("fragile", lambda: fragile, [b"seed"]), 2_000, seed=1).finding


def test_what_is_no_sample_is_found() -> None:
    assert "not samples" in fuzz(Parser("leaky", lambda: lambda data: [data], [b"seed"]), 10, seed=1).finding


def test_a_hang_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz_protocols, "LONGEST_S", 0.01)

    def slow(data: bytes) -> object:
        begun = time.thread_time()
        while time.thread_time() - begun < 0.02:
            pass
        return []

    assert " s at input 0" in fuzz(Parser("slow", lambda: slow, [b"seed"]), 10, seed=1).finding


def test_a_parser_that_refuses_starts_anew() -> None:
    made = []

    def make() -> Callable[[bytes], object]:
        made.append(1)

        def refusing(data: bytes) -> object:
            raise WireError("no")

        return refusing

    assert fuzz(Parser("refusing", make, [b"seed"]), 5, seed=1).refused == 5
    assert len(made) == 6
