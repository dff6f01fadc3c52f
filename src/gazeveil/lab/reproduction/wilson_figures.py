# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Figure 2 of Wilson et al. 2024: accuracy, hits and identification over the strength of mechanisms.

How many hits on objects survive each mechanism, over its strength, and who is identified.

The paper's own recordings are not public. Ours are of participants who look for objects in a virtual room; the objects
are the areas of interest. Which object a veiled line of sight hits is worked out as in the file `object_hits`. Hits are
scored as in the paper: F1 over all objects, weighted by how long each was looked at; for each session, then averaged.
The paper draws its figure without numbers, so its shape is what can be compared. How often participants are identified
is measured by `gazeveil.lab.reproduction.wilson_figures`.

Strengths K and B are counted in samples, as in the paper. It had 72 samples a second, ours are about 90.

2024: how often participants are identified behind each mechanism, over its strength.

As in the paper, queries are veiled and the reference is not; nobody attacks the mechanism. The paper draws its curves
without numbers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from gazeveil.arrays import PlainRow, Tell, silent
from gazeveil.display import canvas
from gazeveil.errors import OptionError
from gazeveil.files import write_all
from gazeveil.lab.attacks.judging import Judge, Stage
from gazeveil.lab.datasets import VrSession, vr_sessions
from gazeveil.lab.experiments.stream_errors import Run, agreement_held_out, agreement_of_raw, score
from gazeveil.lab.reproduction.wilson_tables import Plan, judges_of
from gazeveil.lab.utility.label_agreement import AoiHits
from gazeveil.noise import NoiseSource
from gazeveil.samples.mechanism import MECHANISMS, SampleMechanism
from gazeveil.samples.space import Sphere

if TYPE_CHECKING:
    from gazeveil.lab.reproduction.wilson_tables import Plan


@dataclass(frozen=True, slots=True)
class Sweep:
    """One mechanism over its strengths.

    Attributes:
        symbol: What the paper calls the strength.
        mechanism: Its name in the registry.
        parameter: What the mechanism calls the strength.
        strengths: What is tried, up to the paper's largest.
        low: The paper's low setting; None if it chose none.
        high: The paper's high setting.
        random: Whether repeats differ.
        options: Other parameters.
    """

    symbol: str
    mechanism: str
    parameter: str
    strengths: tuple[float, ...]
    low: float | None
    high: float | None
    random: bool = False
    options: tuple[tuple[str, Any], ...] = ()


_LENGTHS = (12, 24, 48, 96, 144, 192, 256)

SWEEPS: Final[Mapping[str, Sweep]] = {
    "gaussian": Sweep("σ (°)", "gaussian", "sigma", (0.5, 1, 2, 3, 5, 8, 12, 16, 20), 1, 3, random=True),
    "spatial": Sweep("L", "spatial", "factor", _LENGTHS, 48, 144, options=(("centred", False),)),
    "spatial, centred": Sweep("L", "spatial", "factor", _LENGTHS, 48, 144, options=(("centred", True),)),
    "temporal": Sweep("K", "temporal", "keep_every", (2, 5, 10, 15, 20, 25, 30), None, None),
    "smoothing": Sweep(
        "B", "smoothing", "window", (10, 25, 50, 100, 150, 200, 300), 50, 150, options=(("start_with", "zeros"),)
    ),
}
"""The paper's four as published, and its grid with points in the middle of cells, which removes a bias (W4)."""


@dataclass(frozen=True, slots=True)
class Retention(PlainRow):
    """How many hits survive one mechanism at one strength.

    Attributes:
        veil: Name of the mechanism.
        strength: Its strength; 0 is no mechanism.
        f1: Weighted F1, mean over sessions.
        precision: Weighted precision.
        recall: Weighted recall.
        se: Standard error of F1 over sessions.
        sessions: How many.
    """

    veil: str
    strength: float
    f1: float
    precision: float
    recall: float
    se: float
    sessions: int


