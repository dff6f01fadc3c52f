# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Is this commit ready to be released? ``make release-check`` answers."""
