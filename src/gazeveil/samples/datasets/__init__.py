# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Baselines that protect the recordings of many participants at once, one file each."""
