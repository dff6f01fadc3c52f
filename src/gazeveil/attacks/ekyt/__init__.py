# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Eye Know You Too: the network that recognises people by how their eyes move (Lohr and Komogortsev 2022)."""
