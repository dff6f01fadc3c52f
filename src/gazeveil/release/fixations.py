# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Which products lists of fixations can be made into, and what such a list has to state for each.

That recordings are lists of fixations, and what these state, is a public fact of the study:
``[recordings] fixations = ["start", "duration"]``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gazeveil.aggregate.engine import Engine, LastingEngine
from gazeveil.errors import OptionError
from gazeveil.release.study import Study

TAKEN: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {"heatmap": (), "heatmaps": (), "aoi": (), "movie": ("start", "duration")}
)
"""The products that take lists, and what a list has to state for all of it. Of areas, each statistic asks for more."""

_WHY: Final[Mapping[str, str]] = MappingProxyType(
    {
        "liu-map": "it counts samples up to a cap",
        "feature-series": "features are of velocities, pupils and spectra within windows of samples",
        "feature-group": "features are of velocities, pupils and spectra within windows of samples",
        "veil": "a stream mechanism puts noise on every sample, on a clock",
    }
)


def check_takes(product: str, study: Study) -> None:
    """Refuse a product that cannot be made from what the study declares its recordings to be.

    Raises:
        OptionError: If the recordings are lists of fixations, and the product needs samples, or more than lists state.
    """
    stated = study.recordings.fixations
    made_elsewhere = study.features is not None and product.startswith("feature-")
    if stated is None or made_elsewhere:
        return
    if product not in TAKEN:
        why = f": {_WHY[product]}" if product in _WHY else ""
        raise OptionError(
            f"the product {product!r} needs gaze samples{why}; the study {study.name!r} declares lists of fixations",
            hint=f"lists can be released as {', '.join(TAKEN)}; features that were made elsewhere need [features] "
            "in the study, and samples a study without `fixations`",
        )
    check_stated(f"the product {product!r}", TAKEN[product], stated)


def check_stated(what: str, needed: tuple[str, ...], stated: tuple[str, ...]) -> None:
    """Refuse what needs more than lists of fixations state.

    Raises:
        OptionError: If something is missing.
    """
    if missing := [name for name in needed if name not in stated]:
        listed = json.dumps([*stated, *missing])
        said = f"only {' and '.join(stated)}" if stated else "neither start nor duration"
        raise OptionError(
            f"{what} needs the {' and '.join(missing)} of every fixation, and the lists of this study state {said}",
            hint=f"if they do state it, declare that: [recordings] fixations = {listed}",
        )


def engine_for(study: Study, engine: Engine) -> Engine:
    """Return the engine that weighs a study's rows as declared: by durations where its lists state them."""
    return LastingEngine(engine) if "duration" in (study.recordings.fixations or ()) else engine
