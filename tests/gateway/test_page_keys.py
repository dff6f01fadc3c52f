# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Keys that work once, sessions that are signed, and a limit to guessing; time passes when the test says so."""

from __future__ import annotations

import pytest

from gazeveil.gateway.control.http import LINK_S, MOST_KEYS, MOST_TRIES, SESSION_S, TRIES_S, Keys, Sessions, Tries

TOKEN = "a-token-for-the-test"


class Clock:
    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_key_works_once(clock: Clock) -> None:
    keys = Keys(LINK_S, clock)
    key = keys.make()
    assert len(key) >= 43  # 256 bits
    assert keys.take(key)
    assert not keys.take(key)


def test_a_key_that_is_too_old_does_not_work(clock: Clock) -> None:
    keys = Keys(LINK_S, clock)
    key, other = keys.make(), keys.make()
    clock.now += LINK_S - 0.1
    assert keys.take(key)
    clock.now += 0.1
    assert not keys.take(other)


def test_a_key_for_one_thing_does_not_open_another_and_is_void_then(clock: Clock) -> None:
    keys = Keys(LINK_S, clock)
    key = keys.make("desk")
    assert not keys.take(key, "lab")
    assert not keys.take(key, "desk")


def test_no_more_keys_wait_than_are_allowed(clock: Clock) -> None:
    keys = Keys(LINK_S, clock)
    made = [keys.make() for _ in range(MOST_KEYS + 1)]
    assert not keys.take(made[0])
    assert all(keys.take(key) for key in made[1:])


@pytest.mark.parametrize("key", ["", "x", "é", "\ud800"])
def test_what_was_never_a_key_is_none(clock: Clock, key: str) -> None:
    assert not Keys(LINK_S, clock).take(key)


def test_after_too_many_wrong_keys_nobody_may_try_for_a_while(clock: Clock) -> None:
    tries = Tries(clock)
    for _ in range(MOST_TRIES):
        assert tries.wait_s == 0
        tries.wrong()
    assert tries.wait_s == pytest.approx(TRIES_S)
    clock.now += TRIES_S
    assert tries.wait_s == 0


def test_a_session_survives_a_restart_and_ends_after_twelve_hours(clock: Clock) -> None:
    token = Sessions(TOKEN, clock).make()
    after_restart = Sessions(TOKEN, clock)
    assert after_restart.is_valid(token)
    clock.now += SESSION_S - 1
    assert after_restart.is_valid(token)
    clock.now += 1
    assert not after_restart.is_valid(token)


def test_a_session_is_void_with_another_token_of_the_policy(clock: Clock) -> None:
    token = Sessions(TOKEN, clock).make()
    assert not Sessions(TOKEN + "x", clock).is_valid(token)


def test_nothing_in_a_session_can_be_changed(clock: Clock) -> None:
    sessions = Sessions(TOKEN, clock)
    token = sessions.make()
    kind, until, salt, mark = token.split(".")
    later = f"{kind}.{int(until) + 3600}.{salt}.{mark}"
    other = f"{kind}.{until}.{salt[:-1]}{'A' if salt[-1] != 'A' else 'B'}.{mark}"
    for forged in (later, other, token[:-1], token + "0", token.upper(), f"{kind}.{until}.{salt}.", "", TOKEN):
        assert not sessions.is_valid(forged)


def test_a_session_from_a_far_future_is_not_believed(clock: Clock) -> None:
    """Whoever set the clock ahead for a moment must not have made a session for years."""
    ahead = Sessions(TOKEN, lambda: clock.now + 10 * SESSION_S).make()
    assert not Sessions(TOKEN, clock).is_valid(ahead)
