# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Methods of other groups, and of ours that lost, as baselines: to compare with, not to release."""
