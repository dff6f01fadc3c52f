# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The demo: a small simulated study and its report."""
