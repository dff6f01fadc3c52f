# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Four models from four folds of participants: each is trained without one fold and judged on it, all speak as one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from gazeveil.errors import InputError
from gazeveil.lab.attacks.ekyt.network.checkpoint import Model
from gazeveil.lab.attacks.ekyt.network.embed import Ensemble, nearest_is_right
from gazeveil.lab.attacks.ekyt.network.layers import DenseBlock, MakeBlock
from gazeveil.lab.attacks.ekyt.training.batches import balanced_folds
from gazeveil.lab.attacks.ekyt.training.dataset import Windows
from gazeveil.lab.attacks.ekyt.training.loop import MakeStep, PlainStep, Recipe, Trained, train

FOLDS: Final = 4
_JUDGED: Final = 4000
"""Windows of a fold that are embedded to judge it."""


def train_ensemble(
    windows: Windows,
    recipe: Recipe,
    folds: int = FOLDS,
    *,
    data: dict[str, Any] | None = None,
    block: MakeBlock = DenseBlock,
    make_step: MakeStep = PlainStep,
    checkpoints: Path | None = None,
    resume: bool = False,
    tell: Callable[[int, int], None] | None = None,
) -> Model:
    """Train a model of this many embedders; a single one is trained on everyone.

    Args:
        windows: Each participant's windows.
        recipe: How; fold ``i`` has the seed ``recipe.seed + i``.
        folds: How many embedders.
        data: What to note about the data.
        block: Makes the dense block.
        make_step: Makes the step of training.
        checkpoints: Path whose name, with a number added, keeps each fold's state.
        resume: Go on from what is kept there.
        tell: Called after every epoch with epochs done and epochs in all.
    """
    people = sorted({int(label) for label in windows.labels})
    held_out = balanced_folds(windows.labels, folds) if folds > 1 else [[]]
    if min(len(people) - len(fold) for fold in held_out) < 2:
        raise InputError(f"{len(people)} participants in {folds} folds leave fewer than two to train on")
    trained: list[Trained] = []
    scores: list[dict[str, Any]] = []
    for number, fold in enumerate(held_out):
        others = windows.of(fold) if len(fold) > 1 else None
        result = train(
            windows.of(set(people) - set(fold)),
            replace(recipe, seed=recipe.seed + number),
            validation=others,
            block=block,
            make_step=make_step,
            checkpoint=None if checkpoints is None else fold_path(checkpoints, number),
            resume=resume,
            tell=_shifted(tell, number, len(held_out)),
        )
        trained.append(result)
        if others is not None:
            scores.append(_judged(result, others, recipe.device, block))
    about = {
        "data": data or {},
        "recipe": asdict(recipe),
        "people": len(people),
        "windows": len(windows),
        "held_out_people": [len(fold) for fold in held_out],
        "curves": [list(result.curve) for result in trained],
        "scores": scores,
    }
    return Model(tuple(result.fold for result in trained), windows.rate_hz, windows.seconds, about)


def fastest(device: str) -> dict[str, Any]:
    """Return the hooks that train fastest on a device: fused kernels in one graph where they run, else none."""
    from gazeveil.lab.attacks.ekyt.fused.block import FusedBlock, has_kernels  # noqa: PLC0415

    if not has_kernels(device):
        return {}
    from gazeveil.lab.attacks.ekyt.fused.step import GraphStep  # noqa: PLC0415

    return {"block": FusedBlock, "make_step": GraphStep}


def fold_path(checkpoints: Path, number: int) -> Path:
    """Return where a fold's state is kept."""
    return checkpoints.with_name(f"{checkpoints.name}.fold{number}")


def _shifted(tell: Callable[[int, int], None] | None, number: int, folds: int) -> Callable[[int, int], None] | None:
    if tell is None:
        return None
    return lambda done, total: tell(number * total + done, folds * total)


def _judged(trained: Trained, others: Windows, device: str, block: MakeBlock) -> dict[str, Any]:
    """Return how well a fold's participants, unseen in its training, are found again in another session."""
    every = max(1, -(-len(others) // _JUDGED))
    alone = Ensemble(Model((trained.fold,), others.rate_hz, others.seconds, {}), device, block)
    share, chance = nearest_is_right(
        alone.embed(others.velocity[::every]), others.labels[::every], others.session[::every]
    )
    known = bool(np.isfinite(share))
    return {
        "people": len(np.unique(others.labels)),
        "windows": -(-len(others) // every),
        "nearest_window_is_right": share if known else None,
        "chance": chance if known else None,
    }
