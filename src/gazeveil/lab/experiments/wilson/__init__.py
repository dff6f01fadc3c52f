# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Wilson et al. 2024, measured again: who is identified behind which mechanism, and what the mechanism costs."""
