# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The loss is the published one: the same numbers and gradients as an independent implementation."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from gazeveil.lab.attacks.ekyt.training import hard_pairs, multi_similarity, total  # noqa: E402


def batch(seed: int, classes: int, each: int, spread: float):
    generator = torch.Generator().manual_seed(seed)
    centres = torch.randn((classes, 1, 128), generator=generator)
    embeddings = (centres + spread * torch.randn((classes, each, 128), generator=generator)).reshape(-1, 128)
    return embeddings, torch.arange(classes).repeat_interleave(each)


@pytest.mark.parametrize("spread", [0.1, 1.0, 3.0])
@pytest.mark.parametrize(("classes", "each"), [(16, 16), (3, 2), (5, 1), (1, 4)])
def test_it_agrees_with_pytorch_metric_learning(classes: int, each: int, spread: float) -> None:
    peers = pytest.importorskip("pytorch_metric_learning")
    from pytorch_metric_learning.losses import MultiSimilarityLoss
    from pytorch_metric_learning.miners import MultiSimilarityMiner

    assert peers
    embeddings, labels = batch(1, classes, each, spread)
    mine, theirs = (embeddings.clone().requires_grad_() for _ in range(2))
    ours = multi_similarity(mine, labels)
    expected = MultiSimilarityLoss(alpha=2, beta=50, base=0.5)(
        theirs, labels, MultiSimilarityMiner(epsilon=0.1)(theirs, labels)
    )
    torch.testing.assert_close(ours, expected)
    ours.backward()
    expected.backward()
    if theirs.grad is not None:
        torch.testing.assert_close(mine.grad, theirs.grad, rtol=1e-4, atol=1e-7)


def test_easy_pairs_do_not_count() -> None:
    alike = torch.tensor([[1.0, 0.9, 0.2], [0.9, 1.0, 0.85], [0.2, 0.85, 1.0]])
    labels = torch.tensor([0, 0, 1])
    same = labels[:, None] == labels
    positive, negative = hard_pairs(alike, same & ~torch.eye(3, dtype=torch.bool), ~same)
    assert positive.tolist() == [[False, False, False], [True, False, False], [False, False, False]]
    assert negative.tolist() == [[False, False, False], [False, False, True], [False, False, False]]


def test_people_far_apart_cost_nothing_and_mixed_up_people_cost() -> None:
    apart, labels = batch(2, 4, 4, 0.01)
    assert float(multi_similarity(apart, labels)) == 0.0
    assert float(multi_similarity(apart[torch.arange(16).reshape(4, 4).T.flatten()], labels)) > 0.5


def test_a_tenth_of_the_cross_entropy_is_added() -> None:
    embeddings, labels = batch(3, 4, 4, 1.0)
    logits = embeddings[:, :4]
    expected = multi_similarity(embeddings, labels) + 0.1 * torch.nn.functional.cross_entropy(logits, labels)
    torch.testing.assert_close(total(embeddings, logits, labels), expected)
