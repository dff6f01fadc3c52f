# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What can be released: a function for each product joins its mechanism and a declared study to a measurement."""
