# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""One file per mechanism; each enters `gazeveil.samples.MECHANISMS` by its decorator."""
