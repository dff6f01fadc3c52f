# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""At which rate to look at gaze: chosen inside the reference, and never on a query.

Features count in samples. At 250 Hz and more they describe the noise of a tracker in a session rather than the eye, and
who is known from one day is not recognised on the next. Averaging to a slower rate helps, but how slow?

- Known from several sessions: sessions are left out, half of each participant's at a time, and the rate that ranks
  participants highest in them is taken.
- Known from one session alone, a faster rate always looks better, because it also shows what is the session's own. So
  the slowest rate is taken at which not surely fewer participants are recognised in the other half of the session.

Gaze at up to 100 Hz stays as it is: recognisers were made on such gaze, and slower was worse there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from gazeveil.arrays import BoolArray, FloatArray
from gazeveil.errors import InputError, OptionError
from gazeveil.lab.attacks.contract import Gallery, Trial
from gazeveil.lab.attacks.recognisers._galleries import ScoredGallery

FAST_HZ: Final = 100.0
"""Above this, slower rates are tried."""
SLOWEST_HZ: Final = 30.0
"""No rate below this is tried."""
SURELY: Final = 0.05
"""How rarely chance may lose this many participants, for a rate to be surely worse."""
_FASTER = 1.5

Enrol = Callable[[Sequence[Trial]], Gallery]
"""Learns participants from trials at whatever rate they have."""
Found = dict[tuple[str, str, int], float]
"""One over the rank of the right participant, by participant, session and half asked about; 0 without a usable window.
"""


def check_rate(rate_hz: float | None) -> None:
    """Refuse what is no rate.

    Raises:
        OptionError: If it is not above 0.
    """
    if rate_hz is not None and not rate_hz > 0:
        raise OptionError(f"the rate must be above 0 Hz, not {rate_hz!r}", hint="leave it out to have it chosen")


def at_best_rate(reference: Sequence[Trial], enrol: Enrol, rate_hz: float | None) -> Gallery:
    """Enrol participants at a rate, and ask about everyone at the same.

    Args:
        reference: Trials of known participants.
        enrol: What learns from them; it must not choose a rate itself.
        rate_hz: The rate; infinite for gaze as it was recorded, None for the one that the reference favours.
    """
    rate = best_rate(reference, enrol) if rate_hz is None else rate_hz
    gallery = enrol([averaged(trial, rate) for trial in reference])
    return ScoredGallery(gallery.people, lambda query: gallery.windows(averaged(query, rate)))


def best_rate(reference: Sequence[Trial], enrol: Enrol) -> float:
    """Return the rate that the reference favours; it depends on nothing else."""
    rates = candidates(min((trial.rate_hz for trial in reference), default=FAST_HZ))
    if len(rates) == 1:
        return rates[0]
    halves, across_sessions = _halves(reference)
    found = {rate: _recognised(halves, enrol, rate) for rate in rates}
    if across_sessions:
        return max(rates, key=lambda rate: (round(_mean(found[rate]), 9), -rate))
    best = max(rates, key=lambda rate: (_right(found[rate]), -rate))
    return min(rate for rate in rates if not _surely_worse(found[rate], found[best]))


def candidates(rate_hz: float) -> tuple[float, ...]:
    """Return the rates to try, fastest first: half, a quarter, … of a fast one."""
    if rate_hz <= FAST_HZ:
        return (rate_hz,)
    return tuple(rate_hz / 2**times for times in range(math.floor(math.log2(rate_hz / SLOWEST_HZ)) + 1))


