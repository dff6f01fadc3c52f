# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Who somebody is and what kind of person, from gaze behind veils and from geometry (Kaleido, figure 12)."""
