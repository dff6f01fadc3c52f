# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What is shown as undone: the strongest measured filters, on a stream that somebody comes upon in its middle."""

from __future__ import annotations

import io
import itertools
import json

import numpy as np
import pytest

from gazeveil.arrays import FloatArray
from gazeveil.cli.serve import preview
from gazeveil.gateway.simulated_trackers import simulated
from gazeveil.geometry import Geometry, headset, screen
from gazeveil.lab.attacks import live_filter
from gazeveil.lab.attacks.threats.mirrored import BEST_FIRST
from gazeveil.noise import NoiseSource
from gazeveil.samples.mechanism import SampleMechanism
from gazeveil.samples.recipes import preset
from gazeveil.samples.space import space_of

SCREEN = screen(1920, 1080, 527, 296, 600)


def eyes(geometry: Geometry, seconds: float = 30.0) -> FloatArray:
    """Gaze of a simulated person without blinks, 60 times a second, in the unit of a plane."""
    drawn = itertools.islice(simulated(geometry, seed=2), int(60 * seconds))
    gaze = np.array([(sample.t, sample.x, sample.y) for sample in drawn])
    there = np.isfinite(gaze[:, 1])
    for axis in (1, 2):
        gaze[:, axis] = np.interp(gaze[:, 0], gaze[there, 0], gaze[there, axis])
    return gaze


def veiled(mechanism: SampleMechanism, gaze: FloatArray) -> FloatArray:
    return np.column_stack([gaze[:, 0], *mechanism.start(NoiseSource.seeded(3)).run(*gaze.T.copy())])


def error(guess: FloatArray, gaze: FloatArray) -> float:
    return float(np.sqrt(((guess[:, 1:] - gaze[-len(guess) :, 1:]) ** 2).sum(axis=1).mean()))


@pytest.mark.parametrize(
    ("name", "best", "left", "geometry"),
    [
        ("lphu", "saccade-model", 0.95, SCREEN),
        ("gaussian-high", "saccade-model", 0.7, SCREEN),
        ("temporal-high", "saccade-model", 0.95, SCREEN),
        ("spatial-high", "spatial-dither", 0.98, SCREEN),
        ("smoothing-high", "inverse-smoothing", 0.05, SCREEN),
        ("gaussian-high", "saccade-model", 0.7, headset(100, 90)),
    ],
    ids=lambda each: str(each)[:20],
)
def test_a_filter_gets_closer_to_gaze_from_the_middle_of_a_stream_on(
    name: str, best: str, left: float, geometry: Geometry
) -> None:
    """Noise and eyes have seeds: this does not fail by chance."""
    mechanism = preset(name, space_of(geometry))
    gaze = eyes(geometry)
    shown = veiled(mechanism, gaze)
    assert live_filter.filter_for(mechanism) == best
    later = slice(1007, None)
    guess = live_filter.undone(mechanism.to_dict(), geometry, shown[later])
    settled = slice(150, None)
    assert error(guess[settled], gaze) < left * error(shown[later][settled], gaze)


def test_the_filters_are_those_that_the_strongest_attack_tries_first() -> None:
    assert [each.name for each in live_filter.FILTERS] == [
        *BEST_FIRST[:-1]
    ]  # the last learns from strangers, for minutes


def test_a_screen_of_unknown_size_is_taken_as_usual() -> None:
    plain = screen(1920, 1080)
    mechanism = preset("lphu", space_of(plain))
    guess = live_filter.undone(mechanism.to_dict(), plain, veiled(mechanism, eyes(plain, 10.0)))
    assert np.isfinite(guess).all()
    assert len(guess) == 600


def test_questions_are_answered_one_after_the_other() -> None:
    mechanism = preset("gaussian-low", space_of(SCREEN))
    shown = veiled(mechanism, eyes(SCREEN, 4.0))
    head = {"veil": mechanism.to_dict(), "geometry": SCREEN.to_dict(), "points": len(shown)}
    question = json.dumps(head).encode() + b"\n" + shown.tobytes()
    none = json.dumps({**head, "veil": {**mechanism.to_dict(), "sigma": -1}}).encode() + b"\n" + shown.tobytes()
    answers = io.BytesIO()
    live_filter.answer(io.BytesIO(question + none + question), answers)
    answers.seek(0)
    for points in (len(shown), 0, len(shown)):
        assert json.loads(answers.readline()) == {"points": points}
        guess = np.frombuffer(answers.read(24 * points)).reshape(-1, 3)
        assert (guess[:, 0] == shown[: len(guess), 0]).all()
    assert answers.read() == b""


def test_the_gateway_is_handed_this_program() -> None:
    undo = preview()
    assert undo is not None
    assert undo.module == live_filter.__name__
    assert undo.filter_for(preset("lphu", space_of(SCREEN))) == "saccade-model"


def test_a_gateway_without_the_lab_shows_nothing_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=what)

    monkeypatch.setattr("gazeveil.cli.serve.importlib.import_module", missing)
    what = "gazeveil.lab"
    assert preview() is None
    what = "numpy"
    with pytest.raises(ModuleNotFoundError):
        preview()
