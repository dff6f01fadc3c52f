# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The old name of `gazeveil.features.participant_series`."""

from gazeveil.renamed import moved

__getattr__ = moved(
    "gazeveil.features.own",
    "gazeveil.features.participant_series",
    OwnSeries="ParticipantSeries",
    OwnPlan="ParticipantPlan",
)
