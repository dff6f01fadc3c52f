# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A corpus, or a table of features, under a declared study's rules: the only form in which a release sees data.

Each rule looks at one recording at a time, so no participant changes how another one's recordings are read:

- names of participants, stimuli and sessions are compared in one spelling (NFC);
- participants who are not in the roster, or withdrew, are left out;
- stimuli and sessions that were not declared are left out;
- columns are brought into the one schema, and a part of the corpus that cannot be read counts as absent;
- a recording on another raster or in another unit than declared counts as absent; physical size and distance, and
  what a recording does not say, are taken as declared;
- samples count as absent where lists of fixations are declared, and lists where samples are.

The rules are added to the lazy tables. Of each part only the labels of its rows are read, once: where all of them pass
as they are, its samples stay unfiltered, so that engines can read stretches of them. What the rules leave out is
reported only to the holder of the data (`gazeveil.release.checking`).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from gazeveil.errors import PrivacyError
from gazeveil.features.table import FeatureTable
from gazeveil.gaze.corpus import Corpus, Part
from gazeveil.gaze.schema import guarded
from gazeveil.geometry import Geometry
from gazeveil.release.conforming import UNREADABLE, are_as_declared, columns_of, conforming, name_of, readable
from gazeveil.release.study import Study, spelt

_DOOR = object()
_LABELLED = pl.col("session", "trial").fill_null("")


@dataclass(frozen=True, slots=True)
class BoundCorpus:
    """A corpus that keeps to a study's rules. Only `bind` makes one.

    Attributes:
        study: The study.
        corpus: The recordings, as the rules leave them.
        original: The recordings as they were, for the holder's private report.
        remarks: What the holder of the data should know about the reading; never released.
    """

    study: Study
    corpus: Corpus
    original: Corpus
    remarks: list[str] = field(default_factory=list)
    door: object = None

    def __post_init__(self) -> None:
        if self.door is not _DOOR:
            raise PrivacyError("a corpus is bound to a study by bind(), which applies the study's rules")

    def __repr__(self) -> str:  # nothing that the data decide, so that a log or a traceback shows none of it
        return f"BoundCorpus(private recordings, bound to {self.study!r})"

    @property
    def observers(self) -> list[str]:
        """Everyone who is there, sorted."""
        return self.corpus.observers

    def without_unreadable(self) -> BoundCorpus:
        """Return the corpus without the parts that cannot be read to their end; it is read in full to find them."""
        corpus, lost = readable(self.corpus)
        self.remarks.extend(f"{name} could not be read and counts as absent" for name in lost)
        return replace(self, corpus=corpus) if lost else self


@dataclass(frozen=True, slots=True)
class BoundTable:
    """A table of features that keeps to a study's rules. Only `bind_table` makes one.

    Attributes:
        study: The study.
        table: The series, as the rules leave them.
        remarks: What the holder of the data should know about the reading; never released.
    """

    study: Study
    table: FeatureTable
    remarks: list[str] = field(default_factory=list)
    door: object = None

    def __post_init__(self) -> None:
        if self.door is not _DOOR:
            raise PrivacyError("a table is bound to a study by bind_table(), which applies the study's rules")

    def __repr__(self) -> str:
        return f"BoundTable(private series, bound to {self.study!r})"

    @property
    def observers(self) -> list[str]:
        """Everyone who is there, sorted."""
        return self.table.observers

    def without_unreadable(self) -> BoundTable:
        """Return the table as it is: it was read in full."""
        return self


def bind(study: Study, corpus: Corpus, stimuli: Collection[str] | None = None) -> BoundCorpus:
    """Put a corpus under a study's rules; the recordings of some stimuli, or of all that are declared."""
    wanted = {stimulus.name for stimulus in study.stimuli} if stimuli is None else set(stimuli)
    screens = {spelt(stimulus.name): stimulus.screen for stimulus in study.stimuli if stimulus.name in wanted}
    parts, remarks = [], []
    for part in corpus.parts:
        screen = screens.get(spelt(part.stimulus))
        if screen is None or not lies_on(part.label.geometry, screen):
            continue
        try:
            if are_as_declared(columns := columns_of(part), study):
                parts.append(_bound(conforming(part, columns), screen, study))
        except UNREADABLE as error:
            remarks.append(f"{name_of(part)} could not be read and counts as absent: {error}")
    return BoundCorpus(study, replace(corpus, parts=tuple(parts)), corpus, remarks, door=_DOOR)


