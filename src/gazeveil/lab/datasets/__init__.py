# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Readers of public data sets, one file each: the path of a folder in, recordings out."""
