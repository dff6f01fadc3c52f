# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Ranges of foreign features learnt from public participants.

What is written is a declaration to be checked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from gazeveil.errors import InputError
from gazeveil.features.foreign import ForeignFeatures, files_at, frame_at, numbers
from gazeveil.features.ranges import Range, Ranges

PERCENTILES: Final = (1.0, 99.0)
MARGIN: Final = 0.1
"""By how much of its width a range is wider on each side than what public participants have."""
LOGARITHMIC: Final = 100.0
"""From this ratio of its ends on, a positive range is taken on a logarithmic scale."""
_DIGITS = 4


def learn_ranges(
    source: Path,
    *,
    about: str,
    participant: str,
    stimulus: str = "",
    session: str = "",
    order: str = "",
    rows: int | None = None,
    features: Sequence[str] | None = None,
) -> ForeignFeatures:
    """Return the declaration that a table of public participants suggests.

    Never give the participants who are to be protected.

    Args:
        source: The table of public participants: a file, or a folder with a file a participant.
        about: Where they come from, in words; it is published.
        participant: The column that identifies the participant.
        stimulus: The column that identifies the stimulus, if any.
        session: The column that identifies the session, if any.
        order: The column that sorts rows, if any.
        rows: How many rows of a participant are released; by default the most that a public participant has.
        features: Which columns are features; by default all that hold numbers.

    Raises:
        InputError: If there is no such table or column, or a feature that does not vary.
    """
    if not source.exists() or not (files := files_at(source)):
        raise InputError(f"there is no table at {source}", hint="give a .csv, .tsv or .parquet file, or a folder")
    labels = [name for name in (participant, stimulus, session, order) if name]
    frames = []
    for file in files:
        frame = frame_at(file)
        if participant not in frame.columns and source.is_dir():
            frame = frame.with_columns(pl.lit(file.stem).alias(participant))
        frames.append(frame.with_columns(pl.all().cast(pl.String, strict=False)))
    table = pl.concat(frames, how="diagonal")
    if missing := [name for name in (*labels, *(features or ())) if name not in table.columns]:
        raise InputError(f"{source} has no column {missing[0]!r}", hint=f"it has {', '.join(table.columns[:20])}")
    chosen = [name for name in table.columns if name not in labels] if features is None else list(features)
    found = {}
    for name in chosen:
        values = numbers(table[name]).to_numpy()
        known = values[np.isfinite(values)]
        if features is None and 2 * len(known) < len(values):
            continue  # texts
        if len(known) < 2 or known.min() == known.max():
            if features is None:
                continue
            raise InputError(f"{name!r} does not vary among public participants", hint="declare its range by hand")
        found[name] = _range(known)
    if not found:
        raise InputError(f"{source} has no column of numbers that vary", hint="say which with --features")
    keys = [name for name in (participant, stimulus, session) if name]
    most = int(table.group_by(keys).len()["len"].max() or 1)  # type: ignore[arg-type]
    return ForeignFeatures(
        declared=Ranges.of(found),
        rows=rows or most,
        participant=participant,
        stimulus=stimulus,
        session=session,
        order=order,
        source=about,
        learnt_from=digest_of(source),
    )


def digest_of(source: Path) -> str:
    """Return the SHA-256 of a table: of its file, or of all files of a folder one after the other."""
    digest = hashlib.sha256()
    for file in files_at(source):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _range(known: np.ndarray) -> Range:
    low, high = (float(end) for end in np.percentile(known, PERCENTILES))
    if low == high:
        low, high = float(known.min()), float(known.max())
    if low > 0 and high / low >= LOGARITHMIC:
        margin = (high / low) ** MARGIN
        return Range(_short(low / margin), _short(high * margin), log=True)
    margin = MARGIN * (high - low)
    least = 0.0 if float(known.min()) >= 0 and low - margin < 0 else _short(low - margin)
    return Range(least, _short(high + margin))


def _short(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
