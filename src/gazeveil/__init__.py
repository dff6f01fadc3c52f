# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""gazeveil: the privacy layer for eye tracking.

Declare a study, plan a release, release it::

    study = gazeveil.Study.open("study.toml")
    plan = study.plan(gazeveil.PrivateHeatmap(epsilon="1"), stimulus="scene-01")
    release = plan.release("gaze", ledger=gazeveil.Ledger.open())
    release.save("out")
    gazeveil.verify("out")

Declare
    Study, Participants, Stimulus, Recordings: the public facts. propose: from a corpus to a declaration to check.
    check: what in the data does not fit it.

Plan, release, verify
    plan, Plan, Release, verify. What is released is a mechanism's name:
    PrivateHeatmap, PrivateHeatmaps (a whole study), HeatmapMovie (a movie),
    AoiStatistics, GroupComparison (areas of interest, groups side by side),
    GroupSeries, ParticipantSeries, ParticipantRelease (features over time; Design, learn_design, feature_settings),
    VeiledRecordings (recordings behind a stream mechanism, a veil; VEILS and VEIL_PRESETS have their names).

Data
    read (files and data frames), write_corpus, Corpus, Recording, Eye, FeatureTable, Geometry, screen, headset,
    normalised, AreasOfInterest, Saliency.

Budgets
    Ledger.

Guarantees and noise
    PureDP, ApproxDP, ZeroConcentratedDP, GazeStreamDP, Unproven, NoiseSource. Without a noise source, noise comes from
    the operating system.

Every mistake of a caller raises a GazeveilError, with a hint.
"""

from __future__ import annotations

import importlib
from typing import Any, Final

__version__ = "0.1.0"

# The public names: where each lives, with its name there if that is another one; `tools.generate` writes the stub from
# this table. Loaded on first use, so that `import gazeveil` costs next to nothing. No name here may be that of a
# package inside gazeveil: importing the package would put it in the place of the name.
_HOME: Final = {
    "VEILS": "gazeveil.samples.mechanism:MECHANISMS",
    "VEIL_PRESETS": "gazeveil.samples.recipes:PRESETS",
    "AoiStatistics": "gazeveil.aggregate.aoi.mechanism",
    "ApproxDP": "gazeveil.privacy.guarantee",
    "AreasOfInterest": "gazeveil.gaze.aoi",
    "Corpus": "gazeveil.gaze.corpus",
    "Design": "gazeveil.features.design",
    "Eye": "gazeveil.gaze.recording",
    "FeatureTable": "gazeveil.features.table",
    "GazeStreamDP": "gazeveil.privacy.guarantee",
    "GazeveilError": "gazeveil.errors",
    "Geometry": "gazeveil.geometry",
    "GroupComparison": "gazeveil.aggregate.aoi.mechanism",
    "GroupSeries": "gazeveil.features.group_series",
    "HeatmapMovie": "gazeveil.aggregate.movie",
    "Ledger": "gazeveil.privacy.ledger",
    "NoiseSource": "gazeveil.noise.source",
    "ParticipantRelease": "gazeveil.features.series_release",
    "ParticipantSeries": "gazeveil.features.participant_series",
    "Participants": "gazeveil.release.study",
    "Plan": "gazeveil.release.plan",
    "PrivateHeatmap": "gazeveil.aggregate.heatmap",
    "PrivateHeatmaps": "gazeveil.aggregate.study_heatmaps",
    "PureDP": "gazeveil.privacy.guarantee",
    "Recording": "gazeveil.gaze.recording",
    "Recordings": "gazeveil.release.study",
    "Release": "gazeveil.release.release",
    "Saliency": "gazeveil.aggregate.saliency",
    "Stimulus": "gazeveil.release.study",
    "Study": "gazeveil.release.study",
    "Unproven": "gazeveil.privacy.guarantee",
    "VeiledRecordings": "gazeveil.samples.veiled_recordings",
    "ZeroConcentratedDP": "gazeveil.privacy.guarantee",
    "check": "gazeveil.release.check",
    "feature_settings": "gazeveil.release.feature_settings:study_settings",
    "headset": "gazeveil.geometry",
    "learn_design": "gazeveil.release.feature_settings",
    "normalised": "gazeveil.geometry",
    "plan": "gazeveil.release.plan",
    "propose": "gazeveil.release.study_proposal",
    "read": "gazeveil.gaze.reading",
    "screen": "gazeveil.geometry",
    "verify": "gazeveil.release.verify",
    "write_corpus": "gazeveil.gaze.corpus",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    try:
        home, _, there = _HOME[name].partition(":")
    except KeyError:
        raise AttributeError(f"module 'gazeveil' has no attribute {name!r}") from None
    value = getattr(importlib.import_module(home), there or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
