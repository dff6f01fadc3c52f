# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Advice: what a study should publish, and how, against a harm; from public facts and stored measurements."""
