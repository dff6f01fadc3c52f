# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The model that comes with the package: small, of simulated people alone, and it knows strangers again."""

from __future__ import annotations

import numpy as np
import pytest

from gazeveil.lab.attacks.ekyt.files import load_model
from gazeveil.lab.attacks.recognisers.ekyt import SHIPPED


def test_it_is_small_and_says_where_it_comes_from() -> None:
    model = load_model(SHIPPED)
    assert SHIPPED.stat().st_size < 5_000_000
    assert len(model.folds) == 4
    assert (model.rate_hz, model.seconds) == (125.0, 5.0)
    assert model.about["data"]["source"] == "simulator"
    assert model.about["recipe"]["epochs"] == 100
    assert sum(model.about["held_out_people"]) == model.about["people"] == 500


def test_its_parameters_are_finite_and_of_the_network() -> None:
    torch = pytest.importorskip("torch")
    from gazeveil.lab.attacks.ekyt.network import Embedder

    wanted = {name: tuple(values.shape) for name, values in Embedder().state_dict().items()}
    for fold in load_model(SHIPPED).folds:
        assert {name: values.shape for name, values in fold.state.items()} == wanted
        assert all(np.isfinite(values).all() for values in fold.state.values())
    assert torch.float32 == Embedder().embed.weight.dtype


def test_it_finds_people_again_whom_it_was_not_trained_on() -> None:
    torch = pytest.importorskip("torch")
    from gazeveil.lab.attacks.ekyt.network import Ensemble, nearest_is_right
    from gazeveil.lab.attacks.ekyt.training_gaze import Crowd

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    windows = Crowd(people=8, sessions=2, minutes=0.5, tracker="eyelink", seed=5).simulate().windows(625)
    embeddings = Ensemble(load_model(SHIPPED)).embed(windows.velocity)
    torch.set_num_threads(before)
    assert embeddings.shape == (len(windows), 512)
    right, chance = nearest_is_right(embeddings, windows.labels, windows.session)
    assert chance == 1 / 8
    assert right > 0.4  # 48 windows at chance 1/8 exceed this once in a million times, were they independent
