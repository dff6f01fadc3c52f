# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The policy of a gateway: settings, levels, scene, checks, reading."""
