# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings behind baselines and veils: who is still identified, in three ways, and what is left of gaze.

- **linked**: participants are known from raw gaze, and one asks whose a protected recording is (as Wilson 2024).
- **published**: participants are known from the protected recordings, under their names, and raw gaze is asked about
  (as David-John 2022 and 2023: a published data set, and an attacker who records someone).
- **both**: participants are known from protected recordings of some sessions, and asked about in those of another.

Everyone is known from all other sessions. A baseline protects all recordings of a set in one go. Intervals are over
participants.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gazeveil.arrays import PlainRow, Tell, silent
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import Geometry
from gazeveil.lab.attacks.contract import Prepared, Recogniser, Trial
from gazeveil.lab.attacks.judging.judge import Judge, Stage
from gazeveil.lab.attacks.trials import without_pupil
from gazeveil.lab.baselines.event_synth import EventSynth
from gazeveil.lab.baselines.recordings_together import DatasetMechanism
from gazeveil.lab.experiments.identity_data import IdentitySet
from gazeveil.lab.experiments.peers.naming import SAMPLE_PEERS, sample_peer
from gazeveil.lab.utility.streams.pair import METRICS, Pair
from gazeveil.noise import NoiseSource
from gazeveil.samples.mechanism import SampleMechanism

Interval = tuple[float, float]
THREATS = ("linked", "published", "both")
UTILITIES = ("rmse_deg", "aoi_f1", "saliency_cc")


@dataclass(frozen=True, slots=True)
class Row(PlainRow):
    """One baseline on one set.

    Attributes:
        people: Name of the set.
        peer: The baseline as it was named.
        claimed: What its authors state; empty for none.
        guarantee: What we can say about it.
        identified: By recogniser and way of attack: how often participants are identified, from and to.
        chance: By guessing.
        utilities: What is left of gaze, by the name of the measure: the mean over recordings.
        answered: Share of samples with gaze for which gaze was released.
        passed: Share of fixations, and of saccades, that passed a test of the baseline's own; empty where it has none.
    """

    people: str
    peer: str
    claimed: str
    guarantee: str
    identified: dict[str, dict[str, tuple[float, float, float]]]
    chance: float
    utilities: dict[str, float]
    answered: float
    passed: tuple[float, ...] = ()


def measure(
    one: IdentitySet,
    peers: Sequence[str] = SAMPLE_PEERS,
    recognisers: Sequence[Recogniser] = (),
    *,
    seed: int = 1,
    tell: Tell = silent,
) -> list[Row]:
    """Measure baselines and mechanisms on a set of participants.

    Raises:
        UnknownName: If a baseline is unknown.
        OptionError: If a baseline has no such parameter.
    """
    plane = one.plane.in_unit("deg")
    chosen = {name: sample_peer(name, plane) for name in peers}
    trials = without_pupil(one.trials)
    raw = [recording_of(trial, plane) for trial in trials]
    judges = {who.name: Judge(who, trials, enrolled="others", seed=seed) for who in recognisers}
    rows = []
    for done, (name, peer) in enumerate(chosen.items()):
        tell(done, len(chosen))
        released, passed = protected(peer, raw, NoiseSource.seeded(seed).spawn(name))
        shown = [trial.with_gaze(one.x, one.y) for trial, one in zip(trials, released, strict=True)]
        found = {who: identified(judge, trials, shown) for who, judge in judges.items()}
        pairs = [Pair(before, after) for before, after in zip(raw, released, strict=True)]
        rows.append(
            Row(
                one.name,
                name,
                getattr(peer, "claimed", "") if isinstance(peer, DatasetMechanism) else "",
                "none" if peer is None else peer.guarantee.in_words(),
                found,
                1 / len({trial.person for trial in trials}),
                {measure: float(np.nanmean([_value(measure, pair) for pair in pairs])) for measure in UTILITIES},
                float(np.nanmean([pair.answered for pair in pairs])),
                passed,
            )
        )
    return rows


def recording_of(trial: Trial, plane: Geometry) -> Recording:
    """Return a trial as a recording in degrees on a viewing plane."""
    return Recording(
        trial.t, trial.x, trial.y, plane, trial.person, trial.name, session=trial.session, rate_hz=trial.rate_hz
    )


def protected(
    peer: DatasetMechanism | SampleMechanism | None, recordings: Sequence[Recording], noise: NoiseSource
) -> tuple[list[Recording], tuple[float, ...]]:
    """Return recordings behind a baseline or mechanism, and the share of events that passed its own test, if any."""
    if peer is None:
        return list(recordings), ()
    if isinstance(peer, EventSynth):
        released, passed = peer.tested(recordings, noise)
        shares = passed.fixations / max(passed.of_fixations, 1), passed.saccades / max(passed.of_saccades, 1)
        return released, shares
    if isinstance(peer, DatasetMechanism):
        return peer.apply_all(recordings, noise), ()
    return [peer.apply(recording, noise.spawn(str(recording.key))) for recording in recordings], ()


def identified(judge: Judge, raw: Sequence[Trial], shown: Sequence[Trial]) -> dict[str, tuple[float, float, float]]:
    """Return for every way of attack how often participants are identified by added scores, and where that lies."""
    published = _Published({_key(trial): after for trial, after in zip(raw, shown, strict=True)})
    found = {}
    for threat in THREATS:
        asked = raw if threat == "published" else shown
        folds: dict[str, list[Trial]] = {}
        for trial, query in zip(raw, asked, strict=True):
            folds.setdefault(trial.session, []).append(query.anonymous())
        known = None if threat == "linked" else published
        stage = Stage(None, None, (known, known), {fold: tuple(queries) for fold, queries in folds.items()})
        judged = judge.measure(stage)
        found[threat] = judged.pooled_accuracy, *judged.pooled_interval
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Published(Prepared):
    """An attacker who knows participants from what was published about them."""

    released: Mapping[tuple[str, str, str], Trial]

    def query(self, veiled: Trial) -> Trial:
        return veiled

    def reference(self, raw: Trial) -> Trial:
        return self.released[_key(raw)]


def _key(trial: Trial) -> tuple[str, str, str]:
    return trial.person, trial.session, trial.name


def _value(measure: str, pair: Pair) -> float:
    return METRICS[measure](pair) if pair.both.any() else np.nan
