# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Other groups' methods, judged as our mechanisms are: who is identified, and what is left of use.

- **linked**: participants are known from raw gaze, and one asks whose a protected recording is (as Wilson 2024).
- **published**: participants are known from the protected recordings, under their names, and raw gaze is asked about
  (as David-John 2022 and 2023: a published data set, and an attacker who records someone).
- **both**: participants are known from protected recordings of some sessions, and asked about in those of another.

Everyone is known from all other sessions. A baseline protects all recordings of a set in one go. Intervals are over
participants.

Series are scaled to declared ranges. Each document (or run) is protected by itself, as published, with groups or noise
of its own. Recognisers and votes are those of `gazeveil.lab.experiments.feature_series`:

- **published**: trained on protected series of other documents, asked about raw ones (David-John 2022).
- **both**: trained and asked behind the baseline.

Which document was read is asked about raw series, after training on the protected ones of other participants: behind
k-same a participant's own protected series is also that of someone who was trained on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from gazeveil import FeatureTable
from gazeveil.arrays import FloatArray, PlainRow, Tell, silent
from gazeveil.errors import OptionError, UnknownName, closest
from gazeveil.features.extraction import extract_corpus
from gazeveil.features.feature_list import declared_ranges
from gazeveil.features.ranges import Ranges
from gazeveil.features.series import SERIES_MECHANISMS, SeriesMechanism, panel_of
from gazeveil.gaze.corpus import Corpus
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import Geometry
from gazeveil.lab import load
from gazeveil.lab.as_published.sample_mechanisms import ALL_PRESETS, preset
from gazeveil.lab.attacks.contract import Prepared, Recogniser, Trial
from gazeveil.lab.attacks.judging import Judge, Stage
from gazeveil.lab.attacks.trials import without_pupil
from gazeveil.lab.baselines import DATASET_MECHANISMS, DATASET_SERIES
from gazeveil.lab.baselines.event_synth import EventSynth
from gazeveil.lab.baselines.k_same import DatasetMechanism, DatasetSeries
from gazeveil.lab.datasets import EYETRIBE_FILE, EYETRIBE_PUPIL, VR_FOLDER, need_data
from gazeveil.lab.experiments.feature_series import CHOSEN, EVERY, identify, leave_one_person_out
from gazeveil.lab.experiments.feature_usefulness import RUNS, first_runs_of_everybody
from gazeveil.lab.experiments.identification import IdentitySet, simulated_people, vr_people
from gazeveil.lab.utility.releases import range_error
from gazeveil.lab.utility.streams import METRICS, Pair
from gazeveil.noise import NoiseSource
from gazeveil.samples.mechanism import MECHANISMS, SampleMechanism
from gazeveil.samples.space import space_of
from gazeveil.simulate.readers import ReadingStudy

load()

Made = TypeVar("Made")

NONE = "none"
SAMPLE_PEERS = (
    NONE,
    "k-same-synth:k=2",
    "k-same-synth:k=4",
    "k-same-synth:k=8",
    "event-synth:k=2",
    "event-synth:k=2,failing=release",
    "kalman:error=1,wander=4",
    "kalman:error=4,wander=4",
    "smoothing-low",
    "smoothing-high",
    "mpmu",
)
"""The papers' strengths, the mechanisms that newer work recommends, and one of ours to compare with."""
FEATURE_PEERS = (
    NONE,
    "k-same:k=2",
    "k-same:k=4",
    "k-same:k=8",
    "exponential-as-published:epsilon=100",
    "exponential-as-published:epsilon=20",
    "exponential-as-published:epsilon=2",
    "exponential:epsilon=100",
)
"""The papers' strengths, and the corrected form of Steil's mechanism, whose ε is for all that a participant releases.
"""


def sample_peer(text: str, plane: Geometry) -> DatasetMechanism | SampleMechanism | None:
    """Return a baseline for recordings, a mechanism or a preset, for gaze on a viewing plane; None for ``none``.

    Raises:
        UnknownName: If there is none of that name.
        OptionError: If it has no such parameter.
    """
    name, options = _parts(text)
    if name == NONE:
        return None
    if name in DATASET_MECHANISMS:
        return _made(DATASET_MECHANISMS[name], name, options)
    if name in ALL_PRESETS:
        return preset(name, space_of(plane), **options)
    if name in MECHANISMS:
        return _made(MECHANISMS[name], name, {"space": space_of(plane), **options})
    known = (*sorted(DATASET_MECHANISMS), *MECHANISMS.names(unlisted=True), *ALL_PRESETS)
    raise UnknownName(f"no baseline or mechanism is called {name!r}", hint=closest(name, known))


