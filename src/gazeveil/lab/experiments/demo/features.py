# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The demo's feature: how a group's reading changes over time, as it is and as it is released."""

from __future__ import annotations

from typing import Any

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.display import BLUE, GREY, ORANGE, canvas, legend_below, png
from gazeveil.features.design_learning import learn_from
from gazeveil.features.extraction import extract_corpus
from gazeveil.features.feature_list import declared_ranges
from gazeveil.features.group_series import GroupEstimate, GroupSeries
from gazeveil.features.series import panel_of
from gazeveil.features.settings import Settings
from gazeveil.features.table import FeatureTable
from gazeveil.gaze.corpus import Corpus
from gazeveil.gaze.recording import Recording
from gazeveil.lab.experiments.feature_people import PRIVATE_SEED, PUBLIC_SEED, other_documents
from gazeveil.release import visual_report
from gazeveil.release.feature_settings import observed_facts
from gazeveil.simulate.reading import DOCUMENTS, GLASSES, Document, Reader, ReadingStudy, read

EPSILON = "3"
FEWEST, MOST, PUBLIC_READERS = 2, 60, 10
PART_S, WINDOW_S, STEP_S = 50.0, 15.0, 2.5
FEATURE = "right_share"


def feature_section(observers: int) -> visual_report.ReportSection:
    """Release the mean course of one feature of a simulated class, and show it beside what it was."""
    readers = min(max(observers, FEWEST), MOST)
    comic, _, textbook = DOCUMENTS
    others = {document.name: document for document in other_documents()}
    lesson = (textbook, comic, textbook)
    public = _lesson_of(PUBLIC_READERS, PUBLIC_SEED, (others["novel"], others["leaflet"], others["novel"]))
    table = _lesson_of(readers, PRIVATE_SEED, lesson)
    ranges = declared_ranges(unit="deg").only([FEATURE])
    steps = int((len(lesson) * PART_S - WINDOW_S) / STEP_S) + 1
    design = learn_from(public, ranges, steps, "simulated readers of other documents")
    truth = panel_of(table, ranges, steps, design.mean).values.mean(axis=0)[:, 0]
    mechanism = GroupSeries(epsilon=EPSILON, design=design)
    plan = observed_facts(table).plan(mechanism, settings=Settings.of(table.info))
    released = plan.release(table, anyway=True)  # shown in small trials too, where the noise hides the course
    off = float(np.sqrt(np.mean(np.square(released.value.mean[:, 0] - truth))))
    lead = (
        f"A class of {readers} reads a textbook, then a comic, then the textbook again. The released series is the "
        f"share of saccades that go right, averaged over the class, in windows of {WINDOW_S:g} s. It drops with the "
        f"comic and comes back. The guarantee is {released.guarantee}. The design was learnt from other readers, who "
        "are public."
    )
    caption = f"Saccades that go right: the class and what is released; off by {off:.3f} (root mean square)"
    return visual_report.ReportSection(
        "A private feature over time",
        (
            visual_report.paragraph(lead),
            visual_report.html_picture(_drawn(truth, released.value, [document.name for document in lesson]), caption),
            visual_report.html_details(
                "The privacy statement", visual_report.paragraph(released.statement().paragraph())
            ),
        ),
    )


def _lesson_of(count: int, seed: int, documents: tuple[Document, ...]) -> FeatureTable:
    readers = ReadingStudy(count, PART_S, seed=seed).readers()
    lessons = Corpus.of(_lesson(reader, documents) for reader in readers)
    return extract_corpus(lessons, window=WINDOW_S, step=STEP_S).table


def _lesson(reader: Reader, documents: tuple[Document, ...]) -> Recording:
    """Return one recording of a reader who reads documents one after the other."""
    parts = [read(reader, document, GLASSES, PART_S, number) for number, document in enumerate(documents, start=1)]

    def joined(name: str) -> Any:
        return np.concatenate([getattr(part, name) for part in parts])

    return Recording(
        np.concatenate([part.t - part.t[0] + number * PART_S for number, part in enumerate(parts)]),
        joined("x"),
        joined("y"),
        GLASSES.geometry,
        valid=joined("valid"),
        pupil=joined("pupil"),
        observer=reader.eyes.name,
        stimulus="lesson",
        session="1",
        rate_hz=GLASSES.rate_hz,
        pupil_unit=GLASSES.pupil_unit,
    )


def _drawn(truth: FloatArray, released: GroupEstimate, documents: list[str]) -> bytes:
    figure, axes = canvas(9, 3.8)
    seconds = np.arange(len(truth)) * STEP_S + WINDOW_S / 2
    mean, half = released.mean[:, 0], 1.96 * released.sd[:, 0]
    axes.fill_between(seconds, mean - half, mean + half, color=BLUE, alpha=0.18, linewidth=0, label="95 % interval")
    axes.plot(seconds, mean, color=BLUE, linewidth=2, label="released")
    axes.plot(seconds, truth, color=ORANGE, linestyle="--", linewidth=1.6, label="raw mean of the class")
    axes.plot(seconds, released.public[:, 0], color=GREY, linestyle=":", linewidth=1.2, label="known without data")
    for number, name in enumerate(documents):
        if number:
            axes.axvline(number * PART_S, color=GREY, linewidth=0.8)
        at = ((number + 0.5) * PART_S, 1.0)
        axes.annotate(name, at, xycoords=("data", "axes fraction"), ha="center", va="bottom")
    axes.set_xlim(0, len(documents) * PART_S)
    axes.set_xlabel("time (s)")
    axes.set_ylabel("saccades that go right (share)")
    legend_below(figure, axes)
    return png(figure)
