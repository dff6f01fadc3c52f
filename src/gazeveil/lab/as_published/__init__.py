# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Published methods to the letter, with their errors: what their papers and the corrected forms are compared with."""
