# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Advice: what is recommended follows from forecasts and measurements, and nothing is recommended that does not fit."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from gazeveil.cli.main import run
from gazeveil.errors import InputError
from gazeveil.geometry import headset, screen
from gazeveil.lab.advice import measurements as kept
from gazeveil.lab.advice import recommending
from gazeveil.lab.advice.answer import Harm, Use, bound_in_words, level_in_words
from gazeveil.lab.advice.measurements import by_epsilon, by_level, of_identification, strongest
from gazeveil.lab.advice.recommending import LEVELS, advise, enough_participants, useful
from gazeveil.privacy.protection import Neighbours
from gazeveil.release.forecast import Forecast
from gazeveil.release.study import Participants, Recordings, Stimulus, Study
from gazeveil.samples.recipes import preset
from gazeveil.samples.space import space_of
from gazeveil.terminal.printing import EXIT_FINDING, EXIT_OK, EXIT_USAGE

ROW: dict[str, Any] = {
    "use": "heatmap", "corpus": "simulated", "mechanism": "heatmap", "level": "epsilon=1", "recipe": "{}",
    "proven": True, "epsilon": 1.0, "role": "attack", "measure": "membership", "harm": "membership",
    "threat": "knows all others", "metric": "auc", "headline": True, "status": "ok", "value": 0.6, "low": 0.55,
    "high": 0.65, "n": 12, "chance": 0.5, "data": "12 simulated people",
}  # fmt: skip


