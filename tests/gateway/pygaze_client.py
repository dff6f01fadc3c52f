# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""PyGaze's own eye tracker, unmodified, as OpenSesame's plug-in makes it, on a display that nobody sees.

``python pygaze_client.py TYPE``, with ``opengaze`` or ``eyetribe`` for the type, in a folder of its own. A program for
an interpreter in which PyGaze and pygame are installed. PyGaze insists on the usual ports. It says as JSON what came.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

SETTINGS = """
DISPTYPE = 'pygame'
DISPSIZE = (1920, 1080)
SCREENSIZE = (52.7, 29.6)
SCREENDIST = 60.0
LOGFILE = LOGFILENAME = 'settings'
EVENTDETECTION = 'pygaze'
FULLSCREEN = DUMMYMODE = False
"""


def main(kind: str) -> None:
    os.environ |= {"SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy"}
    Path("constants.py").write_text(f"{SETTINGS}TRACKERTYPE = {kind!r}\n")
    sys.path.insert(0, str(Path.cwd()))  # where PyGaze looks for its settings
    display = importlib.import_module("pygaze.display").Display(disptype="pygame", dispsize=(1920, 1080))
    begun = time.monotonic()
    tracker = importlib.import_module("pygaze.eyetracker").EyeTracker(display, trackertype=kind, logfile="log")
    told: dict[str, Any] = {"made_s": time.monotonic() - begun}
    tracker.start_recording()
    tracker.log("trial 1")
    seen = []
    for _ in range(40):
        time.sleep(0.05)
        seen.append(tracker.sample())
    told |= {"seen": seen, "pupil": tracker.pupil_size()}
    tracker.stop_recording()
    tracker.close()
    print(json.dumps(told), flush=True)
    os._exit(0)  # its threads would go on


if __name__ == "__main__":
    main(sys.argv[1])
