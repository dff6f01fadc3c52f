# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The table of identification: every row is whole, and everybody who speaks of identification reads it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from gazeveil import Corpus, NoiseSource
from gazeveil.cli.main import run
from gazeveil.cli.policy import EXAMPLE, in_words
from gazeveil.errors import FileFormatError, InputError
from gazeveil.gateway.policy.settings import read_policy
from gazeveil.release.record import NAME
from gazeveil.release.verify import verify
from gazeveil.samples.identification import (
    PACKAGED,
    Identification,
    IdentificationTable,
    Measured,
    read_table,
    row_of,
    table,
)
from gazeveil.samples.mechanism import MECHANISMS, SampleMechanism
from gazeveil.samples.mechanisms.chain import Chain
from gazeveil.samples.recipes import PRESETS, preset
from gazeveil.samples.space import Room3D, Screen, Space, Sphere
from gazeveil.samples.veiled_recordings import processed
from tests.gateway.hub_bench import Bench, app, policy
from tests.release import test_veiled_recordings_product as veiled

FIELD = Sphere(50.0, 50.0)


def clock(space: Space = FIELD, **changes: Any) -> SampleMechanism:
    kind: Any = MECHANISMS["clock"]
    made: SampleMechanism = kind(space, **{"epsilon": 2, "window": 1, "radius": 4, **changes})
    return made


def row(veil: SampleMechanism | None, rate: float = 0.5, **changes: Any) -> Measured:
    return replace(
        table().rows[0], veil=None if veil is None else veil.to_dict(), rate=rate, interval=(0, 1), **changes
    )


LEVELS = IdentificationTable(
    3, (row(None, 0.9), row(clock(), 0.4), row(clock(), 0.3, attack="b"), row(clock(epsilon=1), 0.2))
)


# The packaged table


@pytest.mark.parametrize("each", table().rows, ids=lambda each: each.in_words()[:20])
def test_every_row_is_complete_its_interval_holds_its_rate_and_its_veil_is_a_recipe(each: Measured) -> None:
    low, high = each.interval
    assert 0 <= low <= each.rate <= high <= 1
    assert each.chance == pytest.approx(1 / each.people)
    assert each.seconds > 0
    assert each.rate_hz > 0
    assert date.fromisoformat(each.date) >= date(2026, 1, 1)
    assert each.command.startswith("gazeveil ")
    assert each.software.startswith("gazeveil ")
    assert each.mechanism is None or each.mechanism.to_dict() == each.veil


def test_what_gazeveil_comes_with_was_measured_without_a_veil_and_behind_the_presets_of_streams() -> None:
    assert any(each.veil is None for each in table().rows)
    for name in ("lphu", "mpmu", "hplu"):
        assert table().look_up(preset(name, FIELD)).relation == "measured"
        screen = table().look_up(preset(name, Screen(1920.0, 1080.0, 38.0)))
        assert screen.relation == "nearest"


def test_the_table_is_written_as_it_is_read(tmp_path: Path) -> None:
    table().save(tmp_path / "table.json")
    assert (tmp_path / "table.json").read_bytes() == PACKAGED.read_bytes()
    assert read_table(tmp_path / "table.json") == table()


@pytest.mark.parametrize(
    ("field", "value"),
    [("rate", 0.99), ("interval", [0.6, 0.5]), ("people", 1), ("seconds", 0), ("command", " "), ("chance", 0)],
)
def test_a_row_that_contradicts_itself_is_refused(tmp_path: Path, field: str, value: Any) -> None:
    one = {**row(clock()).to_dict(), "interval": [0.4, 0.6], field: value}
    path = tmp_path / "table.json"
    path.write_text(json.dumps({"format": "gazeveil-identification", "version": 1, "rows": [one]}))
    with pytest.raises(FileFormatError):
        read_table(path)


@pytest.mark.parametrize("veil", [clock(Screen(1280.0, 720.0)).to_dict(), {"mechanism": "clock"}, {"mechanism": "x"}])
def test_a_row_of_no_veil_in_degrees_is_refused(tmp_path: Path, veil: dict[str, Any]) -> None:
    one = row(clock()).to_dict() | {"veil": veil}
    path = tmp_path / "table.json"
    path.write_text(json.dumps({"format": "gazeveil-identification", "version": 1, "rows": [one]}))
    with pytest.raises(FileFormatError):
        read_table(path)


# Looking up


