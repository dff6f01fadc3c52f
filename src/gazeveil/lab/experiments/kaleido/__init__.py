# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Kaleido (Li et al. 2021), measured again: streams of gaze."""
