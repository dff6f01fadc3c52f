# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""From raw gaze and pupil to the 52 features over time, for one recording or a whole corpus."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

import polars as pl

from gazeveil.errors import InputError
from gazeveil.features.eye_events import EventRules, find_events
from gazeveil.features.names import NAMES
from gazeveil.features.table import FIXED, WINDOWS, FeatureTable, Info
from gazeveil.features.windows import QualityRules, window_features, window_starts
from gazeveil.gaze.corpus import Corpus
from gazeveil.gaze.mapping import MapsRecordings, OneByOne
from gazeveil.gaze.recording import Key, Recording
from gazeveil.types import FloatArray, Tell, silent

WINDOW_S: Final = 30.0
STEP_S: Final = 0.5


@dataclass(frozen=True, slots=True)
class Extracted:
    """The features of a corpus, and what was left out and why."""

    table: FeatureTable
    left_out: Mapping[Key, str] = field(default_factory=dict)


def extract(
    recording: Recording,
    *,
    window: float = WINDOW_S,
    step: float = STEP_S,
    rules: EventRules | None = None,
    quality: QualityRules | None = None,
    task: str | None = None,
    group: str = "",
    most: int | None = None,
) -> FeatureTable:
    """Compute the 52 features of one recording in a sliding window.

    Args:
        recording: Gaze, with a pupil where there is one.
        window: Seconds a window lasts.
        step: Seconds from one window to the next.
        rules: What fixations, saccades and blinks are; by default in degrees where the geometry knows them, else in
            fractions of the viewing plane as published.
        quality: Which windows are usable.
        task: What the participant did; by default the stimulus.
        group: Which group the participant belongs to, for comparisons.
        most: No more windows than this.

    Raises:
        InputError: If the recording is shorter than a window, or its time goes backwards.
    """
    rules = EventRules.for_(recording) if rules is None else rules
    quality = QualityRules() if quality is None else quality
    events = find_events(recording, rules)
    rate = recording.rate
    starts = window_starts(events.t, rate, window, step, most)
    values, found = window_features(events, starts, window, rate, rules.large_radii * rules.radius, quality)
    settings = {"rules": rules.to_dict(), "quality": quality.to_dict()}
    info = Info(WINDOWS, NAMES, window, step, str(rules.unit), recording.pupil_unit, settings=settings)
    return as_table(recording.key, recording.stimulus if task is None else task, group, starts, values, found, info)


def extract_corpus(
    corpus: Corpus,
    *,
    window: float = WINDOW_S,
    step: float = STEP_S,
    rules: EventRules | None = None,
    quality: QualityRules | None = None,
    tasks: Mapping[str, str] | None = None,
    groups: Mapping[str, str] | None = None,
    tell: Tell | None = None,
    engine: MapsRecordings | None = None,
) -> Extracted:
    """Compute the 52 features of every recording of a corpus; recordings that cannot be used are reported, not hidden.

    Args:
        corpus: The recordings; one is in memory at a time.
        window: Seconds a window lasts.
        step: Seconds from one window to the next.
        rules: As in `extract`; one set for all (`rules_of`).
        quality: Which windows are usable.
        tasks: The task of each stimulus, where it is not the stimulus itself.
        groups: The group of each observer, where known.
        tell: Called with how much is done, and of how much.
        engine: Where recordings are worked on; by default in this thread, one after the other.

    Raises:
        InputError: If no recording can be used.
    """
    rules = rules_of(corpus) if rules is None else rules
    one = partial(extract, window=window, step=step, rules=rules, quality=quality)
    return of_corpus(corpus, one, tasks=tasks, groups=groups, tell=tell, engine=engine)


def rules_of(corpus: Corpus) -> EventRules:
    """Return rules in degrees if every geometry of the corpus knows them, else in fractions of the viewing plane."""
    known = all(part.label.geometry.knows_degrees for part in corpus.parts)
    return EventRules.in_degrees() if known else EventRules.in_fractions()


@dataclass(frozen=True, slots=True)
class _TableOrReason:
    """Turns a recording into its table, or into the reason why it cannot be used."""

    one: Callable[[Recording], FeatureTable]

    def __call__(self, recording: Recording) -> tuple[Key, FeatureTable | str]:
        try:
            return recording.key, self.one(recording)
        except InputError as error:
            if type(error) is not InputError:  # a wrong option or geometry is wrong for all
                raise
            return recording.key, error.message


def of_corpus(
    corpus: Corpus,
    one: Callable[[Recording], FeatureTable],
    *,
    tasks: Mapping[str, str] | None = None,
    groups: Mapping[str, str] | None = None,
    tell: Tell | None = None,
    engine: MapsRecordings | None = None,
) -> Extracted:
    """Put the tables of all recordings together, with labels; see `extract_corpus`. ``one`` must pickle."""
    mapper = OneByOne() if engine is None else engine
    tables: list[FeatureTable] = []
    left_out: dict[Key, str] = {}
    for key, found in mapper.map_recordings(corpus, _TableOrReason(one), silent if tell is None else tell):
        if isinstance(found, str):
            left_out[key] = found
        else:
            tables.append(found)
    if not tables:
        reason = f": {next(iter(left_out.values()))}" if left_out else ""
        raise InputError(f"no recording of the corpus can be used{reason}", hint="see `gazeveil info`")
    if len({table.info.pupil_unit for table in tables}) > 1:
        check_pupil_units(corpus)
    return Extracted(FeatureTable.concat(tables).with_tasks(tasks or {}).with_groups(groups or {}), left_out)


def check_pupil_units(corpus: Corpus) -> None:
    """Check that the pupils of a corpus are in one unit.

    Raises:
        InputError: If they are not.
    """
    units = sorted({part.label.pupil_unit or "arbitrary" for part in corpus.parts})
    if len(units) > 1:
        raise InputError(
            f"pupils are in different units ({', '.join(units)})",
            hint="select recordings of one tracker, or declare the unit in a study",
        )


def as_table(
    key: Key, task: str, group: str, starts: FloatArray, values: FloatArray, quality: FloatArray, info: Info
) -> FeatureTable:
    """Put one recording's windows or bins into a table; ``quality`` has the columns of `table.QUALITY`."""
    count = len(starts)
    labels = {**key._asdict(), "task": task, "group": group}
    columns: dict[str, object] = {
        name: pl.Series(name, [text], dtype=pl.String).new_from_index(0, count) for name, text in labels.items()
    }
    samples, covered, errors, repeats, usable = quality.T
    columns |= {"start": starts, "end": starts + info.window, "samples": samples.astype("int64"), "covered": covered}
    columns |= {"errors": errors, "repeats": repeats, "usable": usable > 0}
    columns |= dict(zip(info.names, values.T, strict=True))
    return FeatureTable(pl.DataFrame(columns, schema_overrides=dict(FIXED)), replace(info))
