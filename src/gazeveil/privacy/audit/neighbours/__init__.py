# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Neighbouring inputs that are hard for a mechanism: observers, feature series, windows of gaze.

All of it is made up from nothing but the bounds that a guarantee speaks of: no participant's data goes into an audit.
"""
