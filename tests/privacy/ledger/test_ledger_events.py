# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The compatibility promise: what was once written is understood for ever."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import pytest

from gazeveil.errors import LedgerError
from gazeveil.privacy.guarantee import ApproxDP
from gazeveil.privacy.ledger import events
from gazeveil.privacy.ledger.events import digest_of_text, from_text, to_text
from gazeveil.privacy.ledger.spending import Conversion, Totals

ZEROS = "0" * 64
# Lines as the first version wrote them. They may be added to, but never changed: ledgers in the world hold such lines.
WRITTEN = [
    '{"dataset":"study-7","guarantee":{"delta":"0.000001","epsilon":"3","kind":"approx-dp","neighbours":"replace-one",'
    '"unit":{"kind":"observer"}},"id":"1ef9","kind":"budget-granted","note":"caf\\u00e9","number":1,"person":"",'
    f'"previous":"{ZEROS}","recipe":"","time":"2026-03-01T09:44:17.972388+00:00"}}',
    '{"conversion":{"delta":"1/2000000","fee":"13527195836360423/10000000000000000","order":"93729/10000"},'
    '"dataset":"study-7","guarantee":{"kind":"zcdp","neighbours":"replace-one","rho":"0.01","unit":{"kind":"observer"}},'
    '"id":"8db8","kind":"charged","note":"","number":2,"person":"",'
    '"previous":"d4bbd28c5e9fcb7b8e9c1c4ac4bd0ab5f4c7a9b9f0b2b5a0b1d1a0c7a6f0e0aa","recipe":"ab12",'
    '"time":"2026-03-01T09:44:18.207543+00:00"}',
    '{"dataset":"study-7","guarantee":{"kind":"unproven","neighbours":"replace-one","reason":["as published"],'
    '"unit":{"kind":"observer"}},"id":"77aa","kind":"unproven-recorded","note":"","number":3,"person":"",'
    f'"previous":"{ZEROS}","recipe":"","time":"2026-03-01T09:45:00.000000+00:00"}}',
    '{"dataset":"study-7","guarantee":{},"id":"90bc","kind":"account-closed","note":"over","number":4,"person":"",'
    f'"previous":"{ZEROS}","recipe":"","time":"2026-03-01T09:46:00.000000+00:00"}}',
]


@pytest.mark.parametrize("text", WRITTEN)
def test_a_line_of_the_first_version_is_read_and_written_the_same(text: str) -> None:
    assert to_text(from_text(text)) == text


def test_lines_of_the_first_version_come_to_what_they_came_to() -> None:
    totals = Totals()
    for text in WRITTEN:
        totals = totals.after(from_text(text))
    assert totals == Totals(
        budget=ApproxDP(3, "1e-6"),
        rho=Fraction(1, 100),
        conversion=Conversion(Fraction("9.3729"), Fraction("1.3527195836360423"), Fraction("5e-7")),
        charges=1,
        unproven=("as published",),
        closed=True,
    )
    assert totals.spent == (Fraction("1.3527195836360423") + Fraction("0.093729"), Fraction("5e-7"))


def test_the_kinds_and_fields_of_events_are_only_added_to() -> None:
    common = ["id", "time", "dataset", "person", "number", "previous", "guarantee", "recipe", "note"]
    promised = {
        "budget-granted": common,
        "charged": [*common, "conversion"],
        "unproven-recorded": common,
        "account-closed": common,
    }
    for kind, names in promised.items():
        fields = dataclasses.fields(events.KINDS[kind])
        assert [field.name for field in fields][: len(names)] == names
        assert all(field.default is not dataclasses.MISSING for field in fields[len(names) :])


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(LedgerError, match="unknown kind 'budget-doubled'"):
        from_text(WRITTEN[0].replace("budget-granted", "budget-doubled"))


def test_a_field_of_a_later_version_is_passed_over() -> None:
    later = WRITTEN[0].replace('"dataset"', '"colour":"green","dataset"', 1)
    assert from_text(later) == from_text(WRITTEN[0])


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", "12", '{"kind":"charged"}', '{"kind":["charged"]}', "{"])
def test_what_is_not_an_event_is_refused(text: str) -> None:
    with pytest.raises(LedgerError):
        from_text(text)


def test_the_digest_is_sha256_of_the_text() -> None:
    assert digest_of_text("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


@pytest.mark.parametrize(
    ("whole", "broken"),
    [('"number":1', '"number":"1"'), ('"note":"caf\\u00e9"', '"note":null'), ('"id":"1ef9"', '"id":7')],
)
def test_a_field_of_the_wrong_type_is_refused(whole: str, broken: str) -> None:
    assert whole in WRITTEN[0]
    with pytest.raises(LedgerError, match="event whose"):
        from_text(WRITTEN[0].replace(whole, broken))
