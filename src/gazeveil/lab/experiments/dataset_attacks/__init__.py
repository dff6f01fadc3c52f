# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Attacks on released data sets: membership and reconstruction, through the path that every release takes."""