def stored(*changes: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame([ROW | change for change in changes])


TABLE = stored(
    {},
    {"epsilon": 3.0, "level": "epsilon=3", "value": 0.7, "low": 0.66, "high": 0.74},
    {"epsilon": 3.0, "level": "epsilon=3", "value": 0.65, "measure": "weaker"},
    {"epsilon": None, "mechanism": "none", "proven": False, "value": 1.0, "level": ""},
    {"epsilon": 2.0, "mechanism": "liu-gaussian-as-published", "proven": False, "value": 0.99},
    {"epsilon": 2.0, "status": "broken", "value": None},
)


def study(participants: int, stimuli: int = 1, **more: Any) -> Study:
    plane = more.pop("plane", screen(1920, 1080, 518, 291, 600))
    return Study(
        name="advised",
        participants=more.pop("who", None) or Participants(number=participants),
        stimuli=tuple(Stimulus(name=f"scene-{number}", screen=plane, seconds=5) for number in range(stimuli)),
        recordings=Recordings(rate_hz=60),
    )


def test_a_heatmap_of_five_participants_is_refused_with_the_number_that_would_be_enough() -> None:
    found = advise(study(5), Use.HEATMAP, Harm.MEMBERSHIP, TABLE)
    assert not found.fits
    assert "Nothing fits: with 5 participants" in found.headline
    assert not found.commands
    enough = int(found.instead[0].split("participants: ")[1].split(" ")[0])
    assert advise(study(enough), Use.HEATMAP, Harm.MEMBERSHIP, TABLE).fits
    assert not advise(study(enough - 1), Use.HEATMAP, Harm.MEMBERSHIP, TABLE).fits


def test_more_participants_never_need_a_larger_epsilon_and_none_is_beyond_moderate() -> None:
    spent = []
    for number in (20, 50, 150):
        found = advise(study(number), Use.HEATMAP, Harm.REIDENTIFICATION, TABLE)
        assert found.utility is not None
        assert useful(found.utility)
        spent.append(Fraction(found.headline.split("ε = ")[1].rstrip(".").split(". ")[0]))
    assert spent == sorted(spent, reverse=True)
    assert max(spent) <= 3 == max(LEVELS)


def test_all_stimuli_are_advised_only_with_enough_participants() -> None:
    assert "all 6 stimuli" in advise(study(100, 6), Use.HEATMAP, Harm.MEMBERSHIP, TABLE).headline
    one = advise(study(20, 6), Use.HEATMAP, Harm.MEMBERSHIP, TABLE)
    assert "one private heatmap" in one.headline
    assert any("other stimuli" in text for text in one.unprotected)


def test_a_level_that_was_not_measured_gets_the_nearest_that_is_no_stronger() -> None:
    found = strongest(TABLE, Use.HEATMAP, Harm.MEMBERSHIP, by_epsilon(("heatmap",), Fraction(2)))
    assert found is not None
    assert (found.value, found.without) == (0.7, 1.0)
    assert "nearest level measured that is no stronger" in found.where
    exact = strongest(TABLE, Use.HEATMAP, Harm.MEMBERSHIP, by_epsilon(("heatmap",), Fraction(1)))
    assert exact is not None
    assert exact.value == 0.6
    assert "nearest" not in exact.where
    assert strongest(TABLE, Use.HEATMAP, Harm.MEMBERSHIP, by_epsilon(("heatmap",), Fraction(4))) is None
    assert strongest(TABLE, Use.HEATMAP, Harm.ATTRIBUTE, by_epsilon(("heatmap",), Fraction(1))) is None


def test_the_words_keep_a_bound_and_a_measured_attack_apart() -> None:
    told = dict(advise(study(50), Use.HEATMAP, Harm.MEMBERSHIP, TABLE).lines())
    assert "proven" in told["bound"]
    assert "the strongest attack that we measured" in told["measured"]
    assert "60 of 100 pairs (95 % interval 55 to 65; guessing 50); without protection in 100" in told["measured"]
    assert "may do better" in told["measured"]


@pytest.mark.parametrize("use", [Use.LIVE, Use.DATASET])
def test_gaze_itself_never_hides_who_took_part(use: Use) -> None:
    found = advise(study(500), use, Harm.MEMBERSHIP, TABLE)
    assert not found.fits
    assert "--use heatmap" in found.instead[0]


def test_live_gaze_is_refused_where_the_strongest_measured_attack_beats_guessing() -> None:
    found = advise(study(30, plane=headset(50, 50)), Use.LIVE, Harm.REIDENTIFICATION, TABLE)
    assert not found.fits
    assert found.attack is not None
    assert found.attack.surely_above_chance
    assert "hplu" in found.headline


def test_live_gaze_is_advised_against_traits_only_where_traits_and_identity_were_at_guessing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plane = headset(50, 50)
    recipe = json.dumps(preset("lphu", space_of(plane)).to_dict())
    trait = {"use": "live", "mechanism": "lphu", "level": "", "recipe": recipe, "harm": "attribute", "metric": "f1",
             "measure": "trait:noisy eyes", "epsilon": None}  # fmt: skip
    at_guessing = stored(trait | {"value": 0.52, "low": 0.4, "high": 0.6})
    known = advise(study(30, plane=plane), Use.LIVE, Harm.ATTRIBUTE, at_guessing)
    assert not known.fits
    assert "with the identity all attributes are known" in known.headline
    assert known.notes[0].startswith("identification: the strongest attack that we measured")
    monkeypatch.setattr(recommending, "of_identification", lambda found: replace(of_identification(found), low=0.0))
    found = advise(study(30, plane=plane), Use.LIVE, Harm.ATTRIBUTE, at_guessing)
    assert found.fits
    assert "lphu" in found.headline
    assert "Nothing is guaranteed about this harm" in found.headline
    above = stored(trait | {"value": 0.9, "low": 0.8, "high": 1.0})
    assert not advise(study(30, plane=plane), Use.LIVE, Harm.ATTRIBUTE, above).fits
    unknown = advise(study(30, plane=plane), Use.LIVE, Harm.ATTRIBUTE, TABLE)
    assert not unknown.fits
    assert "no attack of this kind was measured" in unknown.headline


def test_an_attack_that_does_better_behind_a_stronger_level_counts_for_weaker_ones() -> None:
    odd = stored({"value": 0.8, "low": 0.7, "high": 0.9}, {"epsilon": 3.0, "level": "epsilon=3", "value": 0.6})
    found = strongest(odd, Use.HEATMAP, Harm.MEMBERSHIP, by_epsilon(("heatmap",), Fraction(2)))
    assert found is not None
    assert found.value == 0.8
    assert "that is stronger" in found.where
    alone = stored({"value": 0.8})
    assert strongest(alone, Use.HEATMAP, Harm.MEMBERSHIP, by_epsilon(("heatmap",), Fraction(2))) is None


def test_levels_of_streams_are_told_apart_by_all_their_numbers() -> None:
    space = space_of(headset(50, 50))
    row = {"recipe": json.dumps(preset("mpmu", space).to_dict())}
    assert by_level(preset("mpmu", space))(row) == 0
    assert by_level(preset("mpmu", space, epsilon=1))(row) == pytest.approx(math.log(1.5))
    assert by_level(preset("mpmu", space, epsilon=3))(row) == pytest.approx(-math.log(2))
    assert by_level(preset("mpmu", space, window=1))(row) == pytest.approx(-math.log(1.5))
    assert by_level(preset("mpmu", space, window=1, epsilon=1))(row) is None  # weaker in one, stronger in the other
    assert by_level(preset("gaussian-low", space))(row) is None
    assert by_level(preset("mpmu", space))({"recipe": "{}"}) is None


def test_what_is_stored_answers_for_every_harm_that_it_should() -> None:
    table = kept.measurements()
    assert set(table.columns) == set(kept.COLUMNS)
    one = Fraction(1)
    for use, mechanism in ((Use.HEATMAP, "heatmap"), (Use.FEATURES, "group")):
        found = strongest(table, use, Harm.MEMBERSHIP, by_epsilon((mechanism,), one))
        assert found is not None
        assert 0 <= found.low <= found.value <= found.high <= 1
        assert found.without == 1.0
    lphu = preset("lphu", space_of(headset(50, 50)))
    assert strongest(table, Use.LIVE, Harm.ATTRIBUTE, by_level(lphu)) is not None


def test_bounds_follow_from_epsilon_and_delta() -> None:
    swap, remove = Neighbours.REPLACE_ONE, Neighbours.ADD_REMOVE
    assert "at most 73.2 of 100" in bound_in_words(Fraction(1), Fraction(0), swap)
    assert "at most 88.1 of 100" in bound_in_words(Fraction(1), Fraction(0), remove)
    assert "at most 100.0 of 100" in bound_in_words(Fraction(1), Fraction(1), swap)
    assert level_in_words(Fraction(1), swap).startswith("strong (ε = 1)")
    assert level_in_words(Fraction(1), remove).startswith("moderate (ε = 1)")


def test_a_result_is_useful_only_if_nine_of_ten_studies_beat_no_data() -> None:
    made = Forecast(measure="cc", expected=0.7, low=0.5, high=0.9, without_data=0.4, floor=0.45, basis="")
    assert useful(made)
    assert not useful(Forecast(**{**_plain(made), "without_data": 0.55, "floor": 0.6}))
    error = Forecast(measure="error", expected=0.1, low=0.05, high=0.2, without_data=0.25, floor=0.2, basis="")
    assert useful(error)
    assert not useful(Forecast(**{**_plain(error), "without_data": 0.15}))
    assert not useful(None)
    assert enough_participants(lambda epsilon, number: None, Fraction(1)) is None


def test_feature_series_are_advised_as_the_mean_of_the_group(monkeypatch: pytest.MonkeyPatch) -> None:
    def forecast(epsilon: Fraction, participants: int) -> Forecast:
        high = 1 / (float(epsilon) * participants)
        return Forecast(measure="error", expected=high, low=0, high=high, without_data=0.02, floor=0.018, basis="b")

    monkeypatch.setattr(recommending, "series_forecast", lambda study, design: forecast)
    found = advise(study(60), Use.FEATURES, Harm.REIDENTIFICATION, TABLE)
    assert found.fits
    assert "mean feature series of all participants at ε = 1," in found.headline
    assert found.attack is None
    assert not advise(study(10), Use.FEATURES, Harm.REIDENTIFICATION, TABLE).fits


def test_the_command_prints_the_advice_and_exits_with_1_where_nothing_fits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "measurements", lambda: TABLE)
    file = tmp_path / "study.toml"
    for number, code in ((60, EXIT_OK), (5, EXIT_FINDING)):
        study(number).save(file, overwrite=True)
        asked = ["advise", str(file), "--use", "heatmap", "--harm", "membership"]
        assert run(asked) == code
        printed = capsys.readouterr().out
        assert run([*asked, "--json"]) == code
        told = json.loads(capsys.readouterr().out)
        assert told["fits"] is (code == EXIT_OK)
        assert told["headline"] in printed
        assert set(told["not_protected"]) == {line[10:] for line in printed.splitlines() if line.startswith("not from")}
    assert run(["advise", str(file), "--use", "moon", "--harm", "membership"]) == EXIT_USAGE


