# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Scanpaths behind mechanisms: similarity, linkage and outliers (Kaleido, figures 10 and 11)."""