def test_the_strongest_attacker_at_the_level_speaks() -> None:
    found = LEVELS.look_up(clock())
    assert (found.relation, found.row.rate, found.version) == ("measured", 0.4, 3)
    assert found.bare is not None
    assert "in 40 of 100 attempts" in found.in_words()
    assert "On raw gaze it was right in 90." in found.in_words()


@pytest.mark.parametrize(
    "wanted",
    [{"epsilon": "1.5"}, {"window": 2}, {"radius": 5}, {"epsilon": 1, "radius": 3}],
    ids=str,
)
def test_a_level_that_was_not_measured_gets_the_nearest_that_is_no_stronger(wanted: dict[str, Any]) -> None:
    found = LEVELS.look_up(clock(**wanted))
    stronger = wanted.get("radius") == 3
    assert found.relation == ("no veil" if stronger else "nearest")
    assert found.row.rate == (0.9 if stronger else 0.4)
    assert "was not measured" in found.in_words()


def test_of_two_levels_that_are_no_stronger_the_nearer_one_speaks() -> None:
    assert LEVELS.look_up(clock(epsilon="0.9")).row.rate == 0.2
    assert LEVELS.look_up(clock(epsilon="1.1")).row.rate == 0.4


@pytest.mark.parametrize("wanted", [{"epsilon": 3}, {"window": "0.5"}, {"lag": 0.1}, {"ticks": 2}], ids=str)
def test_nothing_is_taken_from_a_level_that_is_stronger_or_of_another_kind(wanted: dict[str, Any]) -> None:
    found = LEVELS.look_up(clock(**wanted))
    assert found.relation == "no veil"
    assert found.row.rate == 0.9


def test_noise_on_a_screen_counts_as_half_as_large_an_epsilon_again() -> None:
    """Noise on directions has one dimension more: at the same guarantee it hides more than noise on a screen."""
    plane = Screen(1280.0, 720.0, 20.0)
    assert LEVELS.look_up(clock(plane, epsilon=2, radius=80)).relation == "no veil"
    assert LEVELS.look_up(clock(plane, epsilon="1.33", radius=80)).row.rate == 0.4
    assert LEVELS.look_up(clock(Screen(1280.0, 720.0), epsilon=1, radius=80)).relation == "no veil"  # degrees unknown


def test_what_comes_after_a_veil_protects_no_less_and_is_not_said_to_be_measured() -> None:
    assert LEVELS.look_up(processed(clock(), edge="clamp")).relation == "nearest"
    assert LEVELS.look_up(Chain(FIELD, members=(Chain(FIELD, members=(clock(),)),))).row.rate == 0.4


def test_a_space_in_which_the_budget_is_shared_otherwise_is_not_said_to_be_measured() -> None:
    """The clock of all directions has more ticks to a window than that of a field of 50 degrees."""
    assert LEVELS.look_up(clock(Sphere())).relation == "nearest"
    assert LEVELS.look_up(clock(Sphere(51.0, 50.0))).relation == "measured"


def test_veils_that_are_new_with_every_sample_are_compared_at_no_higher_rate() -> None:
    measured = IdentificationTable(1, (row(None, 0.9), row(preset("gaussian-high", FIELD), 0.4, rate_hz=90.0)))
    noise = preset("gaussian-high", FIELD)
    assert measured.look_up(noise, 90.0).relation == "measured"
    assert measured.look_up(noise, 60.0).row.rate == 0.4
    assert measured.look_up(noise, 500.0).relation == "no veil"
    assert measured.look_up(noise).relation == "no veil"
    assert measured.look_up(preset("gaussian-low", FIELD), 90.0).relation == "no veil"


def test_a_length_in_a_room_is_no_angle() -> None:
    room = Room3D((0.0, 0.0, 0.0), (9.0, 9.0, 9.0))
    measured = IdentificationTable(1, (row(None, 0.9), row(preset("spatial-high", FIELD), 0.4)))
    assert measured.look_up(preset("spatial-high", room)).relation == "no veil"


@pytest.mark.parametrize("name", PRESETS)
def test_something_is_said_about_every_preset(name: str) -> None:
    assert table().look_up(preset(name, Sphere())).in_words().endswith("may achieve more.")


def test_of_several_veils_the_weakest_speaks() -> None:
    assert LEVELS.worst([clock(), clock(epsilon=1)]).row.rate == 0.4


def test_an_empty_table_is_refused() -> None:
    with pytest.raises(InputError, match="on raw gaze"):
        IdentificationTable(0, ()).look_up(clock())


