# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Files of one's own: a mechanism, an attack, a metric in one file enters its registry when the file is run."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path

from gazeveil.errors import InputError

_PREFIX = "gazeveil_own_"


def load_code(files: Iterable[Path]) -> None:
    """Run files that register things; each once a process.

    Raises:
        InputError: If one is not there, or fails.
    """
    for file in files:
        name = f"{_PREFIX}{file.stem}"
        there = sys.modules.get(name)
        if there is not None and Path(str(there.__file__)) == file.resolve():
            continue
        spec = importlib.util.spec_from_file_location(name, file.resolve())
        if spec is None or spec.loader is None or not file.is_file():
            raise InputError(f"there is no Python file {file}", hint="name a file such as my_veil.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module  # dataclasses and pickles look their module up by name
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            del sys.modules[name]
            raise InputError(f"{file} cannot be run: {type(error).__name__}: {error}") from error