def averaged(trial: Trial, rate_hz: float) -> Trial:
    """Return a trial at a slower rate: means of what falls into one step, missing where less than half is there.

    Pupil is averaged too. A trial that is not faster by half stays as it is.
    """
    if trial.rate_hz < _FASTER * rate_hz or not len(trial.t):
        return trial
    step = 1.0 / rate_hz
    slot = np.floor((trial.t - trial.t[0]) / step + 1e-6).astype(np.int64)
    slots = int(slot[-1]) + 1
    there = np.bincount(slot, minlength=slots)

    def mean(values: FloatArray) -> FloatArray:
        known = np.isfinite(values)
        count = np.bincount(slot[known], minlength=slots)
        total = np.bincount(slot[known], values[known], slots)
        enough = (count > 0) & (2 * count >= there)
        return np.asarray(np.divide(total, count, out=np.full(slots, np.nan), where=enough))

    return replace(
        trial,
        t=trial.t[0] + (np.arange(slots) + 0.5) * step,
        x=mean(trial.x),
        y=mean(trial.y),
        rate_hz=rate_hz,
        pupil=None if trial.pupil is None else mean(trial.pupil),
        fields={},
    )


def _halves(reference: Sequence[Trial]) -> tuple[tuple[list[Trial], list[Trial]], bool]:
    """Part each participant's sessions in two, or their trials where there is one session, or the one trial by time.

    All draws of a trial go into one half.
    """
    met: dict[str, dict[str, dict[str, list[Trial]]]] = {}
    for trial in reference:
        met.setdefault(trial.person, {}).setdefault(trial.session, {}).setdefault(trial.name, []).append(trial)
    across = all(len(sessions) > 1 for sessions in met.values())
    halves: tuple[list[Trial], list[Trial]] = [], []
    for sessions in met.values():
        if across:
            for number, session in enumerate(sorted(sessions)):
                halves[number % 2].extend(one for draws in sessions[session].values() for one in draws)
            continue
        trials = [draws for names in sessions.values() for draws in names.values()]
        for number, draws in enumerate(trials):
            for one in draws:
                if len(trials) > 1:
                    halves[number >= len(trials) // 2].append(one)
                else:
                    first, second = _cut_in_two(one)
                    halves[0].append(first)
                    halves[1].append(second)
    return halves, across


def _cut_in_two(trial: Trial) -> tuple[Trial, Trial]:
    late = trial.t >= (trial.t[0] + trial.t[-1]) / 2 if len(trial.t) else np.zeros(0, dtype=np.bool_)
    return _part(trial, ~late), _part(trial, late)


def _part(trial: Trial, kept: BoolArray) -> Trial:
    pupil = None if trial.pupil is None else trial.pupil[kept]
    return replace(trial, t=trial.t[kept], x=trial.x[kept], y=trial.y[kept], pupil=pupil, fields={})


def _recognised(halves: tuple[list[Trial], list[Trial]], enrol: Enrol, rate: float) -> Found:
    """Ask about each half, known from the other; all trials of a participant in a session speak together."""
    found: Found = {}
    for half, asked in enumerate(halves):
        heard: dict[tuple[str, str, int], list[FloatArray]] = {
            (trial.person, trial.session, half): [] for trial in asked
        }
        people: tuple[str, ...] = ()
        try:
            gallery = enrol([averaged(trial, rate) for trial in halves[1 - half]])
        except InputError:  # too little to learn from, which counts against the rate
            pass
        else:
            people = gallery.people
            for trial in asked:
                scores = gallery.windows(averaged(trial, rate).anonymous())
                if len(scores):
                    heard[trial.person, trial.session, half].append(scores.mean(axis=0))
        for key, rows in heard.items():
            found[key] = 0.0
            if rows and key[0] in people:
                scores = np.mean(rows, axis=0)
                found[key] = 1.0 / int((scores >= scores[people.index(key[0])]).sum())
    return found


def _mean(found: Found) -> float:
    return float(np.mean(list(found.values()))) if found else 0.0


def _right(found: Found) -> int:
    return sum(value == 1.0 for value in found.values())


def _surely_worse(slow: Found, best: Found) -> bool:
    """Whether chance alone would rarely lose this many.

    The sign test over those who are recognised at one rate alone.
    """
    lost = sum(best[key] == 1.0 and slow[key] < 1.0 for key in best)
    won = sum(slow[key] == 1.0 and best[key] < 1.0 for key in best)
    ways = sum(math.comb(lost + won, number) for number in range(lost, lost + won + 1))
    return bool(ways / 2 ** (lost + won) <= SURELY)