# Adding rows

JUDGED = {
    "recipe": clock().to_dict(), "attack": "white-box", "threat_model": "white box", "recogniser": "lda", "sees": [],
    "data": "8 participants", "people": 8, "folds": 4, "enrolled": "others", "chance": 0.125, "accuracy": 0.25,
    "accuracy_interval": [0.1, 0.4], "pooled_accuracy": 0.5, "pooled_interval": [0.3, 0.7], "seconds": 60.0,
    "rate_hz": 60.0,
}  # fmt: skip


def test_a_judgement_becomes_a_row_as_the_attacker_does_best() -> None:
    made = row_of(JUDGED, software="gazeveil 1", date="2026-11-01", command="gazeveil lab attack run")
    assert (made.rate, made.interval, made.decided) == (0.5, (0.3, 0.7), "mean score")
    assert made.known == "60 s from each of 3 other sessions"
    with pytest.raises(InputError, match="rate_hz"):
        row_of({name: value for name, value in JUDGED.items() if name != "rate_hz"}, software="", date="", command="")
    with pytest.raises(InputError):
        row_of({**JUDGED, "seconds": None}, software="s", date="d", command="c")


def test_the_command_adds_rows_and_replaces_those_measured_in_the_same_way(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own, result = tmp_path / "own.json", tmp_path / "result.json"
    kept = ["lab", "attack", "keep", str(result), "--table", str(own), "--command", "gazeveil lab attack run"]
    result.write_text(json.dumps({"table_3": {"rows": [JUDGED, {**JUDGED, "recipe": None, "attack": ""}]}}))
    assert run(kept) == 0
    assert (read_table(own).version, len(read_table(own).rows)) == (1, 2)
    result.with_suffix(".jsonl").write_text(json.dumps({"rows": {"lda": {**JUDGED, "pooled_accuracy": 0.6}}}) + "\n")
    assert run([*kept[:3], str(result.with_suffix(".jsonl")), *kept[4:]]) == 0
    assert (read_table(own).version, len(read_table(own).rows)) == (2, 2)
    assert read_table(own).look_up(clock()).row.rate == 0.6
    capsys.readouterr()
    assert run(["lab", "attack", "table", "--table", str(own), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["rows"]) == 2
    result.write_text("{}")
    assert run(kept) == 3
    assert read_table(own).version == 2


# Who reads it


def test_gateway_policy_plan_and_release_say_the_same() -> None:
    plan = veiled.declared().plan(veiled.CLOCK)
    released = plan.release(Corpus.of([veiled.recording("ann"), veiled.recording("bob", 2)]), anyway=True)
    found = plan.measurement.identification()
    assert found is not None
    assert released.identification == found
    words = found.in_words()
    assert words in released.statement().paragraph()
    assert words in released.statement().card()
    assert plan.to_dict()["identification"]["row"]["rate"] == found.row.rate
    bench = Bench(policy(app()))
    said = next(iter(bench.hub.status().apps)).identification
    assert said == table().look_up(app().mechanism).warning()
    assert said.startswith("Who you are is not protected.")


def test_a_policy_in_words_says_it_for_every_app(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text(EXAMPLE)
    lines = in_words(read_policy(tmp_path / "policy.toml"))
    assert sum(line.startswith("  identity: Who you are is not protected.") for line in lines) == 2


def test_a_release_with_noise_from_a_seed_says_nothing_that_was_measured_with_noise_nobody_knows() -> None:
    plan = veiled.declared().plan(veiled.CLOCK)
    seeded = plan.release(Corpus.of([veiled.recording("ann")]), noise=NoiseSource.seeded(1), anyway=True)
    assert seeded.identification is None
    assert "In our tests" not in seeded.statement().paragraph()


def test_a_record_that_says_less_was_identified_than_was_measured_is_found(tmp_path: Path) -> None:
    plan = veiled.declared().plan(veiled.CLOCK)
    release = plan.release(Corpus.of([veiled.recording("ann"), veiled.recording("bob", 2)]), anyway=True)
    folder = release.save(tmp_path / "release")
    assert verify(folder).ok
    record = json.loads((folder / NAME).read_text())
    record["identification"]["row"]["rate"] = 0.1
    record["identification"]["row"]["interval"] = [0.0, 0.2]
    assert Identification.from_dict(record["identification"]).row.rate == 0.1
    (folder / NAME).write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n")
    assert "identification" in {fault.check for fault in verify(folder).faults}
