# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The scene: keyframes, regions of interest, and the radius and window that a scene asks for (Kaleido 2021).

Frames are public: nothing here sees gaze. The order of reading is the order of work: `frames` (where frames come
from), `keyframes` (when a scene begins), `regions` (what can be looked at in it, and what finds it) and `context` (what
that means for radius and window). `film` does all of it for a video.
"""
