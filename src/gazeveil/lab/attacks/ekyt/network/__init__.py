# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The network of Eye Know You Too: from gaze to embeddings."""
