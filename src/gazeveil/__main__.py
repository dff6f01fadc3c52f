# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``python -m gazeveil``."""

from gazeveil.cli.main import main

main()
