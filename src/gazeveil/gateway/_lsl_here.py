# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Lists the streams of gaze that programs of this machine offer over LSL. A program of its own.

liblsl takes its settings once a process: here it looks no further than this machine, whatever the user's are.
"""

from __future__ import annotations

import json
import sys
from typing import Final

from gazeveil.gateway import _lsl_search as search

_PATIENCE_S: Final = 1.0
_MANY: Final = 64


def streams() -> list[str]:
    """Return the names of streams of gaze, without those that a gateway shows."""
    try:
        import pylsl  # noqa: PLC0415
    except (ImportError, RuntimeError):
        return []
    pylsl.set_config_content(search.settings(search.DEFAULT_SESSION))
    found = pylsl.resolve_byprop("type", "Gaze", _MANY, _PATIENCE_S)
    return sorted({str(info.name()) for info in found if search.is_the_trackers(info, "")})


if __name__ == "__main__":
    sys.stdout.write(json.dumps(streams()))
