# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Feature series: the mean series of a group with error bars, and each participant's own under declared names.

Every participant has every declared series. A recording that is absent, too short, or whose clock runs back becomes the
public value in all steps; recordings beyond the declared number are cut, in the order of session and trial. The data do
not change how many series there are, how long they are, or their names.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import polars as pl

from gazeveil.aggregate.engine import Engine
from gazeveil.arrays import FloatArray, Tell, silent
from gazeveil.display import brief
from gazeveil.errors import InputError, InternalError, OptionError
from gazeveil.exact import Number, exact
from gazeveil.features.design import Design
from gazeveil.features.external_tables import ExternalFeatures, read_external
from gazeveil.features.group_series import GroupEstimate, GroupSeries
from gazeveil.features.participant_series import ParticipantSeries
from gazeveil.features.ranges import Clipped, Ranges
from gazeveil.features.series import MIDDLE, SeriesMechanism, noisy_lengths, scaled_series
from gazeveil.features.series_release import (
    DeclaredNames,
    ParticipantRelease,
    about_raw_gaze,
    group_table,
    longer_stretches,
    table_of,
)
from gazeveil.features.settings import Settings, extract_one
from gazeveil.features.table import FeatureTable, Series, group_picture
from gazeveil.gaze.corpus import MapsRecordings
from gazeveil.gaze.recording import Key, Recording
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import ApproxDP, Guarantee
from gazeveil.privacy.protection import Observer
from gazeveil.release.data import BoundCorpus, BoundTable, bind_table
from gazeveil.release.feature_settings import declared_table, is_table, label_of, stimuli_of, study_settings
from gazeveil.release.forecast import Forecast
from gazeveil.release.plan import PRODUCTS, Data, Domain, Measurement, Method, method_from_recipe
from gazeveil.release.product_base import check_delta, error_forecast
from gazeveil.release.study import Fact, Stimulus, Study, spelt


class UsableSeries(NamedTuple):
    """One usable series of the data: raw, not private."""

    order: tuple[Any, ...]
    session: str
    values: FloatArray  # steps x features from 0 to 1, public values where nothing is known
    length: int


@dataclass(frozen=True, slots=True)
class ExtractSeries:
    """Extracts the series of a recording, or returns the reason why it counts as absent. Engines call it."""

    settings: Settings
    steps: int
    names: tuple[str, ...]

    def __call__(self, recording: Recording) -> list[Series] | str:
        """Return the features of one recording; it never fails and never warns, however broken a recording is."""
        try:
            with np.errstate(all="ignore"):
                table = extract_one(recording, self.settings, self.steps)
            return list(table.only(self.names).series())
        except Exception as error:  # noqa: BLE001  (one broken recording must not stop a release)
            return f"{'/'.join(recording.key)} counts as absent: {error}"


