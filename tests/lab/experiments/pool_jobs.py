# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Jobs for the pool's tests; a process of its own imports this, so it is small."""

from __future__ import annotations

import os
import threading


def do(setting: str, job: str) -> str:
    if job == "fails":
        raise ValueError("this one fails\nin two lines")
    if job == "hangs":
        threading.Event().wait()
    if job == "dies":
        os._exit(3)
    return f"{setting} {job}"
