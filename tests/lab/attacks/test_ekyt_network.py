# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The network has the shape the facts give it."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from gazeveil.lab.attacks.ekyt.network import CHANNELS_OUT, DILATIONS, Classifier, DenseBlock, Embedder  # noqa: E402


def count(module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def test_the_embedder_has_exactly_123040_parameters() -> None:
    embedder = Embedder()
    assert sum(convolution.weight.numel() for convolution in embedder.block.convolutions) == 87_552
    assert sum(count(norm) for norm in embedder.block.norms[:-1]) == 1_820
    assert count(embedder.block.norms[-1]) == 516
    assert count(embedder.embed) == 33_152
    assert count(embedder) == 123_040


def test_the_dilations_are_the_published_ones_and_give_258_channels() -> None:
    assert DILATIONS == (1, 2, 4, 8, 16, 32, 64, 1)
    assert CHANNELS_OUT == 258


def test_one_output_sample_sees_exactly_257_input_samples() -> None:
    block = DenseBlock().eval().double()
    for convolution in block.convolutions:
        torch.nn.init.constant_(convolution.weight, 1e-3)  # all positive, so that no ReLU hides an input
    windows = torch.ones((1, 2, 601), dtype=torch.float64, requires_grad=True)
    channels = torch.cat((windows, block.convolutions[0](windows)), dim=1)
    for norm, convolution in zip(block.norms[:-1], block.convolutions[1:], strict=True):
        channels = torch.cat((channels, convolution(torch.relu(norm(channels)))), dim=1)
    channels[0, -1, 300].backward()
    seen = windows.grad[0].abs().sum(dim=0).nonzero().flatten()
    assert (int(seen.min()), int(seen.max())) == (300 - 128, 300 + 128)


@pytest.mark.parametrize("samples", [156, 625, 1250])
def test_any_rate_and_window_gives_128_numbers(samples: int) -> None:
    assert Embedder()(torch.zeros(2, 2, samples)).shape == (2, 128)


def test_the_first_convolution_sees_the_windows_themselves() -> None:
    block = DenseBlock()
    assert block.convolutions[0].weight.shape == (32, 2, 3)
    assert block.norms[0].num_features == 34


def test_it_starts_as_stated_and_the_same_for_the_same_seed() -> None:
    first, again, other = Embedder(seed=3), Embedder(seed=3), Embedder(seed=4)
    torch.testing.assert_close(first.state_dict(), again.state_dict(), rtol=0, atol=0)
    assert not torch.equal(first.embed.weight, other.embed.weight)
    weights = first.block.convolutions[7].weight
    assert float(weights.detach().std()) == pytest.approx((2 / (226 * 3)) ** 0.5, rel=0.03)
    assert not first.embed.bias.any()
    assert all(bool((norm.weight == 1).all()) and not norm.bias.any() for norm in first.block.norms)


def test_another_block_with_the_same_names_can_be_plugged_in() -> None:
    class Mine(DenseBlock):
        pass

    plain, plugged = Embedder(seed=5), Embedder(block=Mine, seed=5)
    assert isinstance(plugged.block, Mine)
    torch.testing.assert_close(plain.state_dict(), plugged.state_dict(), rtol=0, atol=0)


def test_the_state_has_the_documented_names() -> None:
    names = {f"block.convolutions.{i}.weight" for i in range(8)} | {"embed.weight", "embed.bias"}
    for part in ("weight", "bias", "running_mean", "running_var", "num_batches_tracked"):
        names |= {f"block.norms.{i}.{part}" for i in range(8)}
    assert set(Embedder().state_dict()) == names


def test_the_classifier_gives_one_logit_per_person() -> None:
    assert Classifier(7)(torch.zeros(3, 128)).shape == (3, 7)
