# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""From samples to apps: trackers, groups of viewers, streams of apps, budgets."""
