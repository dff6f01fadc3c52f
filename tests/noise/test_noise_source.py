# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The keystream: what AES says it is, never twice, whole across batches, forks and threads."""

from __future__ import annotations

import copy
import os
import pickle
import threading
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from gazeveil.errors import OptionError
from gazeveil.noise import NoiseSource
from gazeveil.noise import source as source_module

can_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
PINNED = ["0x7ac738d3a4d5271", "0x985881806d5698c6"]

may_warn_about_fork = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


def test_the_keystream_is_aes_256_in_counter_mode() -> None:
    # NIST SP 800-38A, F.5.5: key, initial counter, first two output blocks.
    key = bytes.fromhex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
    counter = bytes.fromhex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")
    stream = source_module._Keystream(lambda _turn: key + counter)
    expected = bytes.fromhex("0bdf7df1591716335e9a8b15c860c502" + "5a6e699d536119065433863c8f657b94")
    assert stream.take(4).astype("<u8").tobytes() == expected


def test_a_seeded_source_repeats_and_other_seeds_differ() -> None:
    first = NoiseSource.seeded(7).words(1000)
    assert np.array_equal(first, NoiseSource.seeded(7).words(1000))
    assert not np.any(first == NoiseSource.seeded(8).words(1000))
    assert not np.any(first == NoiseSource.seeded(-7).words(1000))


def test_the_seeded_stream_does_not_change_between_versions() -> None:
    assert [hex(word) for word in NoiseSource.seeded(2024).words(2).tolist()] == PINNED


def test_two_secure_sources_share_no_word() -> None:
    words = np.concatenate([NoiseSource.secure().words(50_000) for _ in range(4)])
    assert len(np.unique(words)) == len(words)


def test_only_a_secure_source_says_so() -> None:
    assert NoiseSource.secure().is_secure
    assert NoiseSource.secure().spawn("a").is_secure
    seeded = NoiseSource.seeded(3)
    assert not seeded.is_secure
    assert not seeded.spawn("a").is_secure
    with pytest.raises(AttributeError):
        seeded.is_secure = True  # type: ignore[misc]
    assert "not private" in seeded.description
    assert "seed 3" in repr(seeded)


@given(st.lists(st.integers(0, 5000), max_size=12))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_portions_of_any_size_give_the_same_words(portions: list[int]) -> None:
    source = NoiseSource.seeded(11)
    pieces = [source.words(count) for count in portions]
    whole = NoiseSource.seeded(11).words(sum(portions))
    assert np.array_equal(np.concatenate([*pieces, np.empty(0, np.uint64)]), whole)


@given(st.lists(st.integers(0, 3000), max_size=8))
@settings(max_examples=30, deadline=None, derandomize=True)
def test_a_new_key_comes_after_its_share_of_blocks_and_batches_still_agree(portions: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source_module, "BLOCKS_PER_KEY", 300)
        source = NoiseSource.seeded(5)
        pieces = np.concatenate([*(source.words(count) for count in portions), np.empty(0, np.uint64)])
        assert np.array_equal(pieces, NoiseSource.seeded(5).words(sum(portions)))
        assert len(np.unique(pieces)) == len(pieces)
    unchanged = NoiseSource.seeded(5).words(sum(portions))
    assert np.array_equal(pieces[:600], unchanged[:600])
    assert not np.any(pieces[600:] == unchanged[600:])


def test_a_secure_source_takes_a_new_key_from_the_system_after_its_share_of_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(source_module, "BLOCKS_PER_KEY", 1024)
    asked: list[int] = []

    def urandom(count: int) -> bytes:
        asked.append(count)
        return bytes([len(asked)]) * count

    monkeypatch.setattr(os, "urandom", urandom)
    NoiseSource.secure().words(3 * 2048)
    assert asked == [48] * 4  # three keys used up by the words, one begun by the buffer


def test_words_that_were_handed_out_are_erased() -> None:
    source = NoiseSource.seeded(1)
    source.words(100)
    assert not np.any(source._main._buffer[:100])
    assert np.all(source._main._buffer[100:])
    source.words(2500)
    assert not np.any(source._main._buffer[: source._main._at])


def test_more_bits_come_from_another_keystream() -> None:
    source, twin = NoiseSource.seeded(1), NoiseSource.seeded(1)
    extra = [source.more() for _ in range(100)]
    words = source.words(10_000)
    assert np.array_equal(words, twin.words(10_000))
    assert not set(extra) & set(words.tolist())
    assert extra == [twin.more() for _ in range(100)]


def test_bytes_and_bits_use_whole_words_in_order() -> None:
    words = NoiseSource.seeded(9).words(4)
    source = NoiseSource.seeded(9)
    assert source.bytes(11) == words[:2].astype("<u8").tobytes()[:11]
    assert source.bits(70) == (int(words[2]) << 64 | int(words[3])) >> 58
    assert source.bits(0) == 0
    assert source.bytes(0) == b""


def test_spawned_sources_repeat_and_differ_from_each_other() -> None:
    def streams() -> list[NDArray[np.uint64]]:
        parent = NoiseSource.seeded(4)
        children = [parent.spawn("a"), parent.spawn("b"), parent.spawn("a"), parent.spawn("a").spawn("a")]
        return [source.words(1000) for source in [parent, *children]]

    first, second = streams(), streams()
    assert all(np.array_equal(one, other) for one, other in zip(first, second, strict=True))
    assert len(np.unique(np.concatenate(first))) == 5000