def feature_peer(text: str, steps: int, features: int) -> DatasetSeries | SeriesMechanism | None:
    """Return a baseline or mechanism for series of this many steps and features; None for ``none``.

    Raises:
        UnknownName: If there is none of that name.
        OptionError: If it has no such parameter.
    """
    name, options = _parts(text)
    if name == NONE:
        return None
    given = {"steps": steps, "features": features, **options}
    if name in DATASET_SERIES:
        return _made(DATASET_SERIES[name], name, given)
    return _made(SERIES_MECHANISMS[name], name, given)


def _parts(text: str) -> tuple[str, dict[str, Any]]:
    name, _, rest = text.partition(":")
    options: dict[str, Any] = {}
    for pair in filter(None, rest.split(",")):
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise OptionError(f"expected NAME:key=value,key=value, found {text!r}")
        options[key.strip()] = _option_value(value.strip())
    return name.strip(), options


def _option_value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _made(kind: Callable[..., Made], name: str, options: Mapping[str, Any]) -> Made:
    try:
        return kind(**options)
    except TypeError:
        raise OptionError(
            f"{name} does not take {', '.join(sorted(options))}", hint="see the reference for its parameters"
        ) from None


# --- Recordings behind baselines and veils: who is still identified, in three ways, and what is left of gaze.


Interval = tuple[float, float]
THREATS = ("linked", "published", "both")
UTILITIES = ("rmse_deg", "aoi_f1", "saliency_cc")


@dataclass(frozen=True, slots=True)
class SamplesRow(PlainRow):
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


