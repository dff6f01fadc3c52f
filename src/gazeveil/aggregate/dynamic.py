# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The old name of `gazeveil.aggregate.movie`."""

from gazeveil.renamed import moved

__getattr__ = moved("gazeveil.aggregate.dynamic", "gazeveil.aggregate.movie", DynamicHeatmap="HeatmapMovie")
