# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Training: the published recipe, resumable to the last bit, and it learns."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from gazeveil.errors import InputError, OptionError  # noqa: E402
from gazeveil.lab.attacks.ekyt.files import Fold, Model, Velocities, Windows, packed  # noqa: E402  # noqa: E402
from gazeveil.lab.attacks.ekyt.network import DenseBlock, Embedder, Ensemble, nearest_is_right  # noqa: E402  # noqa: E402
from gazeveil.lab.attacks.ekyt.training import (  # noqa: E402  # noqa: E402  # noqa: E402
    PlainStep,
    Recipe,
    balanced_folds,
    epoch_batches,
    fastest,
    fold_path,
    train,
    train_ensemble,
)
from gazeveil.lab.attacks.ekyt.windows import pooled_scale, velocities, window_samples  # noqa: E402
from gazeveil.simulate import TRACKERS, GazeStream, Population, scene  # noqa: E402

QUICK = Recipe(epochs=6, classes=4, each=4)


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def humming(people: int, each: int = 8, samples: int = 40, seed: int = 1) -> Windows:
    """Windows of people who each hum a tone of their own, in two sessions, with some samples missing."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(people), each)
    tone = np.linspace(0.2, 1.2, people)[labels, None, None]
    phase = rng.uniform(0, 2 * np.pi, (len(labels), 2, 1))
    velocity = 50 * np.sin(tone * np.arange(samples) + phase) + rng.normal(0, 10, (len(labels), 2, samples))
    velocity[rng.random(velocity.shape) < 0.02] = np.nan
    session = np.tile(np.arange(each) % 2 + 1, people).astype(np.int32)
    return Windows(velocity.astype(np.float32), labels.astype(np.int64), session, 31.25)


def same(first: Fold, second: Fold) -> bool:
    return all(np.array_equal(values, second.state[name]) for name, values in first.state.items())


@pytest.mark.parametrize("epochs", [5, 30, 100])
def test_the_learning_rate_is_one_cycle_stepped_once_an_epoch(epochs: int) -> None:
    optimiser = torch.optim.Adam([torch.zeros(1, requires_grad=True)])
    peer = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, max_lr=0.01, total_steps=epochs, div_factor=100, final_div_factor=1000, cycle_momentum=False
    )
    recipe = Recipe(epochs=epochs)
    for epoch in range(epochs):
        assert recipe.learning_rate(epoch) == pytest.approx(peer.get_last_lr()[0], rel=1e-9)
        optimiser.step()
        if epoch + 1 < epochs:
            peer.step()
    if epochs == 100:
        assert recipe.learning_rate(0) == pytest.approx(1e-4)
        assert recipe.learning_rate(99) == pytest.approx(1e-7)


def test_a_batch_is_16_people_of_16_windows() -> None:
    labels = np.repeat(np.arange(20), 40)
    batches = epoch_batches(labels, seed=1, epoch=0)
    assert batches.shape == (len(labels) // 256, 256)
    for batch in batches:
        people, counts = np.unique(labels[batch], return_counts=True)
        assert len(people) == 16
        assert set(counts) == {16}
        assert len(np.unique(batch)) == 256


def test_epochs_differ_and_follow_from_the_seed_and_their_number() -> None:
    labels = np.repeat(np.arange(20), 40)
    np.testing.assert_array_equal(epoch_batches(labels, 1, 7), epoch_batches(labels, 1, 7))
    assert not np.array_equal(epoch_batches(labels, 1, 7), epoch_batches(labels, 1, 8))
    assert not np.array_equal(epoch_batches(labels, 1, 7), epoch_batches(labels, 2, 7))


def test_few_people_and_few_windows_still_make_a_batch() -> None:
    labels = np.array([5, 5, 9, 9, 9])
    (batch,) = epoch_batches(labels, 1, 0)
    assert len(batch) == 32
    assert np.bincount(labels[batch], minlength=10)[[5, 9]].tolist() == [16, 16]
    with pytest.raises(InputError, match="at least two"):
        epoch_batches(np.zeros(5, np.int64), 1, 0)


def test_folds_share_nobody_and_are_balanced() -> None:
    labels = np.repeat(np.arange(10), [100, 10, 10, 10, 10, 40, 40, 40, 30, 30])
    folds = balanced_folds(labels, 4)
    assert sorted(person for fold in folds for person in fold) == list(range(10))
    sizes = [int(np.isin(labels, fold).sum()) for fold in folds]
    assert max(sizes) - min(sizes) <= 30
    with pytest.raises(InputError, match="cannot be dealt"):
        balanced_folds(labels, 11)


def test_a_resumed_run_gives_the_same_losses_and_parameters(tmp_path: Path) -> None:
    windows = humming(5)
    whole = train(windows, QUICK)

    class PowerCutError(Exception):
        pass

    def cut(done: int, total: int) -> None:
        if done == 3:
            raise PowerCutError

    kept = tmp_path / "state"
    with pytest.raises(PowerCutError):
        train(windows, QUICK, checkpoint=kept, tell=cut)
    resumed = train(windows, QUICK, checkpoint=kept, resume=True)
    assert resumed.curve == whole.curve
    assert same(resumed.fold, whole.fold)
    assert [path.name for path in tmp_path.iterdir()] == ["state"]


def test_a_checkpoint_of_other_data_or_options_is_refused(tmp_path: Path) -> None:
    kept = tmp_path / "state"
    train(humming(3), Recipe(epochs=1, classes=3, each=2), checkpoint=kept)
    with pytest.raises(OptionError, match="another training"):
        train(humming(3, seed=2), Recipe(epochs=1, classes=3, each=2), checkpoint=kept, resume=True)
    with pytest.raises(OptionError, match="another training"):
        train(humming(3), Recipe(epochs=2, classes=3, each=2), checkpoint=kept, resume=True)


def test_validation_is_noted_and_decides_nothing() -> None:
    windows, others = humming(4), humming(3, seed=5)
    watched = train(windows, QUICK, validation=others, validate_every=3)
    assert same(watched.fold, train(windows, QUICK).fold)
    assert [point["epoch"] for point in watched.curve if "validation" in point] == [3, 6]


def test_another_block_and_another_step_can_be_plugged_in() -> None:
    used = []

    class Block(DenseBlock):
        def forward(self, windows):
            used.append("block")
            return super().forward(windows)

    class Step(PlainStep):
        def __call__(self, windows, labels):
            used.append("step")
            return super().__call__(windows, labels)

    recipe = Recipe(epochs=1, classes=4, each=4)
    plain, other = train(humming(4), recipe), train(humming(4), recipe, block=Block, make_step=Step)
    assert set(used) == {"block", "step"}
    assert same(plain.fold, other.fold)


def test_the_plain_way_is_the_fastest_without_a_gpu() -> None:
    assert fastest("cpu") == {}


def test_a_learning_rate_kept_in_a_tensor_follows_the_cycle(tmp_path: Path) -> None:
    class Step(PlainStep):
        def __init__(self, embedder, classifier, precision):
            super().__init__(embedder, classifier, precision)
            for group in self.optimiser.param_groups:
                group["lr"] = torch.tensor(group["lr"], dtype=torch.float64)

    plain, other = train(humming(4), QUICK), train(humming(4), QUICK, make_step=Step)
    assert [point["loss"] for point in other.curve] == pytest.approx([point["loss"] for point in plain.curve], rel=1e-3)


def test_mixed_precision_learns_nearly_the_same() -> None:
    exact = train(humming(4), QUICK)
    mixed = train(humming(4), Recipe(epochs=6, classes=4, each=4, precision="bf16"))
    assert mixed.curve[0]["loss"] == pytest.approx(exact.curve[0]["loss"], rel=0.05)
    assert all(values.dtype == np.float32 for name, values in mixed.fold.state.items() if "tracked" not in name)


def test_training_that_goes_astray_says_so() -> None:
    with pytest.raises(InputError, match="went astray in epoch"):
        train(humming(3), Recipe(epochs=3, classes=3, each=2, highest_rate=1e30))


def test_bad_recipes_are_refused() -> None:
    for wrong in ({"epochs": 0}, {"precision": "fp8"}, {"seed": -1}, {"highest_rate": 0.0}, {"each": 1}):
        with pytest.raises(OptionError):
            Recipe(**wrong)
    with pytest.raises(OptionError, match="no kind of device"):
        train(humming(3), Recipe(device="abacus"))
    if not torch.cuda.is_available():
        with pytest.raises(OptionError, match="no GPU"):
            train(humming(3), Recipe(device="cuda"))


def test_four_folds_make_one_model_of_512_numbers(tmp_path: Path) -> None:
    windows = humming(8, each=4)
    told = []
    model = train_ensemble(
        windows,
        Recipe(epochs=1, classes=4, each=2),
        checkpoints=tmp_path / "kept",
        data={"source": "humming"},
        tell=lambda *step: told.append(step),
    )
    assert len(model.folds) == 4
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert [score["people"] for score in model.about["scores"]] == [2, 2, 2, 2]
    assert fold_path(tmp_path / "kept", 3).exists()
    together = Ensemble(model).embed(windows.velocity)
    assert together.shape == (32, 512)
    alone = Ensemble(Model(model.folds[2:3], model.rate_hz, model.seconds, {})).embed(windows.velocity)
    np.testing.assert_allclose(together[:, 256:384], alone, rtol=1e-5)


def test_each_fold_is_scaled_by_its_own_training_people_alone() -> None:
    windows = humming(4, each=4)
    loud = Windows(
        windows.velocity * (1 + 9 * (windows.labels == 0))[:, None, None], windows.labels, windows.session, 31.25
    )
    model = train_ensemble(loud, Recipe(epochs=1, classes=2, each=2), folds=4)
    quiet = balanced_folds(loud.labels, 4).index([0])
    assert model.folds[quiet].scale == pooled_scale([windows.of([1, 2, 3]).velocity])
    assert all(fold.scale.sd > 2 * model.folds[quiet].scale.sd for n, fold in enumerate(model.folds) if n != quiet)


def test_too_few_people_for_the_folds_are_refused() -> None:
    with pytest.raises(InputError, match="fewer than two"):
        train_ensemble(humming(2), QUICK, folds=2)


def right(fold: Fold, others: Windows) -> float:
    embeddings = Ensemble(Model((fold,), others.rate_hz, others.seconds, {})).embed(others.velocity)
    return nearest_is_right(embeddings, others.labels, others.session)[0]


def untrained(like: Fold) -> Fold:
    return Fold({name: values.numpy() for name, values in Embedder(seed=1).state_dict().items()}, like.scale)


def test_it_learns_to_tell_apart_people_it_has_never_met() -> None:
    windows = humming(12, each=8)
    known, others = windows.of(range(0, 12, 2)), windows.of(range(1, 12, 2))
    trained = train(known, Recipe(epochs=12, classes=6, each=6))
    losses = [point["loss"] for point in trained.curve]
    assert losses[-1] < 0.5 * losses[0]
    assert right(trained.fold, others) > 0.6
    assert right(trained.fold, others) > right(untrained(trained.fold), others)


def looking(shares: np.ndarray) -> Windows:
    """A minute on each of two days of simulated people who differ more than people do: 0 is hasty, 1 is slow."""
    rate_hz, recorded = 31.25, dataclasses.replace(TRACKERS["headset"], rate_hz=125.0)
    recordings = []
    for index, share in enumerate(shares):
        person = dataclasses.replace(
            Population(1).observer(index),
            fixation_s=0.16 + 0.26 * share,
            amplitude_deg=8.0 - 6.0 * share,
            saccade_ceiling=400.0 + 400.0 * ((share * 5) % 1),
        )
        for day in (1, 2):
            gaze = next(GazeStream(person, scene(1, day), recorded, seed=day).blocks(60.0))
            recordings.append(packed(velocities(gaze.t, gaze.x, gaze.y, 125.0, rate_hz)))
    people = len(shares)
    who, days = np.divmod(np.arange(2 * people, dtype=np.int32), 2)
    names = tuple(f"p{index}" for index in range(people))
    return Velocities(tuple(recordings), who, days + 1, names, rate_hz, {}).windows(window_samples(5.0, rate_hz))


def test_it_learns_from_simulated_people_to_find_others_again_on_another_day() -> None:
    known, others = looking(np.linspace(0.0, 1.0, 6)), looking(np.linspace(0.08, 0.92, 6))
    trained = train(known, Recipe(epochs=6, classes=6, each=4))
    asked = int((others.session == 2).sum())
    by_chance = 1 / 6 + 3 * (1 / 6 * 5 / 6 / asked) ** 0.5  # three standard deviations above guessing
    assert right(trained.fold, others) > by_chance
    assert right(trained.fold, others) > right(untrained(trained.fold), others)


def test_it_trains_where_there_is_only_numpy_and_torch(tmp_path: Path) -> None:
    code = f"""
import sys
for name in ("polars", "rich", "typer", "cryptography", "numba", "scipy", "sklearn"):
    sys.modules[name] = None
import numpy as np
from pathlib import Path
from gazeveil.lab.attacks.ekyt.files import Windows, load
from gazeveil.lab.attacks.ekyt.training import train_ensemble
from gazeveil.lab.attacks.ekyt.training import Recipe
labels = np.repeat(np.arange(4), 4)
velocity = np.sin(np.arange(16 * 2 * 20)).reshape(16, 2, 20).astype(np.float16) * 100
windows = Windows(velocity, labels, np.tile(np.array([1, 1, 2, 2], dtype=np.int32), 4), 31.25)
train_ensemble(windows, Recipe(epochs=1, classes=3, each=2), 2).save(Path({str(tmp_path / "model.npz")!r}))
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=100)
    assert (tmp_path / "model.npz").exists()
