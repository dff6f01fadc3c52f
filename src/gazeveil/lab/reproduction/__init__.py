# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""All figures and tables of the four papers, measured again in one run, with one page about them."""
