# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Compile the kernels that most tests need: ``python -m tests.compile_kernels``, while large packages are fetched.

Otherwise the tests' processes, which all want the same kernels first, would wait for the one that compiles them.
"""

from __future__ import annotations

import importlib
from contextlib import suppress
from pathlib import Path

import gazeveil
import gazeveil.lab.audited
from gazeveil.noise import NoiseSource
from gazeveil.privacy.audit import SUBJECTS, build


def main() -> None:
    """Import every module of kernels, and let every subject of the auditor run twice."""
    package = Path(gazeveil.__file__).parent
    for path in sorted(package.rglob("*_kernels.py")):
        with suppress(ImportError):  # those for graphics cards
            importlib.import_module(".".join(("gazeveil", *path.relative_to(package).with_suffix("").parts)))
    for name in SUBJECTS.names():
        subject = build(name)
        subject.run(subject.pairs[0].first, NoiseSource.seeded(1), 2)


if __name__ == "__main__":
    main()
