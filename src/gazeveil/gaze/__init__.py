# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What comes in: recordings, screens and headsets, fixations, areas of interest, file formats."""
