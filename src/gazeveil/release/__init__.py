# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The one door: a declared study, a plan from public facts, charge, data, noise, a record that can be verified."""
