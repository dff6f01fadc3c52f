# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Neighbouring corpora: the same study, with one participant replaced by somebody whose recordings are odd.

Whatever the replacement did, a release under one declaration must look the same but for its noisy numbers.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.features.bins import BinRules, bin_ranges
from gazeveil.features.design_learning import learn
from gazeveil.gaze.aoi import AreasOfInterest, Rectangle
from gazeveil.gaze.corpus import write_corpus
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import screen
from gazeveil.release.study import Participants, Recordings, Stimulus, Study
from gazeveil.release.study_toml import write_study

PLANE = screen(800, 600, 400, 300, 600)
RATE = 50.0
SECONDS = 8.0
STIMULI = ("forest", "harbour")
REPLACED = "p\u00e9ter"  # a name with two spellings
PEOPLE = ("anna", "bo", "carla", "dirk", REPLACED)

Rng = np.random.Generator


def study() -> Study:
    """Return the declaration that all of these corpora are released under."""
    return Study(
        name="neighbours",
        participants=Participants(roster=PEOPLE),
        stimuli=tuple(Stimulus(name=name, screen=PLANE, seconds=SECONDS) for name in STIMULI),
        recordings=Recordings(rate_hz=RATE, pupil_unit="mm"),
    )


def plain(
    rng: Rng, observer: str, stimulus: str, seconds: float = SECONDS, *, session: str = "1", trial: str = "1"
) -> Recording:
    """Return somebody who looked here and there."""
    count = max(int(seconds * RATE), 1)
    places = rng.uniform((100, 100), (700, 500), (max(count // 12, 1) + 1, 2))
    points = np.repeat(places, 12, axis=0)[:count] + rng.normal(0, 2, (count, 2))
    return Recording(
        np.arange(count) / RATE,
        points[:, 0],
        points[:, 1],
        PLANE,
        observer=observer,
        stimulus=stimulus,
        pupil=rng.uniform(2, 5, count),
        pupil_unit="mm",
        rate_hz=RATE,
        session=session,
        trial=trial,
    )


def _as_usual(rng: Rng) -> Iterator[Recording]:
    for stimulus in STIMULI:
        yield plain(rng, REPLACED, stimulus)


def _absent(rng: Rng) -> Iterator[Recording]:
    yield from ()


def _stopped_early(rng: Rng) -> Iterator[Recording]:
    yield plain(rng, REPLACED, STIMULI[0], seconds=float(rng.uniform(0.02, 3)))


def _recorded_twice(rng: Rng) -> Iterator[Recording]:
    for stimulus in STIMULI:
        for trial in ("1", "2", "3"):
            yield plain(rng, REPLACED, stimulus, trial=trial)


def _other_sessions(rng: Rng) -> Iterator[Recording]:
    for session in ("1", "day-2", "Ω"):
        yield plain(rng, REPLACED, STIMULI[0], session=session)


def _clock_ran_back(rng: Rng) -> Iterator[Recording]:
    for stimulus in STIMULI:
        usual = plain(rng, REPLACED, stimulus)
        times = usual.t.copy()
        times[len(times) // 2 :] -= 3.0
        yield replace(usual, t=times)


def _clock_of_no_numbers(rng: Rng) -> Iterator[Recording]:
    usual = plain(rng, REPLACED, STIMULI[0])
    odd = rng.choice([np.nan, np.inf, -np.inf, 1e300, -1e300, 0.0], len(usual))
    yield replace(usual, t=odd)


def _gaze_of_no_numbers(rng: Rng) -> Iterator[Recording]:
    for stimulus in STIMULI:
        usual = plain(rng, REPLACED, stimulus)
        odd = rng.choice([np.nan, np.inf, -np.inf, 1e308, -1e308, 0.0, 799.0], (2, len(usual)))
        yield replace(usual, x=odd[0], y=odd[1], valid=None, pupil=odd[0])


def _never_tracked(rng: Rng) -> Iterator[Recording]:
    for stimulus in STIMULI:
        usual = plain(rng, REPLACED, stimulus)
        yield replace(usual, valid=np.zeros(len(usual), dtype=np.bool_))


def _parked_in_the_corner(rng: Rng) -> Iterator[Recording]:
    usual = plain(rng, REPLACED, STIMULI[1])
    yield replace(usual, x=np.zeros(len(usual)), y=np.zeros(len(usual)))


def _other_screen(rng: Rng) -> Iterator[Recording]:
    for stimulus in STIMULI:
        yield replace(plain(rng, REPLACED, stimulus), geometry=screen(1024, 768, 400, 300, 600))


def _farther_away(rng: Rng) -> Iterator[Recording]:
    for stimulus in STIMULI:
        yield replace(plain(rng, REPLACED, stimulus), geometry=screen(800, 600, 400, 300, 640))


def _page_of_their_own(rng: Rng) -> Iterator[Recording]:
    yield plain(rng, REPLACED, STIMULI[0])
    yield plain(rng, REPLACED, "a page that nobody else saw")


def _other_spelling(rng: Rng) -> Iterator[Recording]:
    for stimulus in STIMULI:
        yield plain(rng, unicodedata.normalize("NFD", REPLACED), stimulus)
        yield plain(rng, REPLACED, stimulus, trial="2")


def _other_tracker(rng: Rng) -> Iterator[Recording]:
    for stimulus in STIMULI:
        yield replace(plain(rng, REPLACED, stimulus), rate_hz=500.0, pupil_unit="px")


def _no_pupil(rng: Rng) -> Iterator[Recording]:
    for stimulus in STIMULI:
        yield replace(plain(rng, REPLACED, stimulus), pupil=None, pupil_unit="", rate_hz=None)


def _somebody_unknown(rng: Rng) -> Iterator[Recording]:
    yield plain(rng, "somebody who is not in the roster", STIMULI[0])


def list_study() -> Study:
    """Return the declaration of the same study, of which lists of fixations were recorded."""
    return replace(study(), recordings=Recordings(fixations=("start", "duration")))


def a_list(rng: Rng, observer: str, stimulus: str, *, trial: str = "1") -> Recording:
    """Return somebody's list of fixations."""
    lasted: FloatArray = rng.uniform(0.1, 0.5, 20).round(3)
    x, y = rng.uniform((100, 100), (700, 500), (20, 2)).T
    began: FloatArray = np.cumsum(lasted + 0.03) - lasted
    return Recording(
        np.asarray(began, dtype=np.float64), x, y, PLANE, observer, stimulus, trial=trial, durations=lasted
    )


_ODD = np.array([np.nan, np.inf, -np.inf, 1e300, -1e300, -0.2, 0.0, 1e-9, 0.3, 3600.0])


def _usual_lists(rng: Rng) -> Iterator[Recording]:
    for stimulus in STIMULI:
        yield a_list(rng, REPLACED, stimulus)


def _odd_durations(rng: Rng) -> Iterator[Recording]:
    for stimulus in STIMULI:
        yield replace(a_list(rng, REPLACED, stimulus), durations=rng.choice(_ODD, 20))


def _no_durations(rng: Rng) -> Iterator[Recording]:
    yield replace(a_list(rng, REPLACED, STIMULI[0]), durations=np.full(20, np.nan))


def _endless_list(rng: Rng) -> Iterator[Recording]:
    x, y = rng.uniform(0, 600, (2, 100_000))
    yield Recording(np.linspace(0, 6e6, 100_000), x, y, PLANE, REPLACED, STIMULI[0], durations=np.full(100_000, 1e9))


def _odd_starts(rng: Rng) -> Iterator[Recording]:
    for stimulus in STIMULI:
        yield replace(a_list(rng, REPLACED, stimulus), t=rng.choice(_ODD, 20))


def _odd_places(rng: Rng) -> Iterator[Recording]:
    yield replace(a_list(rng, REPLACED, STIMULI[0]), x=rng.choice(_ODD, 20), valid=None)


def _empty_list(rng: Rng) -> Iterator[Recording]:
    yield a_list(rng, REPLACED, STIMULI[0]).take(np.zeros(20, dtype=np.bool_))


def _lists_of_many_trials(rng: Rng) -> Iterator[Recording]:
    for trial in "123":
        yield a_list(rng, REPLACED, STIMULI[0], trial=trial)


REPLACEMENTS: dict[str, Callable[[Rng], Iterator[Recording]]] = {
    make.__name__.strip("_"): make
    for make in (
        _as_usual,
        _absent,
        _stopped_early,
        _recorded_twice,
        _other_sessions,
        _clock_ran_back,
        _clock_of_no_numbers,
        _gaze_of_no_numbers,
        _never_tracked,
        _parked_in_the_corner,
        _other_screen,
        _farther_away,
        _page_of_their_own,
        _other_spelling,
        _other_tracker,
        _no_pupil,
        _somebody_unknown,
        _usual_lists,
    )
}
"""Who may take the place of one participant, by what is odd about them."""


LISTS: dict[str, Callable[[Rng], Iterator[Recording]]] = {
    "as_usual": _usual_lists,
    **{
        make.__name__.strip("_"): make
        for make in (
            _absent,
            _odd_durations,
            _no_durations,
            _endless_list,
            _odd_starts,
            _odd_places,
            _empty_list,
            _lists_of_many_trials,
        )
    },
    "samples": _as_usual,
}
"""Who may take the place of one participant whose lists of fixations were recorded."""


def write_lists_with(replacement: str, folder: Path, seed: int = 0) -> Path:
    """Write the corpus of lists with one participant replaced."""
    others = np.random.default_rng(1)
    rest = [a_list(others, name, stimulus) for name in PEOPLE[:-1] for stimulus in STIMULI]
    write_corpus([*rest, *LISTS[replacement](np.random.default_rng([2, seed]))], folder)
    return folder


def write_corpus_with(replacement: str, folder: Path, seed: int = 0) -> Path:
    """Write the study's corpus with one participant replaced; everybody else is the same in all of them."""
    others = np.random.default_rng(1)
    rest = [plain(others, name, stimulus) for name in PEOPLE[:-1] for stimulus in STIMULI]
    write_corpus([*rest, *REPLACEMENTS[replacement](np.random.default_rng([2, seed]))], folder)
    return folder


def write_declaration(path: Path) -> Path:
    """Write the study's declaration."""
    write_study(study(), path, overwrite=True)
    return path


def write_design(path: Path) -> Path:
    """Write a public design for bins of half a second, from made-up people."""
    ranges = bin_ranges(BinRules())
    public = np.random.default_rng(3).beta(5, 5, (12, int(2 * SECONDS), len(ranges)))
    return learn([public], ranges, "made up").save(path)


def write_areas(path: Path) -> Path:
    """Write areas of interest on the screen."""
    areas = (Rectangle("left", 0, 0, 400, 600), Rectangle("right", 400, 0, 800, 600))
    AreasOfInterest(areas, PLANE).to_json(path)
    return path
