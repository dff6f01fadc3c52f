# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Liu et al. 2019, measured again: heatmaps with noise."""
