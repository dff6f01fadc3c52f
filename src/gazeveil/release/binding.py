# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A corpus under the rules of a declared study: the only form in which a release sees private data.

Each rule looks at one recording at a time, so no participant changes how another one's recordings are read:

- names are compared in one spelling (NFC);
- participants who are not in the roster, or withdrew, are left out;
- stimuli and sessions that were not declared are left out;
- a recording on another raster or in another unit than declared counts as absent; physical size and distance are
  taken as declared.

Nothing is read here: the rules are added to the lazy tables. What they leave out is counted only for the holder of the
data (`gazeveil.release.checking`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import polars as pl

from gazeveil.errors import PrivacyError
from gazeveil.gaze.corpus import Corpus, Part
from gazeveil.gaze.geometry import Geometry
from gazeveil.release.study import Study, spelt

_DOOR = object()


@dataclass(frozen=True, slots=True)
class BoundCorpus:
    """A corpus that keeps to a study's rules. Only `bind` makes one.

    Attributes:
        study: The study.
        corpus: The recordings, as the rules leave them.
        remarks: What the holder of the data should know about the reading; never released.
    """

    study: Study
    corpus: Corpus
    remarks: list[str] = field(default_factory=list)
    door: object = None

    def __post_init__(self) -> None:
        if self.door is not _DOOR:
            raise PrivacyError("a corpus is bound to a study by bind(), which applies the study's rules")

    def on(self, *stimuli: str) -> Corpus:
        """Return the recordings of some stimuli."""
        return self.corpus.select(stimulus=[spelt(name) for name in stimuli])


def bind(study: Study, corpus: Corpus) -> BoundCorpus:
    """Put a corpus under a study's rules."""
    screens = {spelt(stimulus.name): stimulus.screen for stimulus in study.stimuli}
    parts = []
    for part in corpus.parts:
        screen = screens.get(spelt(part.stimulus))
        if screen is not None and lies_on(part.label.geometry, screen):
            parts.append(_bound(part, screen, study))
    return BoundCorpus(study, replace(corpus, parts=tuple(parts)), door=_DOOR)


def lies_on(found: Geometry, declared: Geometry) -> bool:
    """Return whether gaze can be read on a declared screen: same unit, same raster, same field of view."""
    same_raster = (found.width_px, found.height_px) == (declared.width_px, declared.height_px)
    same_field = (found.fov_x_deg, found.fov_y_deg) == (declared.fov_x_deg, declared.fov_y_deg)
    return found.unit is declared.unit and same_raster and same_field


def spelling(column: str) -> pl.Expr:
    """Return a column of names in one spelling."""
    return pl.col(column).str.normalize("NFC")


def _bound(part: Part, screen: Geometry, study: Study) -> Part:
    people = study.participants
    counts = pl.col("observer").is_not_null() & (pl.col("observer") != "")
    if people.roster is not None:
        counts &= pl.col("observer").is_in(list(people.roster))
    if people.withdrawn:
        counts &= ~pl.col("observer").is_in(list(people.withdrawn))
    if study.recordings.sessions:
        counts &= pl.col("session").is_in(list(study.recordings.sessions))
    stimulus = spelt(part.stimulus)
    others = [pl.col(name).fill_null("") for name in ("session", "trial")]
    names = (spelling("observer"), pl.lit(stimulus).alias("stimulus"), *others)
    return replace(
        part,
        stimulus=stimulus,
        samples=part.samples.with_columns(*names).filter(counts),
        events=part.events.with_columns(*names).filter(counts),
        label=replace(part.label, geometry=screen),
    )
