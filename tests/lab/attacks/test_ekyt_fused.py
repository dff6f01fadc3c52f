# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The fused block computes what the plain one does: outputs, every gradient, running statistics, whole trainings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from gazeveil.lab.attacks.ekyt import fused_reference  # noqa: E402
from gazeveil.lab.attacks.ekyt.files import Windows  # noqa: E402
from gazeveil.lab.attacks.ekyt.fused_reference import Packed, pack, unpack  # noqa: E402
from gazeveil.lab.attacks.ekyt.network import CHANNELS_OUT, DenseBlock, Embedder  # noqa: E402
from gazeveil.lab.attacks.ekyt.training import FusedBlock, Recipe, has_kernels, train  # noqa: E402  # noqa: E402

needs_gpu = pytest.mark.skipif(not has_kernels("cuda") or not torch.cuda.is_available(), reason="needs a GPU, Triton")


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def noise(*shape: int, seed: int = 1) -> Any:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def twins(seed: int = 1) -> tuple[Any, Any]:
    """A plain and a fused embedder with the same parameters, none of them at a round number."""
    plain, fused = Embedder(DenseBlock, seed).double(), Embedder(FusedBlock, seed).double()
    with torch.no_grad():
        for number, parameter in enumerate(plain.parameters()):
            parameter.add_(0.3 * noise(*parameter.shape, seed=number))
    fused.load_state_dict(plain.state_dict())
    return plain, fused


@pytest.mark.parametrize("samples", [3, 40, 150])
def test_outputs_and_all_gradients_are_those_of_the_plain_block(samples: int) -> None:
    # windows shorter than the widest dilation too: 3 and 40 samples, dilation 64
    plain, fused = twins()
    windows = 2 * noise(5, 2, samples) + 0.3
    gradient = noise(5, 128, seed=2)
    for embedder in (plain, fused):
        (embedder(windows) * gradient).sum().backward()
    torch.testing.assert_close(fused(windows), plain(windows), rtol=1e-10, atol=1e-10)
    for (name, one), other in zip(plain.named_parameters(), fused.parameters(), strict=True):
        far = (one.grad - other.grad).norm() / one.grad.norm().clamp(min=1e-6)
        assert far < 1e-9, f"{name}: {far}"


def test_running_statistics_move_as_those_of_the_plain_block() -> None:
    plain, fused = twins()
    for seed in range(3):
        windows = noise(4, 2, 30, seed=seed)
        plain(windows), fused(windows)
    for (name, one), other in zip(plain.named_buffers(), fused.named_buffers(), strict=True):
        torch.testing.assert_close(other[1], one, rtol=1e-10, atol=1e-12, msg=name)


def test_evaluation_uses_running_statistics() -> None:
    plain, fused = twins()
    for embedder in (plain, fused):
        embedder(noise(4, 2, 30))
        embedder.eval()
    windows = noise(2, 2, 50, seed=7)
    torch.testing.assert_close(fused(windows), plain(windows), rtol=1e-10, atol=1e-12)


def test_tiles_lead_back_to_the_parameters_they_came_from() -> None:
    block = Embedder(DenseBlock, 4).block
    convolutions = [convolution.weight.detach() for convolution in block.convolutions]
    scales = [torch.arange(1.0, len(norm.weight) + 1) for norm in block.norms]
    shifts = [-values for values in scales]
    packed = pack(convolutions, scales, shifts, torch.float32)
    for found, given in zip(unpack(packed), (convolutions, scales, shifts), strict=True):
        assert all(torch.equal(one, other) for one, other in zip(found, given, strict=True))
    kept = sum(int((part != 0).sum()) for part in packed)
    assert kept == sum(int((values != 0).sum()) for some in (convolutions, scales, shifts) for values in some)


def test_training_follows_the_same_curve() -> None:
    rng = np.random.default_rng(3)
    labels = np.repeat(np.arange(4), 6)
    velocity = 40 * np.sin((labels[:, None, None] + 1) * 0.2 * np.arange(40)) + rng.normal(0, 10, (24, 2, 40))
    windows = Windows(velocity.astype(np.float32), labels, np.ones(24, dtype=np.int32), 31.25)
    recipe = Recipe(epochs=4, classes=4, each=3)
    plain, fused = (
        [point["loss"] for point in train(windows, recipe, block=block).curve] for block in (DenseBlock, FusedBlock)
    )
    assert plain[-1] < plain[0]
    np.testing.assert_allclose(fused, plain, rtol=1e-3)


@needs_gpu
@pytest.mark.parametrize(("count", "samples"), [(7, 301), (32, 625), (65, 100)])
@pytest.mark.parametrize(("kind", "tolerance"), [("float32", 5e-3), ("bfloat16", 2e-1)])
def test_kernels_compute_what_the_reference_computes(
    monkeypatch: pytest.MonkeyPatch, count: int, samples: int, kind: str, tolerance: float
) -> None:
    # a ReLU that opens in one precision and not in the other changes a gradient by a whole term, hence the tolerance
    from gazeveil.lab.attacks.ekyt import fused_gpu

    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)
    block = twins()[0].block.float().cuda()
    norms = [norm.weight.detach() for norm in block.norms], [norm.bias.detach() for norm in block.norms]
    packed = pack([layer.weight.detach() for layer in block.convolutions], *norms, getattr(torch, kind))
    exact = Packed(*(values.double() for values in packed))
    windows = (1.5 * noise(count, 2, samples) + 0.2).float().cuda()
    gradient = noise(count, CHANNELS_OUT, seed=5).float().cuda()
    averages, saved = fused_gpu.forward(windows, packed)
    found = fused_gpu.backward(gradient, saved, packed)
    right, kept = fused_reference.forward(windows.double(), exact)
    wanted = fused_reference.backward(gradient.double(), kept, exact)
    assert float((averages - right).norm() / right.norm()) < tolerance / 10
    for name, one, other in zip(Packed._fields, found, wanted, strict=True):
        assert float((one - other).norm() / other.norm()) < tolerance, name
    again = fused_gpu.backward(gradient, saved, packed)
    assert all(torch.equal(one, other) for one, other in zip(found, again, strict=True))


@needs_gpu
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_a_recorded_step_takes_the_same_steps_as_a_plain_one(precision: str) -> None:
    from gazeveil.lab.attacks.ekyt.network import Classifier
    from gazeveil.lab.attacks.ekyt.training import GraphStep, PlainStep

    windows = noise(8, 64, 2, 200).float().cuda()
    labels = torch.arange(8, device="cuda").repeat_interleave(8)
    losses = []
    for make, block in ((PlainStep, DenseBlock), (GraphStep, FusedBlock)):
        step = make(Embedder(block).cuda(), Classifier(8).cuda(), precision)
        losses.append([float(step(some, labels)) for some in windows])
    np.testing.assert_allclose(losses[1], losses[0], rtol=5e-2)
