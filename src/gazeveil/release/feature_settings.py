# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What a release of feature series needs beside recordings: extraction settings, lengths, and a public design.

Data come as a corpus, from which features are extracted after the charge, or as a table that `gazeveil features
extract` made. A table's label says how it was made. Where a study is declared, only a table that was extracted with
that declaration is taken: its label then says nothing about any participant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from gazeveil.aggregate.engine import Engine
from gazeveil.engines import engine_at
from gazeveil.errors import InputError, OptionError, PrivacyError
from gazeveil.exact import Number, whole_number
from gazeveil.features.design import COSINES, Design
from gazeveil.features.design_learning import learn_from
from gazeveil.features.external_tables import ExternalFeatures, digest_of, is_external
from gazeveil.features.extraction import STEP_S, WINDOW_S, of_corpus
from gazeveil.features.settings import Settings, extract_one
from gazeveil.features.table import FeatureTable, Info, read_info
from gazeveil.gaze.corpus import Corpus
from gazeveil.geometry import Geometry, Unit
from gazeveil.release.data import source_of
from gazeveil.release.plan import Data
from gazeveil.release.study import Participants, Recordings, Stimulus, Study, spelt
from gazeveil.samples.space import Screen, Sphere, read_length


def is_table(source: Data) -> bool:
    """Return whether a source is a table of features or its file; everything else holds recordings."""
    return isinstance(source, FeatureTable) or (isinstance(source, Path | str) and not Path(source).is_dir())


def declared_table(study: Study, source: Data) -> ExternalFeatures | None:
    """Return what the study declares about a table from elsewhere; None if the source is of another kind.

    Raises:
        OptionError: If it is such a table and the study declares nothing about it, or was learnt from it.
    """
    if not is_external(source):
        return None
    if study.features is None:
        raise OptionError(
            "this is a table of features from elsewhere, and no ranges are declared for it: they are never read off "
            "the data that are to be protected",
            hint="declare them under [features] of study.toml and give --study; `gazeveil features declare` learns "
            "them from public participants",
        )
    learnt, there = study.features.learnt_from, isinstance(source, Path | str) and Path(source).exists()
    if learnt and there and digest_of(Path(str(source))) == learnt:
        raise PrivacyError(
            "the declared ranges were learnt from this very table: they would give away its values",
            hint="learn them from participants whose data are public, or declare them from what is known",
        )
    return study.features


def observed_facts(source: Data, *, number: Number | None = None, secret: bool = False) -> Study:
    """Read the facts off a corpus or a table: quick, and not protected. See `Study.observed_in`."""
    if is_external(source):
        raise OptionError(
            "this is a table of features from elsewhere: declare in a study what it holds",
            hint="write study.toml with who takes part and [features], and give --study study.toml",
        )
    if not is_table(source):
        corpus = source_of(source).open([])  # type: ignore[arg-type]
        study = Study.observed_in(corpus, number=number, secret=secret)
        units = Counter(part.label.pupil_unit for part in corpus.parts)
        recordings = Recordings(pupil_unit=max(units, key=lambda unit: units[unit]))
        return replace(study, recordings=recordings, observed=study.observed | {"recordings"})
    table = source if isinstance(source, FeatureTable) else FeatureTable.read(Path(str(source)))
    if not len(table):
        raise InputError("the table has no series")
    labels = table.rows.select("observer", "stimulus", "task", "group").unique().sort(pl.all()).rows()
    plane = Geometry(Unit(table.info.unit))  # all that a table says about where gaze lay
    tasks = {spelt(stimulus): task for _, stimulus, task, _ in labels}
    number_given = number is not None or secret
    return Study(
        name="a table of features" if isinstance(source, FeatureTable) else Path(str(source)).stem,
        participants=Participants(
            roster=None if number_given else tuple(table.observers),
            number=None if number is None else int(str(number)),
            secret=secret,
        ),
        stimuli=tuple(Stimulus(name=name, screen=plane, task=task) for name, task in tasks.items()),
        recordings=Recordings(
            pupil_unit=table.info.pupil_unit, groups={spelt(who): group for who, _, _, group in labels if group}
        ),
        observed=frozenset({"stimuli", "recordings", *(() if number_given else ("participants",))}),
    )


def with_series(study: Study, series: int) -> Study:
    """Return the study with another number of recordings of a stimulus that each participant contributes."""
    count = whole_number(series, "series", at_least=1)
    return replace(study, recordings=replace(study.recordings, per_stimulus=count))


