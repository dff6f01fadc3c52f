# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The metrics of veiled streams, found by name through `gazeveil.lab.utility.streams.METRICS`."""
