# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Other people's libraries on our jobs. Each runs in an environment of its own, because they pin old versions."""