def bind_table(study: Study, table: FeatureTable) -> BoundTable:
    """Put a table of features under a study's rules."""
    names = [spelt(stimulus.name) for stimulus in study.stimuli]
    rows = _by_rows(table.rows.lazy().with_columns(pl.col("stimulus").str.normalize("NFC")), study)
    kept = rows.filter(pl.col("stimulus").is_in(names)).with_columns(_LABELLED, pl.col("usable").fill_null(False))
    return BoundTable(study, FeatureTable(kept.collect(), table.info), door=_DOOR)


def lies_on(found: Geometry, declared: Geometry) -> bool:
    """Return whether gaze can be read on a declared screen: same unit, and no other raster or field of view."""
    same_raster = (found.width_px, found.height_px) in {(None, None), (declared.width_px, declared.height_px)}
    same_field = (found.fov_x_deg, found.fov_y_deg) in {(None, None), (declared.fov_x_deg, declared.fov_y_deg)}
    return found.unit is declared.unit and same_raster and same_field


Labels = tuple[str | None, str | None]
"""The participant and session of a row."""


def labels_of(part: Part) -> set[Labels]:
    """Return which labels the samples of a part have; stretches of one label count once, so few are compared.

    Raises:
        FileFormatError: If the part cannot be read.
    """
    stretches = part.samples.select(pl.struct("observer", "session").rle().struct.field("value"))
    found = guarded(part.path or Path("in memory"), stretches.collect).unnest("value")
    return set(found.iter_rows())


def _bound(part: Part, screen: Geometry, study: Study) -> Part:
    stimulus = spelt(part.stimulus)
    samples = _by_labels(part.samples, labels_of(part), study)
    events = _by_rows(part.events, study)
    named = pl.lit(stimulus).alias("stimulus")
    samples, events = (table.with_columns(named, _LABELLED) for table in (samples, events))
    return replace(part, stimulus=stimulus, samples=samples, events=events, label=replace(part.label, geometry=screen))


def _passing(labels: set[Labels], study: Study) -> set[Labels]:
    """Return the labels that count by the rules about participants and sessions."""
    people = study.participants
    roster = None if people.roster is None else frozenset(people.roster)
    withdrawn, sessions = frozenset(people.withdrawn), frozenset(study.recordings.sessions)
    found: set[Labels] = set()
    for observer, session in labels:
        if not observer or (who := spelt(observer)) in withdrawn or (roster is not None and who not in roster):
            continue
        if not sessions or (session is not None and spelt(session) in sessions):
            found.add((observer, session))
    return found


def _by_rows(table: pl.LazyFrame, study: Study) -> pl.LazyFrame:
    """Apply the rules row by row, for tables whose labels are not known."""
    people, sessions = study.participants, study.recordings.sessions
    counts = pl.col("observer").str.len_bytes() > 0
    if people.roster is not None:
        counts &= pl.col("observer").is_in(list(people.roster))
    if people.withdrawn:
        counts &= ~pl.col("observer").is_in(list(people.withdrawn))
    if sessions:
        counts &= pl.col("session").is_in(list(sessions))
    return table.with_columns(pl.col("observer", "session").str.normalize("NFC")).filter(counts)


def _by_labels(samples: pl.LazyFrame, labels: set[Labels], study: Study) -> pl.LazyFrame:
    """Apply the rules to a table whose labels are known: rows are compared as they are, and only if some do not pass.

    To bring every row into one spelling would take ten times as long as to read it.
    """
    passing = _passing(labels, study)
    if passing != labels:
        observers, sessions = (list({label[place] for label in passing}) for place in (0, 1))
        counts = pl.col("observer").is_in(pl.Series(observers, dtype=pl.String).implode())
        if study.recordings.sessions:
            counts &= pl.col("session").is_in(pl.Series(sessions, dtype=pl.String).implode())
        samples = samples.filter(counts)
    for place, column in enumerate(("observer", "session")):
        found = {label[place] for label in passing} - {None}
        if respelt := {name: spelt(name) for name in found if name is not None and name != spelt(name)}:
            samples = samples.with_columns(pl.col(column).replace(respelt))
    return samples
