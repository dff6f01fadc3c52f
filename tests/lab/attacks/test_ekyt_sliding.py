# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Overlapping windows embedded together give what each gives alone."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from gazeveil.lab.attacks.ekyt.files import Fold, Model  # noqa: E402
from gazeveil.lab.attacks.ekyt.network import (  # noqa: E402
    REACH,
    SHORTEST,
    Embedder,
    Ensemble,
    sliding_averages,
)
from gazeveil.lab.attacks.ekyt.windows import Scale, windows  # noqa: E402


def worn(seed: int):
    """An embedder whose normalisations are not the identity, as after training."""
    embedder, generator = Embedder(seed=seed).eval(), torch.Generator().manual_seed(seed)
    for norm in embedder.block.norms:
        for values, low, high in (
            (norm.weight, 0.5, 1.5),
            (norm.bias, -0.3, 0.3),
            (norm.running_mean, -0.5, 0.5),
            (norm.running_var, 0.5, 2.0),
        ):
            with torch.no_grad():
                values.uniform_(low, high, generator=generator)
    return embedder


def test_an_edge_is_felt_as_far_as_half_the_receptive_field() -> None:
    assert REACH == (1, 3, 7, 15, 31, 63, 127, 128)
    assert 2 * REACH[-1] + 1 == 257


@pytest.mark.parametrize(
    ("samples", "step", "length"),
    [(SHORTEST, 17, 500), (400, 100, 1000), (400, 61, 999), (625, 125, 625), (330, 1, 340)],
)
def test_it_gives_what_the_block_gives_window_by_window(samples: int, step: int, length: int) -> None:
    block = worn(1).block
    recording = torch.randn((2, length), generator=torch.Generator().manual_seed(2))
    with torch.inference_mode():
        alone = block(recording.unfold(1, samples, step).transpose(0, 1))
        together = sliding_averages(block, recording, samples, step)
    torch.testing.assert_close(together, alone, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("samples", "step", "length"), [(400, 80, 1500), (200, 40, 700), (400, 400, 1500), (400, 80, 396)]
)
def test_a_recording_with_gaps_embeds_as_its_windows_do(samples: int, step: int, length: int) -> None:
    folds = tuple(
        Fold({name: values.numpy() for name, values in worn(seed).state_dict().items()}, Scale(seed, 30.0))
        for seed in (1, 2)
    )
    ensemble = Ensemble(Model(folds, 125.0, 5.0, {}))
    velocity = np.random.default_rng(3).normal(0, 30, (2, length)).astype(np.float32)
    velocity[:, 700:1200] = np.nan
    cut = windows(velocity, samples, step)
    ours = ensemble.embed_sliding(velocity, samples, step)
    assert ours.shape == (len(cut), 256)
    np.testing.assert_allclose(ours, ensemble.embed(cut), rtol=1e-3, atol=1e-4)


def test_a_recording_without_gaze_has_no_row() -> None:
    fold = Fold({name: values.numpy() for name, values in Embedder().state_dict().items()}, Scale(0.0, 1.0))
    lost = np.full((2, 1000), np.nan)
    assert Ensemble(Model((fold,), 125.0, 5.0, {})).embed_sliding(lost, 400, 100).shape == (0, 128)
