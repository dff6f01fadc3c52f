# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What an experiment writes into its folder: the numbers, and a picture of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gazeveil.cli._output import json_text
from gazeveil.files import replacing


def write_found(folder: Path, name: str, told: Mapping[str, Any], picture: bytes) -> list[str]:
    """Write ``NAME.json`` and ``NAME.png``, and return their names."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {f"{name}.json": (json_text(told, indent=1) + "\n").encode(), f"{name}.png": picture}
    for file, content in files.items():
        with replacing(folder / file) as temporary:
            temporary.write_bytes(content)
    return list(files)
