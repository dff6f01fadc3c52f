# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A program as the control page asks it for guesses: gives points back, moved by a tenth of the width."""

from __future__ import annotations

import json
import sys

from gazeveil.gateway._page_undoing import packed, unpacked

if __name__ == "__main__":
    while head := sys.stdin.buffer.readline():
        asked = json.loads(head)
        assert asked.keys() == {"veil", "geometry", "points"}
        points = unpacked(sys.stdin.buffer.read(24 * asked["points"]))
        sys.stdout.buffer.write(packed({}, [(t, x + 192, y) for t, x, y in points]))
        sys.stdout.buffer.flush()
