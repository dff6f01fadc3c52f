# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What lists of fixations state of each fixation, beside where it was."""

from __future__ import annotations

from typing import Final

import polars as pl

from gazeveil.errors import InputError
from gazeveil.gaze.corpus import Corpus

STATED: Final = ("start", "duration")
"""What a list may state."""


def stated_in(corpus: Corpus) -> tuple[str, ...] | None:
    """Return which of `STATED` the lists of fixations in a corpus state; None if it holds samples.

    Raises:
        InputError: If it holds both, so that a study has to say which of them counts.
    """
    kinds = {part.holds_fixations for part in corpus.parts}
    if len(kinds) > 1:
        raise InputError(
            f"{corpus.name} holds both samples and lists of fixations",
            hint="declare the study and say which counts: `gazeveil study init CORPUS --out study.toml`",
        )
    if True not in kinds:
        return None
    known = [pl.col("t").is_finite().any().alias("start"), pl.col("duration").is_finite().any()]
    found: set[str] = set()
    for part in corpus.parts:
        [row] = part.samples.select(known).fill_null(False).collect().rows(named=True)
        found |= {name for name in STATED if row[name]}
        if len(found) == len(STATED):
            break
    return tuple(name for name in STATED if name in found)