@dataclass(frozen=True, slots=True)
class DeclaredSeries:
    """The series of a study that a release is made of.

    Attributes:
        study: The study.
        stimuli: What was looked at.
        group: The public group that they are of; None for everyone.
        settings: How features are made.
        ranges: Which features, and their declared ranges.
        steps: How long a series is.
        public: The public value of every feature, from 0 to 1.
    """

    study: Study
    stimuli: tuple[Stimulus, ...]
    group: str | None
    settings: Settings | ExternalFeatures
    ranges: Ranges
    steps: int
    public: tuple[float, ...]

    __repr__ = brief

    @property
    def members(self) -> tuple[str, ...] | None:
        """Whose series they are, by name; None where only the number of participants is declared."""
        people = self.study.participants
        if self.group is None:
            return people.roster
        groups = self.study.recordings.groups
        named = people.roster if people.roster is not None else sorted({spelt(who) for who in groups})
        gone = set(people.withdrawn)
        return tuple(who for who in named if groups.get(who) == self.group and who not in gone)

    @property
    def number(self) -> int:
        """How many participants there are.

        Raises:
            OptionError: If that is secret.
        """
        members = self.members
        number = self.study.participants.number if members is None else len(members)
        if number is None or (self.study.participants.secret and members is None):
            raise OptionError("feature series need a public number of participants", hint="declare it, or a roster")
        return number

    @property
    def slots(self) -> tuple[tuple[str, str], ...]:
        """Session and trial of each series of a stimulus: a declared session where they fit, else running numbers."""
        sessions, count = self.study.recordings.sessions, self.study.recordings.per_stimulus
        if sessions and count % len(sessions) == 0:
            return tuple((name, str(1 + trial)) for name in sessions for trial in range(count // len(sessions)))
        return tuple(("", str(1 + number)) for number in range(count))

    @property
    def each(self) -> int:
        """How many series a participant has."""
        return len(self.stimuli) * len(self.slots)

    def names(self) -> list[DeclaredNames]:
        """Return the names of all series in their order, where a roster is declared."""
        groups = self.study.recordings.groups
        return [
            DeclaredNames(Key(who, stimulus.name, session, trial), stimulus.task or stimulus.name, groups.get(who, ""))
            for who in self.members or ()
            for stimulus in self.stimuli
            for session, trial in self.slots
        ]

    def facts(self) -> tuple[Fact, ...]:
        """Return the public facts that the series rest on, beside those of the study."""
        made = self.settings.info
        extraction = {"kind": made.kind, "window": made.window, "step": made.step, "unit": made.unit}
        extraction |= {"pupil_unit": made.pupil_unit, **made.settings}
        series: dict[str, Any] = {
            "participants": self.number,
            "per_participant": self.each,
            "steps": self.steps,
            "group": self.group,
        }
        series |= {"features": self.ranges.to_dict(), "public_values": list(self.public)}
        declared = "stimuli" not in self.study.observed
        return (Fact("extraction", extraction, declared), Fact("series", series))

    def check_label(self, table: Data) -> None:
        """Refuse a table that was made in another way than planned for; the series are not read."""
        label = label_of(self.study, table)
        if replace(label, declared_by="", names=("any",)) != replace(self.settings.info, names=("any",)):
            raise OptionError(
                "the table was made with other settings than the release was planned for",
                hint="plan with source_settings(study, table)",
            )
        if unknown := [name for name in self.ranges.names if name not in label.names]:
            raise InputError(f"the table has no feature {', '.join(unknown[:5])}")

    def read(
        self, data: BoundCorpus | BoundTable, engine: MapsRecordings, tell: Tell
    ) -> dict[tuple[str, str], list[UsableSeries | None]]:
        """Return the series of each participant and stimulus, one entry per slot: raw, not private.

        No data make this fail; what the holder of the data should know goes to the remarks.
        """
        found: dict[tuple[str, str], list[UsableSeries]] = {}
        wanted = {spelt(stimulus.name) for stimulus in self.stimuli}
        members = None if self.members is None else set(self.members)
        clipped, filled, cut = Clipped({}, 0), 0, 0
        for series in self._series(data, engine, tell):
            who, stimulus = series.key.observer, series.key.stimulus
            if stimulus not in wanted or (members is not None and who not in members):
                continue
            scaled, outside = scaled_series(series, self.ranges, self.steps)
            missing = np.isnan(scaled)
            clipped, filled = clipped + outside, filled + int(missing.sum())
            cut += len(series.values) > self.steps
            values = np.where(missing, np.asarray(self.public), scaled)
            entry = UsableSeries(
                self._order(series.key), series.key.session, values, min(len(series.values), self.steps)
            )
            found.setdefault((who, stimulus), []).append(entry)
        placed = {where: self._placed(entries) for where, entries in found.items()}
        there = sum(entry is not None for slots in placed.values() for entry in slots)
        data.remarks.append(
            f"{there:,} of {self.number * self.each:,} declared series are in the data; the others are public values"
        )
        if more := sum(map(len, found.values())) - there:
            data.remarks.append(f"{more:,} recordings beyond the declared number were cut")
        data.remarks.append(f"{clipped}; {filled:,} values of series that are there were filled with public ones")
        if cut:
            data.remarks.append(f"{cut:,} series were longer than {self.steps:,} steps and cut")
        return placed

    def _series(self, data: BoundCorpus | BoundTable, engine: MapsRecordings, tell: Tell) -> Iterator[Series]:
        if isinstance(data, BoundTable):
            yield from data.table.only(self.ranges.names).series()
            return
        if isinstance(self.settings, ExternalFeatures):
            raise InternalError("a table from elsewhere was taken for recordings")
        one = ExtractSeries(self.settings, self.steps, self.ranges.names)
        for found in engine.map_recordings(data.corpus, one, tell):
            if isinstance(found, str):
                data.remarks.append(found)
            else:
                yield from found

    def _order(self, key: Key) -> tuple[Any, ...]:
        sessions = self.study.recordings.sessions
        first = (sessions.index(key.session),) if key.session in sessions else _natural(key.session)
        return (*first, *_natural(key.trial))

    def _placed(self, entries: list[UsableSeries]) -> list[UsableSeries | None]:
        """Put series into the slots of their session, or into running slots, in their order."""
        entries = sorted(entries, key=lambda entry: entry.order)
        placed: list[UsableSeries | None] = []
        for session, _ in self.slots:
            fits = next((entry for entry in entries if session in ("", entry.session)), None)
            placed.append(fits)
            entries = [entry for entry in entries if entry is not fits]
        return placed


class SeriesMeasurement(Measurement):
    """A measurement of feature series: a frozen dataclass with the field ``series`` beside the usual ones."""

    __slots__ = ()
    proof: ClassVar[str] = "feature-series"

    series: DeclaredSeries

    @property
    def domain(self) -> Domain:
        """The recordings of the task's stimuli."""
        return Domain(self.study, tuple(stimulus.name for stimulus in self.series.stimuli))

    def facts(self) -> tuple[Fact, ...]:
        """Return the public facts that the release rests on."""
        return (*self.study.facts(self.domain.stimuli), *self.series.facts())

    def check_source(self, source: Data) -> None:
        """Refuse a source that does not fit, before anything is spent."""
        foreign, wanted = declared_table(self.study, source), self.series.settings
        if (foreign is not None) != isinstance(wanted, ExternalFeatures):
            raise OptionError(
                "the release was planned for another kind of data", hint="plan with source_settings(study, data)"
            )
        if foreign is not None:
            if isinstance(source, Path | str) and not Path(source).exists():
                raise InputError(f"there is no table {source}", hint="check the path")
        elif is_table(source):
            self.series.check_label(source)
        else:
            Measurement.check_source(self, source)

    def open(self, source: Data, tell: Tell = silent) -> BoundCorpus | BoundTable:
        """Open recordings or a table of features under the study's rules."""
        if (foreign := declared_table(self.study, source)) is not None:
            remarks: list[str] = []
            only = "" if foreign.stimulus else self.study.stimuli[0].name
            data = bind_table(self.study, read_external(source, foreign, only, remarks))
            data.remarks.extend(remarks)
            return data
        if not is_table(source):
            return Measurement.open(self, source, tell)  # type: ignore[no-any-return]
        return bind_table(self.study, source if isinstance(source, FeatureTable) else FeatureTable.read(str(source)))

    def selection(self) -> dict[str, Any]:
        """Return for the recipe which series these are."""
        return {"stimuli": list(self.domain.stimuli), "group": self.series.group}


def declared_series(
    study: Study,
    mechanism: Any,
    *,
    task: str | None,
    group: str | None,
    settings: Settings | ExternalFeatures | None,
    ranges: Ranges | None,
) -> DeclaredSeries:
    """Return the series of a release, checked against what the mechanism was made for.

    Raises:
        OptionError: If the two do not fit, or the number of participants is secret.
        InputError: If the study has no such task or group.
    """
    settings = study_settings(study) if settings is None else settings
    design: Design | None = getattr(mechanism, "design", None)
    if design is not None:
        ranges, steps, public = design.ranges, design.steps, tuple(float(value) for value in design.mean)
    else:
        ranges, steps = settings.ranges() if ranges is None else ranges, mechanism.steps
        public = (MIDDLE,) * len(ranges)
        if mechanism.features != len(ranges):
            raise OptionError(f"the mechanism is for {mechanism.features} features, and {len(ranges)} are released")
    if unknown := [name for name in ranges.names if name not in settings.info.names]:
        raise InputError(f"{settings.info.kind} have no feature {', '.join(unknown[:5])}")
    groups = study.recordings.groups
    if group is not None and group not in groups.values():
        known = ", ".join(sorted(set(groups.values()))[:12]) or "none"
        raise InputError(f"the study has no group {group!r}", hint=f"it has {known}")
    found = DeclaredSeries(study, stimuli_of(study, task), group, settings, ranges, steps, public)
    found.number  # noqa: B018  (refuses a secret one)
    return found


def _natural(text: str) -> tuple[int, int, str]:
    """Return a key that sorts labels naturally: 2 before 10, numbers before words."""
    digits = text.lstrip("0")
    return (0, len(digits), digits) if text.isascii() and text.isdigit() else (1, 0, text)


# --- The mean feature series of a group of participants, with error bars.


@dataclass(frozen=True, slots=True, repr=False)
class GroupSeriesMeasurement(SeriesMeasurement):
    """The mean series of a group. Each participant counts with the mean of their series, clipped to a ball."""

    product: ClassVar[str] = GroupSeries.product
    files: ClassVar[str] = "group.parquet: mean, band and public mean of each step and feature; design.json"

    study: Study
    mechanism: GroupSeries
    series: DeclaredSeries

    @property
    def guarantee(self) -> Guarantee:
        """What is guaranteed for all that one participant contributed."""
        return self.mechanism.guarantee(self.series.number)

    def recipe(self) -> dict[str, Any]:
        """Return mechanism and parameters as plain values."""
        return {**self.mechanism.to_dict(self.series.number), **self.selection()}

    def method(self) -> Method:
        """Return how the mean series protects."""
        plan = self.mechanism.plan(self.series.number)
        law = "ℓ2-radial" if plan.noise.is_radial else "Gaussian"
        sentence = (
            "Each participant counted with the mean of their eye-movement feature series, clipped to declared ranges, "
            f"described by {plan.ball.size:,} coordinates of a public design and clipped to a ball. The sum over "
            f"participants received {law} noise calibrated to the diameter of the ball; the mean series was estimated "
            "from it and the public mean."
        )
        calibrated = () if plan.noise.is_radial else ("balle2018",)
        return Method(sentence=sentence, sources=("dwork2014", "bozkir2021", *calibrated), audit="features-group")

    def forecast(self) -> Forecast:
        """Return the error to expect, from the design."""
        return error_forecast(self.mechanism.plan(self.series.number), self.mechanism.design.source)

    def measure(self, data: BoundCorpus | BoundTable, noise: NoiseSource, engine: Engine, tell: Tell) -> FloatArray:
        """Return the noisy sum of coordinates; absent participants add nothing, as the public mean would."""
        people: dict[str, list[FloatArray]] = {}
        for (who, _), slots in sorted(self.series.read(data, engine, tell).items()):
            people.setdefault(who, []).extend(found.values for found in slots if found is not None)
        empty = np.empty((0, self.series.steps, len(self.series.ranges)))
        means = [np.mean(series, axis=0)[None] for series in people.values() if series]
        return self.mechanism.measure(np.concatenate([empty, *means]), self.series.number, noise)

    def decode(self, noisy: FloatArray) -> GroupEstimate:
        """Return the group's series."""
        return self.mechanism.decode(noisy, self.series.number)

    def write(self, value: GroupEstimate, folder: Path, tell: Tell) -> dict[str, Any]:
        """Write the table and the design."""
        self.frame(value).write_parquet(folder / "group.parquet")
        self.mechanism.design.save(folder / "design.json")
        return {}

    def frame(self, value: GroupEstimate) -> pl.DataFrame:
        """Return a row a step and feature."""
        return group_table(value, self.series.ranges, self.series.settings.step)

    def picture(self, value: GroupEstimate) -> bytes:
        """Return the first features over time."""
        return group_picture(self.frame(value)).png


@PRODUCTS.register(GroupSeries.product)
def prepare_group_series(
    study: Study,
    mechanism: GroupSeries,
    task: str | None = None,
    group: str | None = None,
    settings: Settings | ExternalFeatures | None = None,
) -> GroupSeriesMeasurement:
    """Plan the mean series of a group on one task."""
    series = declared_series(study, mechanism, task=task, group=group, settings=settings, ranges=None)
    found = GroupSeriesMeasurement(study, mechanism, series)
    check_delta(exact(mechanism.delta), series.number)
    found.recipe()  # refuses a group of one
    return found


# --- Each participant's own feature series, noised one by one and released under declared names.


Noisy = tuple[FloatArray, list[int] | None]

AUDITED = frozenset(
    {
        "features-own",
        "features-lpa",
        "features-fpa",
        "features-c-fpa",
        "features-dc-fpa",
        "features-efpa",
        "features-exponential",
    }
)
"""The mechanisms that are audit subjects."""


@dataclass(frozen=True, slots=True, repr=False)
class ParticipantSeriesMeasurement(SeriesMeasurement):
    """Each participant's own series."""

    product: ClassVar[str] = ParticipantRelease.product
    files: ClassVar[str] = "features.parquet: the noisy series of all participants, one row per step"
    per_participant: ClassVar[bool] = True

    study: Study
    mechanism: ParticipantRelease
    series: DeclaredSeries

    @property
    def guarantee(self) -> Guarantee:
        """What is guaranteed to a participant, for all of their series together."""
        return self.mechanism.guarantee(self.series.each)

    @property
    def epsilon(self) -> Number:
        """The ε that was asked for, for each series."""
        found: Number = self.mechanism.mechanism.epsilon
        return found

    def with_epsilon(self, epsilon: Number) -> ParticipantRelease:
        """Return the mechanism with another ε."""
        return self.mechanism.at(epsilon)

    def recipe(self) -> dict[str, Any]:
        """Return mechanism and parameters as plain values."""
        return {**self.mechanism.to_dict(self.series.each), **self.selection()}

    def method(self) -> Method:
        """Return how the series protect."""
        each = self.mechanism.each(self.series.each)
        listed = method_from_recipe(self.product, each.to_dict()).sentence
        sentence = (
            "The eye-movement feature series of each participant were cut or filled to a public length, clipped to "
            f"declared ranges, and noised one by one. {listed}"
        )
        subject = (
            f"features-{each.to_dict()['mechanism']}" if not isinstance(each, ParticipantSeries) else "features-own"
        )
        audit = subject if subject in AUDITED else ""
        return Method(sentence=sentence, sources=("dwork2014", "bozkir2021"), audit=audit)

    def forecast(self) -> Forecast | None:
        """Return the error to expect of a series, where there is a design."""
        each = self.mechanism.each(self.series.each)
        return error_forecast(each.plan(), each.design.source) if isinstance(each, ParticipantSeries) else None

    def facts(self) -> tuple[Fact, ...]:
        """Return the public facts that the release rests on."""
        roster = Fact("roster", list(self.series.members or ()), "participants" not in self.study.observed)
        return (*SeriesMeasurement.facts(self), roster)

    def warnings(self) -> tuple[str, ...]:
        """Warn of what the guarantee does not cover."""
        mechanism = self.mechanism.mechanism
        if mechanism.stretch is not None and getattr(mechanism, "raw", None) is None:
            return (about_raw_gaze(mechanism.stretch, self.series.settings.info),)
        if isinstance(mechanism, ParticipantSeries) and isinstance(self.guarantee.unit, Observer):
            return ("a participant's own series at the level of participants says little up to an ε of 3",)
        return ()

    def measure(self, data: BoundCorpus | BoundTable, noise: NoiseSource, engine: Engine, tell: Tell) -> Noisy:
        """Return noisy series, and noisy lengths if those are paid for; absent participants have public values."""
        series = self.series
        found = series.read(data, engine, tell)
        public = np.broadcast_to(np.asarray(series.public), (series.steps, len(series.ranges)))
        none = [None] * len(series.slots)
        entries = [
            entry
            for who in series.members or ()
            for stimulus in series.stimuli
            for entry in found.get((who, spelt(stimulus.name)), none)
        ]
        values = np.array([public if entry is None else entry.values for entry in entries])
        noisy = self.mechanism.each(series.each).perturb(values, noise)
        if self.mechanism.length_epsilon is None:
            return noisy, None
        lengths = [0 if entry is None else entry.length for entry in entries]
        return noisy, noisy_lengths(lengths, series.steps, self.mechanism.length_epsilon, noise)

    def decode(self, noisy: Noisy) -> FeatureTable:
        """Return the table of released series."""
        values, lengths = noisy
        info = replace(self.series.settings.info, names=self.series.ranges.names)
        return table_of(self.series.ranges.from_unit(values), self.series.names(), info, lengths)

    def write(self, value: FeatureTable, folder: Path, tell: Tell) -> dict[str, Any]:
        """Write the table, and the design if there is one."""
        value.write(folder / "features.parquet")
        if isinstance(self.mechanism.mechanism, ParticipantSeries):
            self.mechanism.mechanism.design.save(folder / "design.json")
        return dict(longer_stretches(self.mechanism.mechanism))

    def frame(self, value: FeatureTable) -> pl.DataFrame:
        """Return a row a series and step."""
        return value.rows

    def picture(self, value: FeatureTable) -> bytes:
        """Return the first features over time."""
        return value.plot().png

    def summary(self, value: FeatureTable) -> tuple[str, ...]:
        """State what the same noise guarantees for longer stretches."""
        longer = longer_stretches(self.mechanism.mechanism)
        if "raw_gaze" in longer:
            rows = [(f"{row['seconds']:g} s of raw gaze", row["epsilon"]) for row in longer["raw_gaze"]]
        else:
            rows = [(f"{row['steps']:.0f} steps of the series", row["epsilon"]) for row in longer.get("stretches", ())]
        return tuple(f"any {stretch}: ε = {epsilon:.4g}" for stretch, epsilon in rows)


@PRODUCTS.register(ParticipantRelease.product)
def prepare_participant_series(
    study: Study,
    mechanism: ParticipantRelease | ParticipantSeries | SeriesMechanism,
    task: str | None = None,
    group: str | None = None,
    settings: Settings | ExternalFeatures | None = None,
    ranges: Ranges | None = None,
) -> ParticipantSeriesMeasurement:
    """Plan the release of each participant's own series on one task."""
    made = mechanism if isinstance(mechanism, ParticipantRelease) else ParticipantRelease(mechanism=mechanism)
    if study.participants.roster is None:
        raise OptionError(
            "each participant's own series is released under their name: declare a roster",
            hint="a group's mean needs only their number",
        )
    own = made.mechanism
    series = declared_series(study, own, task=task, group=group, settings=settings, ranges=ranges)
    raw = getattr(own, "raw", None)
    if raw is not None and raw.rules != series.settings.rules:
        raise OptionError("the mechanism hides raw gaze through other bins than those that are released")
    found = ParticipantSeriesMeasurement(study, made, series)
    if isinstance(found.guarantee, ApproxDP):
        check_delta(found.guarantee.delta, series.number)
    found.recipe()  # refuses parameters that cannot be
    return found
