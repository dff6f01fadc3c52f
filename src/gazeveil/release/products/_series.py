# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Which feature series a release is made of: decided by the declaration, and filled from the data.

Everyone has every declared series. A recording that is absent, too short, or whose clock runs back leaves the public
value in all steps; recordings beyond the declared number are cut, in the order of session and trial. Nothing that is
in the data changes how many series there are, how long they are or what they are called.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from gazeveil.arrays import FloatArray, Tell, silent
from gazeveil.display import brief
from gazeveil.errors import InputError, InternalError, OptionError
from gazeveil.features.design import Design
from gazeveil.features.external_tables import ForeignFeatures, read_foreign
from gazeveil.features.ranges import Clipped, Ranges
from gazeveil.features.series import MIDDLE, scaled_series
from gazeveil.features.series_release import Named
from gazeveil.features.settings import Settings, extract_one
from gazeveil.features.table import FeatureTable, Series
from gazeveil.gaze.corpus import MapsRecordings
from gazeveil.gaze.recording import Key, Recording
from gazeveil.release.binding import BoundCorpus, BoundTable, bind_table
from gazeveil.release.feature_facts import declares, is_table, label_of, settings_of, stimuli_of
from gazeveil.release.plan import Data, Domain, Measurement
from gazeveil.release.study import Fact, Stimulus, Study, spelt


class Found(NamedTuple):
    """One usable series of the data: raw, not private."""

    order: tuple[Any, ...]
    session: str
    values: FloatArray  # steps x features from 0 to 1, public values where nothing is known
    length: int


@dataclass(frozen=True, slots=True)
class SeriesOrReason:
    """Turns a recording into its series, or into the reason why it counts as absent: an engine's function."""

    settings: Settings
    steps: int
    names: tuple[str, ...]

    def __call__(self, recording: Recording) -> list[Series] | str:
        """Return the features of one recording; no recording, however broken, makes this fail or warn."""
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
    settings: Settings | ForeignFeatures
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

    def names(self) -> list[Named]:
        """Return the names of all series in their order, where a roster is declared."""
        groups = self.study.recordings.groups
        return [
            Named(Key(who, stimulus.name, session, trial), stimulus.task or stimulus.name, groups.get(who, ""))
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
                hint="plan with settings_for(study, table)",
            )
        if unknown := [name for name in self.ranges.names if name not in label.names]:
            raise InputError(f"the table has no feature {', '.join(unknown[:5])}")

    def read(
        self, data: BoundCorpus | BoundTable, engine: MapsRecordings, tell: Tell
    ) -> dict[tuple[str, str], list[Found | None]]:
        """Return what the data hold for each participant and stimulus, one entry a slot: raw, not private.

        Whatever is in the data, this does not fail; what the holder of the data should know goes to the remarks.
        """
        found: dict[tuple[str, str], list[Found]] = {}
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
            entry = Found(self._order(series.key), series.key.session, values, min(len(series.values), self.steps))
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
        if isinstance(self.settings, ForeignFeatures):
            raise InternalError("a table from elsewhere was taken for recordings")
        one = SeriesOrReason(self.settings, self.steps, self.ranges.names)
        for found in engine.map_recordings(data.corpus, one, tell):
            if isinstance(found, str):
                data.remarks.append(found)
            else:
                yield from found

    def _order(self, key: Key) -> tuple[Any, ...]:
        sessions = self.study.recordings.sessions
        first = (sessions.index(key.session),) if key.session in sessions else _natural(key.session)
        return (*first, *_natural(key.trial))

    def _placed(self, entries: list[Found]) -> list[Found | None]:
        """Put series into the slots of their session, or into running slots, in their order."""
        entries = sorted(entries, key=lambda entry: entry.order)
        placed: list[Found | None] = []
        for session, _ in self.slots:
            fits = next((entry for entry in entries if session in ("", entry.session)), None)
            placed.append(fits)
            entries = [entry for entry in entries if entry is not fits]
        return placed


class SeriesProduct(Measurement):
    """What products of feature series share: a frozen dataclass with the field ``series`` beside the usual ones."""

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

    def accepts(self, source: Data) -> None:
        """Refuse a source that does not fit, before anything is spent."""
        foreign, wanted = declares(self.study, source), self.series.settings
        if (foreign is not None) != isinstance(wanted, ForeignFeatures):
            raise OptionError(
                "the release was planned for another kind of data", hint="plan with settings_for(study, data)"
            )
        if foreign is not None:
            if isinstance(source, Path | str) and not Path(source).exists():
                raise InputError(f"there is no table {source}", hint="check the path")
        elif is_table(source):
            self.series.check_label(source)
        else:
            Measurement.accepts(self, source)

    def open(self, source: Data, tell: Tell = silent) -> BoundCorpus | BoundTable:
        """Open recordings or a table of features under the study's rules."""
        if (foreign := declares(self.study, source)) is not None:
            remarks: list[str] = []
            only = "" if foreign.stimulus else self.study.stimuli[0].name
            data = bind_table(self.study, read_foreign(source, foreign, only, remarks))
            data.remarks.extend(remarks)
            return data
        if not is_table(source):
            return Measurement.open(self, source, tell)  # type: ignore[no-any-return]
        return bind_table(self.study, source if isinstance(source, FeatureTable) else FeatureTable.read(str(source)))

    def which(self) -> dict[str, Any]:
        """Return for the recipe which series these are."""
        return {"stimuli": list(self.domain.stimuli), "group": self.series.group}


def declared_series(
    study: Study,
    mechanism: Any,
    *,
    task: str | None,
    group: str | None,
    settings: Settings | ForeignFeatures | None,
    ranges: Ranges | None,
) -> DeclaredSeries:
    """Return the series of a release, checked against what the mechanism was made for.

    Raises:
        OptionError: If the two do not fit, or the number of participants is secret.
        InputError: If the study has no such task or group.
    """
    settings = settings_of(study) if settings is None else settings
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
    """Return what sorts labels as participants count: 2 before 10, numbers before words."""
    digits = text.lstrip("0")
    return (0, len(digits), digits) if text.isascii() and text.isdigit() else (1, 0, text)
