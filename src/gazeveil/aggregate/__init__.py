# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What protects a data set: gaze maps, heatmaps and statistics of many observers (Liu 2019 and beyond)."""