def test_a_secret_number_of_participants_needs_a_public_guess() -> None:
    with pytest.raises(InputError, match="number of participants is secret"):
        advise(study(0, who=Participants(secret=True)), Use.HEATMAP, Harm.MEMBERSHIP, TABLE)


def _plain(forecast: Forecast) -> dict[str, Any]:
    return {
        name: getattr(forecast, name)
        for name in ("measure", "expected", "low", "high", "without_data", "floor", "basis")
    }


def test_a_high_rate_of_few_people_does_not_hide_an_attack_that_surely_beats_guessing() -> None:
    table = stored({"value": 0.66, "low": 0.45, "high": 0.85, "measure": "few"}, {"value": 0.6, "low": 0.57})
    found = strongest(table, Use.HEATMAP, Harm.MEMBERSHIP, by_epsilon(("heatmap",), Fraction(1)))
    assert found is not None
    assert found.surely_above_chance
    assert found.attack == "`membership`"


def test_who_can_become_how_sure_is_said_with_the_chance_that_it_fails() -> None:
    assert "except" not in level_in_words(Fraction(1), Neighbours.REPLACE_ONE)
    told = level_in_words(Fraction(1), Neighbours.REPLACE_ONE, delta=Fraction(1, 10**6))
    assert "73.2 % sure, except with a chance of at most δ = 1e-06." in told