def test_a_child_does_not_depend_on_what_the_parent_drew() -> None:
    early, late = NoiseSource.seeded(4), NoiseSource.seeded(4)
    late.words(123)
    assert np.array_equal(early.spawn("x").words(10), late.spawn("x").words(10))


@pytest.mark.parametrize("copier", [pickle.dumps, copy.copy, copy.deepcopy])
@pytest.mark.parametrize("source", [NoiseSource.secure(), NoiseSource.seeded(1)])
def test_a_source_cannot_be_copied(copier: Callable[[object], object], source: NoiseSource) -> None:
    with pytest.raises(OptionError, match="repeat its keystream"):
        copier(source)


@pytest.mark.parametrize("seed", [1.5, "7", None, True])
def test_a_seed_that_is_no_integer_is_refused(seed: int) -> None:
    with pytest.raises(OptionError, match="integer"):
        NoiseSource.seeded(seed)


def test_a_negative_count_is_refused() -> None:
    with pytest.raises(OptionError, match="zero or more"):
        NoiseSource.seeded(1).words(-1)


def in_child(job: Callable[[], bytes]) -> bytes:
    """Run a job in a forked child and return what it answers."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, job())
        finally:
            os._exit(0)
    os.close(write)
    answer = b""
    while part := os.read(read, 65536):
        answer += part
    os.close(read)
    os.waitpid(child, 0)
    return answer


@can_fork
@may_warn_about_fork
def test_parent_and_child_draw_different_words_after_a_fork() -> None:
    source = NoiseSource.secure()
    source.words(10)  # the buffer is full of words that the child must not use
    childs = [
        np.frombuffer(in_child(lambda: source.bytes(4000) + source.more().to_bytes(8, "little")), "<u8") for _ in "ab"
    ]
    words = np.concatenate([source.words(5000), *childs])
    assert len(childs[0]) == 501
    assert len(np.unique(words)) == len(words)


@can_fork
@may_warn_about_fork
def test_a_fork_that_bypasses_the_hook_is_noticed_by_the_process_number(monkeypatch: pytest.MonkeyPatch) -> None:
    source = NoiseSource.secure()
    before = source.words(10)
    key_before = source._main
    monkeypatch.setattr(os, "getpid", lambda: -5)
    after = source.words(10)
    assert source._main is not key_before
    assert not set(before.tolist()) & set(after.tolist())


@can_fork
@may_warn_about_fork
def test_a_seeded_source_refuses_to_cross_a_fork() -> None:
    source = NoiseSource.seeded(1)

    def refusal(attempt: Callable[[], object]) -> bytes:
        try:
            attempt()
        except OptionError as error:
            return str(error).encode()
        return b"went on"

    for attempt in (lambda: source.words(1), source.more, lambda: source.spawn("a")):
        assert b"does not cross a fork" in in_child(lambda attempt=attempt: refusal(attempt))  # type: ignore[misc]
    source.words(1)


@can_fork
@may_warn_about_fork
def test_a_lock_held_during_a_fork_does_not_block_the_child() -> None:
    source = NoiseSource.secure()
    with source._lock:
        assert len(in_child(lambda: source.bytes(8))) == 8


def test_threads_share_a_source_without_repeating_a_word() -> None:
    source = NoiseSource.seeded(21)
    sizes = [1, 3, 100, 2047, 5000]
    taken: list[NDArray[np.uint64]] = []

    def draw() -> None:
        mine = [source.words(sizes[turn % len(sizes)]) for turn in range(40)]
        taken.extend(mine)

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    together = np.sort(np.concatenate(taken))
    assert np.array_equal(together, np.sort(NoiseSource.seeded(21).words(len(together))))


def test_words_are_uniform_and_independent() -> None:
    words = NoiseSource.seeded(33).words(250_000)
    octets = words.view(np.uint8)
    assert stats.chisquare(np.bincount(octets, minlength=256)).pvalue > 1e-6
    pairs = octets[:-1].astype(np.int64) // 16 * 16 + octets[1:] // 16
    assert stats.chisquare(np.bincount(pairs, minlength=256)).pvalue > 1e-6


def test_a_keyed_source_repeats_for_its_key_and_purpose_alone() -> None:
    key = bytes(range(32))
    first = NoiseSource.keyed(key, "anna/3").words(100)
    assert np.array_equal(first, NoiseSource.keyed(key, "anna/3").words(100))
    for other in (NoiseSource.keyed(key, "anna/4"), NoiseSource.keyed(bytes(32), "anna/3"), NoiseSource.seeded(0)):
        assert not np.isin(other.words(100), first).any()


def test_a_keyed_source_is_secure_and_so_are_its_children() -> None:
    source = NoiseSource.keyed(bytes(range(32)), "x")
    assert source.is_secure
    assert source.spawn("child").is_secure
    assert not NoiseSource.seeded(1).spawn("child").is_secure


def test_a_key_must_be_long_enough() -> None:
    with pytest.raises(OptionError, match="32 bytes"):
        NoiseSource.keyed(b"short", "x")
