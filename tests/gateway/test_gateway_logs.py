# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import io
import json
from datetime import UTC, datetime

import numpy as np

from gazeveil.errors import WireError
from gazeveil.gateway.sample import RawSample
from gazeveil.gateway.telemetry import log_to


def lines(file: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.getvalue().splitlines()]


def test_a_log_line_is_one_json_object_with_time_and_event() -> None:
    file = io.StringIO()
    log_to(file, now=lambda: datetime(2026, 1, 2, tzinfo=UTC))("app silent", app="game", count=3)
    assert lines(file) == [{"time": "2026-01-02T00:00:00.000+00:00", "event": "app silent", "app": "game", "count": 3}]


def test_gaze_and_bytes_are_named_by_their_type_alone() -> None:
    file = io.StringIO()
    log_to(file)("x", sample=RawSample(1.0, 123.456, 654.321), data=b"123.456", array=np.array([123.456]))
    assert "123.456" not in file.getvalue()
    assert lines(file)[0]["sample"] == "<RawSample>"


def test_an_error_is_told_by_its_own_message_and_never_by_what_caused_it() -> None:
    file = io.StringIO()
    log = log_to(file)
    log("x", why=WireError("not a record"))
    log("x", why=ValueError("could not convert string to float: '123.456'"))
    assert [line["why"] for line in lines(file)] == ["not a record", "ValueError"]


def test_a_log_that_cannot_be_written_stops_nothing() -> None:
    file = io.StringIO()
    file.close()
    log_to(file)("x")
