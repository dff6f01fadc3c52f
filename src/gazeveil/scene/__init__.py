# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What is looked at: keyframes, regions of interest, and the radius and window that a scene asks for (Kaleido 2021).

Frames are public: nothing here sees gaze. The order of reading is the order of work: `frames` (where frames come
from), `keyframes` (when a scene begins), `finders` (what can be looked at in it), `radii` and `window` (what
that means for the noise), and `context`, which puts them together without any input or output of its own.
"""
