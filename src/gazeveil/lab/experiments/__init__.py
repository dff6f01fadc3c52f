# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Experiments, in folders by paper: one file per reproduced table or figure."""