def study_settings(
    study: Study,
    *,
    window: float | None = None,
    step: float | None = None,
    bins: float | None = None,
    radius: float | str | None = None,
) -> Settings:
    """Return how features are made: in degrees if every declared screen knows them, at the declared rate and unit.

    Args:
        study: The study.
        window: Seconds a window lasts; 30 by default.
        step: Seconds from one window to the next; half a second by default.
        bins: Seconds of a bin; non-overlapping bins instead of windows.
        radius: Of a fixation in windows; as text with its unit, ``1deg``, or ``1%`` where degrees are not known.

    Raises:
        OptionError: If options for windows and for bins are mixed.
    """
    degrees = all(stimulus.screen.knows_degrees for stimulus in study.stimuli)
    rate, unit = study.recordings.rate_hz, study.recordings.pupil_unit
    if bins is None:
        return Settings.windows(
            degrees=degrees,
            window=WINDOW_S if window is None else window,
            step=STEP_S if step is None else step,
            radius=_fixation_radius(radius, degrees=degrees),
            rate_hz=rate,
            pupil_unit=unit,
        )
    if radius is not None:
        raise OptionError("--radius is about windows; bins tell fixations by velocity")
    if window is not None or step is not None:
        raise OptionError("bins have one width: --window and --step are about windows")
    return Settings.bins(degrees=degrees, width=bins, rate_hz=rate, pupil_unit=unit)


def _fixation_radius(radius: float | str | None, *, degrees: bool) -> float | None:
    """Return the radius in the unit of the features; a program may give the number alone."""
    if not isinstance(radius, str):
        return radius
    return float(read_length(radius, Sphere() if degrees else Screen(1, 1, unit="norm")))


def source_settings(study: Study, source: Data, **options: Any) -> Settings | ExternalFeatures:
    """Return how the features of a source are made: as a table's label says, or by options (see `study_settings`).

    Raises:
        OptionError: If a table was extracted with facts from the data, and the study is declared.
    """
    foreign = declared_table(study, source)
    if foreign is None and not is_table(source):
        return study_settings(study, **options)
    if any(value is not None for value in options.values()):
        raise OptionError("the table is already made: --window, --step, --bins and --radius are for a corpus")
    return foreign or Settings.of(label_of(study, source))


def label_of(study: Study, source: Data) -> Info:
    """Return the label of a table, if it may be used for a study; the series are not read.

    Raises:
        OptionError: If it was extracted with facts from the data, and the study is declared.
    """
    info = source.info if isinstance(source, FeatureTable) else read_info(Path(str(source)))
    if "stimuli" not in study.observed and info.declared_by != study.name:
        raise OptionError(
            f"the table was not extracted with the declaration of {study.name!r}",
            hint="extract it with `gazeveil features extract --study study.toml`, or release from the corpus itself",
        )
    return info


def stimuli_of(study: Study, task: str | None) -> tuple[Stimulus, ...]:
    """Return the stimuli of a task; of all tasks if none is given.

    Raises:
        InputError: If the study has no such task.
    """
    if task is None:
        return study.stimuli
    found = tuple(each for each in study.stimuli if spelt(each.task or each.name) == spelt(task))
    if not found:
        known = dict.fromkeys(each.task or each.name for each in study.stimuli)
        raise InputError(f"the study has no task {task!r}", hint=f"it has {', '.join(list(known)[:12])}")
    return found


def declared_steps(settings: Settings | ExternalFeatures, stimuli: Sequence[Stimulus]) -> int:
    """Return the public length of series in steps, from how long the stimuli were shown; the longest decides.

    Raises:
        OptionError: If that is not declared.
    """
    if isinstance(settings, ExternalFeatures):
        return settings.rows
    if any(stimulus.seconds is None for stimulus in stimuli):
        raise OptionError(
            "say with --steps how long a series is, or declare the seconds of each stimulus",
            hint="it is public: the planned length, not the longest at hand",
        )
    return settings.steps_in(max(stimulus.seconds or 0.0 for stimulus in stimuli))


# --- The public design for a study's feature series, learnt from participants outside of it.


def learn_design(
    study: Study,
    public: Corpus | FeatureTable | Path | str,
    *,
    source: str,
    task: str | None = None,
    features: Sequence[str] | None = None,
    settings: Settings | None = None,
    steps: int | None = None,
    pupil_range: tuple[float, float] | None = None,
    shapes: str = COSINES,
    engine: Engine | str = "local",
) -> Design:
    """Learn what feature series are like from public or simulated gaze, never from the participants to protect.

    Args:
        study: The study that the design is for; it decides how features are made and how long series are.
        public: The public participants' recordings, their folder, or a table of their features.
        source: Where these participants come from, in words; it goes out with every release.
        task: The task that will be released; it decides the length of series.
        features: Which features, in this order; by default all that vary.
        settings: How features are made; by default the 52 features in windows of 30 s (`study_settings`). Plan with the
            same.
        steps: How long a series is; by default as long as the study declares.
        pupil_range: Plausible pupil sizes; needed for pupil features where the unit is not mm.
        shapes: Which shapes over time are used: ``cosines`` or ``haar``.
        engine: Where features are extracted.

    Raises:
        InputError: If there are too few public series, or the study has no such task.
        OptionError: If nothing says how long series are.
    """
    made = study_settings(study) if settings is None else settings
    length = declared_steps(made, stimuli_of(study, task)) if steps is None else steps
    if not isinstance(public, FeatureTable):
        corpus = public if isinstance(public, Corpus) else Corpus.open(public)
        computer = engine_at(engine) if isinstance(engine, str) else engine
        public = of_corpus(corpus, partial(extract_one, settings=made), engine=computer).table
    return learn_from(public, made.ranges(features, pupil_range), length, source, shapes)
