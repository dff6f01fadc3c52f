# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Training of what the product ships: the decoder of heatmaps, and the readout of the picture model."""
