# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The grid: every mechanism against every attack and for every use, in one table and one report."""
