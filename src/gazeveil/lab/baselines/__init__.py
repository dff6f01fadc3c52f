# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Other groups' ways of protecting data sets, to compare with and not to release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gazeveil.lab.baselines.event_synth import EventSynth
from gazeveil.lab.baselines.k_same import DatasetMechanism, DatasetSeries, KSame, KSameSynth

DATASET_MECHANISMS: Final[Mapping[str, type[DatasetMechanism]]] = {
    "event-synth": EventSynth,
    "k-same-synth": KSameSynth,
}
"""What protects a set of recordings together, by name."""
DATASET_SERIES: Final[Mapping[str, type[DatasetSeries]]] = {"k-same": KSame}
"""What protects a set of feature series together, by name."""
