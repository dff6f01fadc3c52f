# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The one question: a declared study, what is to be published, and what must not happen."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import polars as pl

from gazeveil.errors import GazeveilError
from gazeveil.features.design import Design
from gazeveil.features.group_series import GroupSeries
from gazeveil.lab.experiments.advising import recommending, streams
from gazeveil.lab.experiments.advising.advice import Advice, Harm, Use
from gazeveil.lab.experiments.advising.recommending import Forecasting
from gazeveil.release.forecast import Forecast
from gazeveil.release.product_base import error_forecast
from gazeveil.release.study import Study

_READERS, _SECONDS = 10, 120.0


def advise(study: Study, use: Use, harm: Harm, table: pl.DataFrame, design: Design | None = None) -> Advice:
    """Return what to publish and how; from public facts and stored measurements alone, no data are read.

    Args:
        study: The declared study.
        use: What is to be published.
        harm: What must not happen to a participant.
        table: Stored measurements, as `gazeveil.lab.experiments.advising.stored.measurements` returns them.
        design: The public design of feature series; without one, that of simulated readers.

    Raises:
        InputError: If the number of participants is secret and there is no public guess.
    """
    if use is Use.HEATMAP:
        return recommending.heatmap(study, harm, table)
    if use is Use.FEATURES:
        return recommending.features(study, harm, table, series_forecast(study, design))
    return streams.advise(study, use, harm, table)


def series_forecast(study: Study, design: Design | None = None) -> Forecasting:
    """Return what forecasts the mean feature series of a study."""
    chosen = design or simulated_design()

    def forecast(epsilon: Fraction, participants: int) -> Forecast | None:
        try:
            made = GroupSeries(epsilon=epsilon, delta=study.delta, design=chosen)
            return error_forecast(made.plan(participants), chosen.source)
        except GazeveilError:  # a group of one, or a δ that so many participants do not allow
            return None

    return forecast


@cache
def simulated_design() -> Design:
    """Return a public design of simulated readers, for studies that have none yet; it takes seconds."""
    from gazeveil.features.design_learning import learn  # noqa: PLC0415
    from gazeveil.features.extraction import extract_corpus  # noqa: PLC0415
    from gazeveil.features.feature_list import declared_ranges  # noqa: PLC0415
    from gazeveil.features.series import panel_of  # noqa: PLC0415
    from gazeveil.gaze.corpus import Corpus  # noqa: PLC0415
    from gazeveil.lab.experiments.feature_people import CHOSEN, PUBLIC_SEED, by_task, other_documents  # noqa: PLC0415
    from gazeveil.simulate.reading import ReadingStudy  # noqa: PLC0415

    readers = ReadingStudy(_READERS, _SECONDS, documents=other_documents(), seed=PUBLIC_SEED)
    found = extract_corpus(Corpus.of(readers.recordings())).table
    ranges, steps = declared_ranges(unit="deg").only(CHOSEN), int((_SECONDS - 30.0) / 0.5) + 1
    fill = np.asarray(panel_of(found, ranges, steps).values.mean(axis=(0, 1)))
    tasks = by_task(panel_of(found, ranges, steps, fill))
    return learn(list(tasks.values()), ranges, f"{_READERS} simulated readers of other documents")
