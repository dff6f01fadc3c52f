# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
# Written by `python -m tools.generate`; do not edit.

from gazeveil.aggregate.aoi.mechanism import AoiStatistics as AoiStatistics
from gazeveil.aggregate.aoi.mechanism import GroupComparison as GroupComparison
from gazeveil.aggregate.heatmap import PrivateHeatmap as PrivateHeatmap
from gazeveil.aggregate.movie import HeatmapMovie as HeatmapMovie
from gazeveil.aggregate.saliency import Saliency as Saliency
from gazeveil.aggregate.study_heatmaps import PrivateHeatmaps as PrivateHeatmaps
from gazeveil.errors import GazeveilError as GazeveilError
from gazeveil.features.design import Design as Design
from gazeveil.features.group_series import GroupSeries as GroupSeries
from gazeveil.features.participant_series import ParticipantSeries as ParticipantSeries
from gazeveil.features.series_release import ParticipantRelease as ParticipantRelease
from gazeveil.features.table import FeatureTable as FeatureTable
from gazeveil.gaze.aoi import AreasOfInterest as AreasOfInterest
from gazeveil.gaze.corpus import Corpus as Corpus
from gazeveil.gaze.corpus import write_corpus as write_corpus
from gazeveil.gaze.reading import read as read
from gazeveil.gaze.recording import Eye as Eye
from gazeveil.gaze.recording import Recording as Recording
from gazeveil.geometry import Geometry as Geometry
from gazeveil.geometry import headset as headset
from gazeveil.geometry import normalised as normalised
from gazeveil.geometry import screen as screen
from gazeveil.noise.source import NoiseSource as NoiseSource
from gazeveil.privacy.guarantee import ApproxDP as ApproxDP
from gazeveil.privacy.guarantee import GazeStreamDP as GazeStreamDP
from gazeveil.privacy.guarantee import PureDP as PureDP
from gazeveil.privacy.guarantee import Unproven as Unproven
from gazeveil.privacy.guarantee import ZeroConcentratedDP as ZeroConcentratedDP
from gazeveil.privacy.ledger import Ledger as Ledger
from gazeveil.release.check import check as check
from gazeveil.release.feature_settings import learn_design as learn_design
from gazeveil.release.feature_settings import study_settings as feature_settings
from gazeveil.release.plan import Plan as Plan
from gazeveil.release.plan import plan as plan
from gazeveil.release.release import Release as Release
from gazeveil.release.study import Participants as Participants
from gazeveil.release.study import Recordings as Recordings
from gazeveil.release.study import Stimulus as Stimulus
from gazeveil.release.study import Study as Study
from gazeveil.release.study_proposal import propose as propose
from gazeveil.release.verify import verify as verify
from gazeveil.samples.mechanism import MECHANISMS as VEILS
from gazeveil.samples.recipes import PRESETS as VEIL_PRESETS
from gazeveil.samples.veiled_recordings import VeiledRecordings as VeiledRecordings

__version__: str

__all__ = [
    "VEILS",
    "VEIL_PRESETS",
    "AoiStatistics",
    "ApproxDP",
    "AreasOfInterest",
    "Corpus",
    "Design",
    "Eye",
    "FeatureTable",
    "GazeStreamDP",
    "GazeveilError",
    "Geometry",
    "GroupComparison",
    "GroupSeries",
    "HeatmapMovie",
    "Ledger",
    "NoiseSource",
    "ParticipantRelease",
    "ParticipantSeries",
    "Participants",
    "Plan",
    "PrivateHeatmap",
    "PrivateHeatmaps",
    "PureDP",
    "Recording",
    "Recordings",
    "Release",
    "Saliency",
    "Stimulus",
    "Study",
    "Unproven",
    "VeiledRecordings",
    "ZeroConcentratedDP",
    "check",
    "feature_settings",
    "headset",
    "learn_design",
    "normalised",
    "plan",
    "propose",
    "read",
    "screen",
    "verify",
    "write_corpus",
]
