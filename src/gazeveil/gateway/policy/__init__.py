# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A gateway's policy: its values, the file that it is read from, and the checks of it."""
