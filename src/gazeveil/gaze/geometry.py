# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The old name of `gazeveil.geometry`."""

from gazeveil.renamed import moved

__getattr__ = moved("gazeveil.gaze.geometry", "gazeveil.geometry")
