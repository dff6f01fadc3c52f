# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Moves, merges and renames modules without any change of behaviour; see `tools.merging.__main__`."""
