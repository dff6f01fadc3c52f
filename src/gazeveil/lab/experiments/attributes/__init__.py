# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Identity and attributes, from gaze behind mechanisms and from geometry (Kaleido, figure 12)."""
