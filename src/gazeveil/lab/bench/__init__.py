# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The bench on which experiments run: processes under a time limit, and digests of the code behind a number."""