NOTE: Final = "The paper gives no numbers, only curves, in which smoothing keeps the fewest hits."
_HALF = "This is the utility half of the figure alone: who can still be identified is another measurement. "
_OTHER = "This is the privacy half alone: hits need recordings that name the objects (--data). "
_QUICK_SESSIONS = 4

Make = Callable[[str, float], Run]
"""What makes a mechanism of a name and a strength."""


def mechanism_of(name: str, strength: float) -> SampleMechanism:
    """Return a mechanism at one strength, over directions in the head."""
    sweep = SWEEPS[name]
    return MECHANISMS[sweep.mechanism](Sphere(), **{sweep.parameter: strength}, **dict(sweep.options))


def veil_of(name: str, strength: float) -> Run:
    """Return a mechanism at one strength as something to run over arrays."""
    mechanism = mechanism_of(name, strength)
    return lambda noise, t, x, y: mechanism.start(noise).run(t, x, y)


def reproduce(
    figure: int,
    out: Path | None = None,
    *,
    data: Path | None,
    repeats: int = 3,
    quick: bool = False,
    sweeps: Mapping[str, Sweep] = SWEEPS,
    plan: Plan | None = None,
    tell: Tell = silent,
) -> dict[str, Any]:
    """Measure figure 2; with a folder, draw it there and write its numbers beside.

    Args:
        figure: 2.
        out: Where to write.
        data: The folder of the recordings in the headset; without it, hits cannot be measured.
        repeats: How often the mechanism with noise is run.
        quick: A few sessions, once.
        sweeps: Which mechanisms, over which strengths.
        plan: How participants are told apart; without one, only the utility half is measured.
        tell: Called with the progress.

    Raises:
        OptionError: If there is no such figure.
        OutputError: If the folder cannot be written; it then holds nothing half written.
    """
    if figure != 2:
        raise OptionError(f"figure {figure} is not measured here", hint="choose 2: hits on objects over strength")
    if out is not None:
        canvas()  # says at once, not after the work, that what draws is not installed
    if data is None and plan is None:
        raise OptionError("hits on objects need the recordings in the headset", hint="say where they are with --data")
    sessions = [] if data is None else vr_sessions(data)
    if quick:
        sessions, repeats = sessions[:: max(1, len(sessions) // _QUICK_SESSIONS)], 1
    rows = [held_out(sessions), *retention(sessions, repeats=repeats, sweeps=sweeps, tell=tell)] if sessions else []
    named = [] if plan is None else _named(plan, sweeps, tell)
    told: dict[str, Any] = {
        "paper": "Wilson et al. 2024",
        "figure": 2,
        "half": "both" if named else "utility",
        "sessions": len(sessions),
        "repeats": repeats,
        "note": _note(bool(rows), bool(named)),
        "rows": [row.to_dict() | {"setting": _setting(row.veil, row.strength)} for row in rows],
        "identification": [row.to_dict() | {"setting": _setting(row.veil, row.strength)} for row in named],
    }
    if out is None:
        return told
    from gazeveil.lab.experiments.plots import hits_over_strength  # noqa: PLC0415  (it draws what is made here)

    stem = "figure-2" if named else "figure-2-utility"
    files = {
        f"{stem}.png": hits_over_strength(rows, named),
        f"{stem}.json": (json.dumps(told, indent=1, ensure_ascii=False) + "\n").encode(),
    }
    return {**told, "files": write_all(out, files)}


def retention(
    sessions: Sequence[VrSession],
    *,
    repeats: int = 3,
    seed: int = 1,
    make: Make = veil_of,
    sweeps: Mapping[str, Sweep] = SWEEPS,
    tell: Tell = silent,
) -> list[Retention]:
    """Return the curve of each mechanism, and of no mechanism at all, over some sessions.

    Args:
        sessions: The sessions.
        repeats: How often a mechanism with noise is run.
        seed: All noise follows from it.
        make: What makes the mechanisms.
        sweeps: Which mechanisms, over which strengths.
        tell: Called with how many strengths are done.
    """
    if repeats < 1 or not sessions:
        raise OptionError(f"at least one repeat and one session are needed, not {repeats} and {len(sessions)}")
    points = [(name, strength) for name, sweep in sweeps.items() for strength in sweep.strengths]
    rows = [_row("none", 0.0, [_scores(agreement_of_raw(session)) for session in sessions])]
    for done, (name, strength) in enumerate(points, start=1):
        run, times = make(name, strength), repeats if sweeps[name].random else 1
        scores = [
            np.mean(
                [_veiled(session, run, f"{name}/{strength:g}/{number}/{time}", seed) for time in range(times)], axis=0
            )
            for number, session in enumerate(sessions)
        ]
        rows.append(_row(name, strength, scores))
        tell(done, len(points))
    return rows


def held_out(sessions: Sequence[VrSession]) -> Retention:
    """Return how true gaze scores where the map of objects has not seen it: what the map is worth in new places."""
    return _row("none, held out", 0.0, [_scores(agreement_held_out(session)) for session in sessions])


def _note(hits: bool, named: bool) -> str:
    return ("" if hits and named else _HALF if hits else _OTHER) + NOTE


def _named(plan: Plan, sweeps: Mapping[str, Sweep], tell: Tell) -> list[Named]:

    return identification(plan, sweeps=sweeps, tell=tell)


def _setting(veil: str, strength: float) -> str:
    sweep = SWEEPS.get(veil)
    names = {sweep.low: "low", sweep.high: "high"} if sweep else {}
    return names.get(strength, "")


def _veiled(session: VrSession, run: Run, label: str, seed: int) -> tuple[float, float, float]:
    yaw, pitch = run(NoiseSource.seeded(seed).spawn(label), session.t, session.yaw, session.pitch)
    return _scores(score(session, yaw, pitch))


def _scores(hits: AoiHits) -> tuple[float, float, float]:
    return hits.weighted("f1"), hits.weighted("precision"), hits.weighted("recall")


def _row(name: str, strength: float, scores: Sequence[Any]) -> Retention:
    table = np.array(scores)
    se = float(table[:, 0].std(ddof=1)) / math.sqrt(len(table)) if len(table) > 1 else math.nan
    f1, precision, recall = table.mean(axis=0).tolist()
    return Retention(name, strength, f1, precision, recall, se, len(table))


# --- The privacy half of figure 2 of Wilson et al.


@dataclass(frozen=True, slots=True)
class Named(PlainRow):
    """How often participants are identified behind one mechanism at one strength.

    Attributes:
        recogniser: Who tells them apart.
        veil: Name of the mechanism.
        strength: Its strength; 0 is no mechanism.
        accuracy: Share of records whose participant is identified.
        low: Where that lies at least, over participants resampled.
        high: Where that lies at most.
        chance: What guessing gives.
    """

    recogniser: str
    veil: str
    strength: float
    accuracy: float
    low: float
    high: float
    chance: float


def identification(plan: Plan, *, sweeps: Mapping[str, Sweep] = SWEEPS, tell: Tell = silent) -> list[Named]:
    """Return the curve of each mechanism, and no mechanism first, for every recogniser of a plan."""
    judges = judges_of(plan)
    points = [("none", 0.0), *((name, strength) for name, sweep in sweeps.items() for strength in sweep.strengths)]
    rows: list[Named] = []
    for done, (name, strength) in enumerate(points, start=1):
        mechanism = None if name == "none" else mechanism_of(name, strength)
        stage = next(iter(judges.values())).stage(mechanism)
        rows.extend(_named_row(judge, name, strength, stage) for judge in judges.values())
        tell(done, len(points))
    return rows


def _named_row(judge: Judge, name: str, strength: float, stage: Stage) -> Named:
    told = judge.measure(stage)
    low, high = told.accuracy_interval
    return Named(told.recogniser, name, float(strength), told.accuracy, low, high, told.chance)
