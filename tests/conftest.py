# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What all tests share: a state folder of their own, so that none writes into anybody's home."""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lanes import slow

_UNIX = re.compile(r"\b(fcntl|resource|pwd|os\.(fork|mkfifo|nice|geteuid|getuid)|SIG(HUP|KILL|STOP))\b|/proc/|/dev/")
"""What tests speak of that are about Unix: Windows leaves their files out."""


@pytest.fixture(scope="session", autouse=True)
def _state_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("GAZEVEIL_STATE", str(tmp_path_factory.mktemp("state")))
        yield


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    if os.name != "nt" or collection_path.suffix != ".py" or collection_path == Path(__file__):
        return None
    return _UNIX.search(collection_path.read_text(encoding="utf-8")) is not None or None


LONG = (
    "lab/userstudy/test_study_in_a_browser.py",
    "test_docs.py",
    "privacy/audit/test_mutations.py",
    "engines/test_spark_stream.py",
    "release/test_neighbouring_corpora.py",
    "page/test_control_page.py",
    "gaze/formats/test_contract.py",
    "lab/attacks/test_attack_contract.py",
    "engines/test_engine_answers.py",
    "lab/experiments/test_feature_studies.py",
    "page/test_page_for_everybody.py",
    "release/test_feature_series.py",
    "lab/experiments/test_dataset_attacks_study.py",
    "engines/test_spark.py",
    "aggregate/test_strategies.py",
    "page/test_page_parts.py",
    "privacy/ledger/test_ledger_kill.py",
    "gateway/test_gateway_latch.py",
    "lab/experiments/test_demo.py",
    "gateway/test_gateway_returns.py",
    "lab/experiments/test_forecasts.py",
    "engines/test_engine_contract.py",
    "lab/userstudy/test_report.py",
    "page/test_demo_page.py",
    "gateway/test_end_to_end.py",
    "golden/test_golden.py",
)
"""Files that take longest, in the order in which they begin: those that wait for browsers and clusters between those
that compute. Otherwise they would come last, as they have few tests, and the processors would wait with them."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here, long = Path(__file__).parent, slow()
    for item in items:
        file = item.path.relative_to(here).as_posix() if item.path.is_relative_to(here) else ""
        if file.startswith("lab/"):
            item.add_marker(pytest.mark.lab)
        if getattr(item, "originalname", item.name) in long.get(file, ()):
            item.add_marker(pytest.mark.slow)
    place = {Path(__file__).parent / name: at for at, name in enumerate(LONG)}
    items.sort(key=lambda item: place.get(item.path, len(LONG)))


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over what stays until the end: modules, and some thirteen thousand tests."""
    gc.collect()
    gc.freeze()
