# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Speed, as ratios to a named peer or to the physical floor, measured in one run. `make bench` runs all of it."""
