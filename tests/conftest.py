# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What all tests share: a state folder of their own, so that none writes into anybody's home."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

LONGEST = (
    "tests/userstudy/test_study_in_a_browser.py",
    "tests/engines/test_spark_stream.py",
    "tests/page/",
    "tests/test_docs.py",
    "tests/gateway/test_end_to_end.py",
    "tests/privacy/audit/test_mutations.py",
    "tests/release/test_neighbouring_corpora.py",
    "tests/experiments/",
)
"""What takes longest in one piece, mostly waiting: begun first, so that no worker is left alone with it at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first."""
    items.sort(key=lambda item: next((place for place, name in enumerate(LONGEST) if item.nodeid.startswith(name)), 99))


@pytest.fixture(scope="session", autouse=True)
def _state_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("GAZEVEIL_STATE", str(tmp_path_factory.mktemp("state")))
        yield