def measure_samples(
    one: IdentitySet,
    peers: Sequence[str] = SAMPLE_PEERS,
    recognisers: Sequence[Recogniser] = (),
    *,
    seed: int = 1,
    tell: Tell = silent,
) -> list[SamplesRow]:
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
            SamplesRow(
                one.name,
                name,
                getattr(peer, "claimed", "") if isinstance(peer, DatasetMechanism) else "",
                "none" if peer is None else peer.guarantee.in_words(),
                found,
                1 / len({trial.person for trial in trials}),
                {measure: float(np.nanmean([_stream_value(measure, pair) for pair in pairs])) for measure in UTILITIES},
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


def _stream_value(measure: str, pair: Pair) -> float:
    return METRICS[measure](pair) if pair.both.any() else np.nan


# --- Feature series behind baselines: who is still recognised, and which document was read.


LEARNERS: Final = ("svm", "forest")
PEOPLE, SECONDS = 20, 300.0


@dataclass(frozen=True, slots=True, eq=False)
class SeriesSet:
    """All participants' series on every document.

    Attributes:
        name: Short name.
        title: What they are.
        values: Series by steps by features, from 0 to 1.
        people: Whose series each is.
        documents: What was read, or which run it was.
        has_tasks: Whether documents differ, so that one can ask which was read.
    """

    name: str
    title: str
    values: FloatArray
    people: NDArray[np.int64]
    documents: NDArray[np.int64]
    has_tasks: bool


@dataclass(frozen=True, slots=True)
class FeaturesRow(PlainRow):
    """One baseline on one set.

    Attributes:
        people: Name of the set.
        peer: The baseline as it was named.
        claimed: What its authors state; empty for none.
        guarantee: What we can say about it.
        identified: By recogniser and way of attack, by the majority of a series' windows.
        chance: By guessing.
        document: How often a raw series' document is found, of participants who were not trained on; NaN without
            documents.
        error: Root mean squared error, as a part of the declared ranges.
    """

    people: str
    peer: str
    claimed: str
    guarantee: str
    identified: dict[str, dict[str, float]]
    chance: float
    document: float
    error: float


def readers(people: int = PEOPLE, seconds: float = SECONDS, seed: int = 202) -> SeriesSet:
    """Return simulated readers of a comic, a newspaper and a textbook."""
    study = ReadingStudy(people, seconds, seed=seed)
    table = extract_corpus(Corpus.of(study.recordings())).table
    steps = int((seconds - 30.0) / 0.5) + 1
    title = f"{people} simulated readers of three documents, {seconds:g} s each"
    return _set("readers", title, table, declared_ranges(unit="deg").only(CHOSEN), steps, has_tasks=True)


def eyetribe_runs(path: Path, people: int = 30) -> SeriesSet:
    """Return three runs each of the participants before an EyeTribe (Ziman et al.).

    Raises:
        InputError: If the file is not there.
        FileFormatError: If it is not the table we expect.
    """
    table = extract_corpus(Corpus.of(first_runs_of_everybody(path)[: RUNS * people])).table
    steps = int(np.median([len(series.values) for series in table.series()]))
    ranges = declared_ranges(unit="deg", pupil_range=EYETRIBE_PUPIL).only(CHOSEN)
    title = f"{len(table.observers)} participants, three runs of 4.5 min at an EyeTribe (Ziman et al.)"
    return _set("eyetribe", title, table, ranges, steps, has_tasks=False)


def _set(name: str, title: str, table: FeatureTable, ranges: Ranges, steps: int, *, has_tasks: bool) -> SeriesSet:
    fill = panel_of(table, ranges, steps).values.mean(axis=(0, 1))
    panel = panel_of(table, ranges, steps, fill)
    people = np.searchsorted(panel.observers, [key.observer for key in panel.keys])
    labels = panel.tasks if has_tasks else tuple(key.session for key in panel.keys)
    numbers = np.searchsorted(sorted(set(labels)), labels) if has_tasks else _turns(people)
    return SeriesSet(name, title, panel.values, people, numbers, has_tasks)


def _turns(people: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for every series which of its participant's it is."""
    return np.array([int(np.sum(people[:at] == person)) for at, person in enumerate(people)], dtype=np.int64)


def measure_features(
    one: SeriesSet,
    peers: Sequence[str] = FEATURE_PEERS,
    *,
    learners: Sequence[str] = LEARNERS,
    every: int = EVERY,
    seed: int = 1,
    tell: Tell = silent,
) -> list[FeaturesRow]:
    """Measure baselines on a set of series.

    Raises:
        UnknownName: If a baseline is unknown.
        OptionError: If a baseline has no such parameter.
        InputError: If there are too few participants for a baseline.
    """
    chosen = {name: feature_peer(name, *one.values.shape[1:]) for name in peers}
    rows = []
    for done, (name, peer) in enumerate(chosen.items()):
        tell(done, len(chosen))
        released = one.values.copy()
        if peer is not None:
            for document in np.unique(one.documents):
                mine = one.documents == document
                noise = NoiseSource.seeded(seed).spawn(f"{name}/{document}")
                released[mine] = peer.perturb(one.values[mine], noise)
        found = {}
        for learner in learners:
            known = (released, one.people, one.documents, learner, every)
            found[learner] = {"published": identify(*known, asked=one.values).voted, "both": identify(*known).voted}
        document = np.nan
        if one.has_tasks:
            document = leave_one_person_out(released, one.documents, one.people, every, one.values).voted
        rows.append(
            FeaturesRow(
                one.name,
                name,
                peer.claimed if isinstance(peer, DatasetSeries) else getattr(peer, "claimed", ""),
                "none" if peer is None else peer.guarantee.in_words(),
                found,
                1 / len(np.unique(one.people)),
                float(document),
                range_error(one.values, released),
            )
        )
    return rows


# --- The participants that baselines are judged on, by name.


def gaze_set(name: str, data: Path | None, people: int, seconds: float) -> IdentitySet:
    """Return ``vr`` or ``simulated`` participants with this many seconds of every session.

    Raises:
        InputError: If the data are not there.
    """
    if name == "simulated":
        return simulated_people(people, 4, seconds)
    return vr_people(need_data(data) / VR_FOLDER, seconds).some(people)


def series_set(name: str, data: Path | None, people: int, seconds: float) -> SeriesSet:
    """Return ``readers``, who read this many seconds, or the runs of ``eyetribe``.

    Raises:
        InputError: If the data are not there.
    """
    return readers(people, seconds) if name == "readers" else eyetribe_runs(need_data(data) / EYETRIBE_FILE, people)
