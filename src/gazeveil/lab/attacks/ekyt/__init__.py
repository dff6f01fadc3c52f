# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Eye Know You Too: the network that recognises participants by how their eyes move (Lohr and Komogortsev 2022)."""
