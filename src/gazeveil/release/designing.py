# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The public design for a study's feature series, learnt from participants outside of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from gazeveil.aggregate.engine import Engine
from gazeveil.engines import engine_at
from gazeveil.features.design import COSINES, Design
from gazeveil.features.design_learning import learn_from
from gazeveil.features.extraction import of_corpus
from gazeveil.features.settings import Settings, extract_one
from gazeveil.features.table import FeatureTable
from gazeveil.gaze.corpus import Corpus
from gazeveil.release.feature_facts import declared_steps, settings_of, stimuli_of
from gazeveil.release.study import Study


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
        settings: How features are made; by default the 52 features in windows of 30 s (`settings_of`). Plan with the
            same.
        steps: How long a series is; by default as long as the study declares.
        pupil_range: Plausible pupil sizes; needed for pupil features where the unit is not mm.
        shapes: Which shapes over time are used: ``cosines`` or ``haar``.
        engine: Where features are extracted.

    Raises:
        InputError: If there are too few public series, or the study has no such task.
        OptionError: If nothing says how long series are.
    """
    made = settings_of(study) if settings is None else settings
    length = declared_steps(made, stimuli_of(study, task)) if steps is None else steps
    if not isinstance(public, FeatureTable):
        corpus = public if isinstance(public, Corpus) else Corpus.open(public)
        computer = engine_at(engine) if isinstance(engine, str) else engine
        public = of_corpus(corpus, partial(extract_one, settings=made), engine=computer).table
    return learn_from(public, made.ranges(features, pupil_range), length, source, shapes)
