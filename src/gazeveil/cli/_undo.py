# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What the control page shows as "undone": the gateway knows no attack, so the program is handed to it here."""

from __future__ import annotations

from gazeveil.gateway.page_side import Undo
from gazeveil.lab.attacks import live

UNDO = Undo(live.__name__, live.filter_for)
