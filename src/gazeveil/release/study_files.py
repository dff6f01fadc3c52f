# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Files that are about many stimuli: their weights, their pictures, and how the files of each are called."""

from __future__ import annotations

import hashlib
import tomllib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote

from gazeveil.errors import FileFormatError, why
from gazeveil.files import is_device

_LONGEST_NAME = 150


def read_weights(path: Path) -> dict[str, float]:
    """Read the weights of stimuli from a TOML file with a table ``weights``.

    Raises:
        FileFormatError: If it is not such a file.
    """
    wanted = 'TOML with a table [weights], such as "forest.png" = 2'
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FileFormatError(path, expected=wanted, found=why(error)) from None
    weights = values.get("weights")
    if not isinstance(weights, dict) or set(values) != {"weights"}:
        raise FileFormatError(path, expected=wanted, found=f"the keys {', '.join(values) or 'none'}")
    for name, weight in weights.items():
        if isinstance(weight, bool) or not isinstance(weight, int | float):
            raise FileFormatError(path, expected="a number", found=repr(weight), column=name)
    return weights


def find_pictures(folder: Path, stimuli: Iterable[str]) -> dict[str, Path]:
    """Find the pictures of stimuli in a folder: ``NAME`` or ``NAME.png``; stimuli without one are left out.

    Raises:
        FileFormatError: If there is no such folder, or no picture of any stimulus in it.
    """
    found = {}
    for name in stimuli:
        if "/" in name or "\\" in name or name in {"", ".", ".."}:
            continue
        for path in (folder / name, folder / f"{name}.png"):
            if path.is_file():
                found[name] = path
                break
    if not found:
        raise FileFormatError(folder, expected="pictures with the stimuli's names", found="none of them")
    return found


def find_frames(folder: Path, moments: int) -> list[Path]:
    """Find the frame in the middle of each of this many moments: a folder's PNG files, by name, evenly over the time.

    Raises:
        FileFormatError: If there is no PNG file.
    """
    frames = sorted(folder.glob("*.png"))
    if not frames:
        raise FileFormatError(
            folder, expected="frames as PNG files whose names sort in their order", found="no PNG file"
        )
    return [frames[int((moment + 0.5) * len(frames) / moments)] for moment in range(moments)]


def file_names(stimuli: Iterable[str]) -> dict[str, str]:
    """Return a name for each that every file system takes, and that no two share, even where capitals do not count."""
    names = {stimulus: file_name(stimulus) for stimulus in stimuli}
    count = Counter(name.casefold() for name in names.values())
    return {
        stimulus: name if count[name.casefold()] == 1 else f"{name}-{_short_digest(stimulus)}"
        for stimulus, name in names.items()
    }


def file_name(stimulus: str) -> str:
    """Return a name that every file system takes, and that no two stimuli share where capitals count."""
    safe = quote(stimulus, safe=" ()[]+,=@").replace("%20", " ")
    if len(safe) > _LONGEST_NAME:
        return f"{safe[:_LONGEST_NAME]}-{_short_digest(stimulus)}"
    if is_device(safe):
        return f"%{ord(safe[0]):02X}{safe[1:]}"
    if safe[-1:] in (" ", "."):  # Windows drops them
        return f"{safe[:-1]}%{ord(safe[-1]):02X}"
    return safe or "_"


def _short_digest(stimulus: str) -> str:
    return hashlib.sha256(stimulus.encode()).hexdigest()[:12]
