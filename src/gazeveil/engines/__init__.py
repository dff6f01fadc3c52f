# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Where sums over observers are computed: on this machine or on a cluster, with the same integers."""
