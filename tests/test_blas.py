# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Small linear algebra runs on one thread, and whoever else computes keeps theirs."""

from __future__ import annotations

import numpy as np
import pytest

from gazeveil import arrays


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return how many threads there have been, the last being those there are now."""
    counts = [8]
    monkeypatch.setattr(arrays, "_threads", lambda: (lambda: counts[-1], counts.append))
    return counts


def test_there_is_one_thread_inside_the_outermost_block_alone(threads: list[int]) -> None:
    with arrays.one_thread():
        assert threads == [8, 1]
        with arrays.one_thread():
            assert threads == [8, 1]
        assert threads == [8, 1]
    assert threads == [8, 1, 8]


def test_blocks_that_overlap_leave_the_number_that_was(threads: list[int]) -> None:
    first, second = arrays.one_thread(), arrays.one_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert threads[-1] == 1
    second.__exit__(None, None, None)
    assert threads[-1] == 8


def test_an_error_puts_the_threads_back(threads: list[int]) -> None:
    with pytest.raises(ZeroDivisionError), arrays.one_thread():
        _ = 1 / 0
    assert threads[-1] == 8


def test_another_blas_computes_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "_threads", lambda: None)
    with arrays.one_thread():
        assert np.eye(2).trace() == 2


def test_the_threads_of_numpys_own_blas_are_found() -> None:
    if "openblas" not in np.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"]:
        pytest.skip("numpy has another BLAS here")
    found = arrays._threads()
    assert found is not None
    get, put = found
    before = get()
    put(2)
    try:
        with arrays.one_thread():
            assert get() == 1
        assert get() == 2
    finally:
        put(before)
