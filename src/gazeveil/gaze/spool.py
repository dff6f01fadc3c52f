# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A corpus in a temporary folder that only its owner can read, and that goes when nobody uses it any more."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from dataclasses import dataclass
from pathlib import Path

from gazeveil.gaze.corpus import Corpus


class Spool:
    """A temporary folder that lives as long as this value."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="gazeveil-"))
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)


@dataclass(frozen=True, slots=True, repr=False)
class SpooledCorpus(Corpus):
    """A corpus whose files lie in a spool. What is selected from it keeps the spool alive too."""

    spool: Spool | None = None
