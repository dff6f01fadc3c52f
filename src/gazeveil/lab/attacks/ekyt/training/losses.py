# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What training makes small: multi-similarity of embeddings, plus a tenth of the cross-entropy of names.

Multi-similarity (Wang et al. 2019) looks at the cosine similarity of all pairs in a batch. A pair counts only if it is
hard: a positive one that is less alike than the anchor's most alike negative plus a margin, a negative one that is more
alike than the anchor's least alike positive minus a margin. All shapes are fixed, so a graph can hold it.
"""

from __future__ import annotations

from typing import Any, Final

from gazeveil.lab.attacks.ekyt._torch import torch

ALPHA: Final = 2.0
BETA: Final = 50.0
BASE: Final = 0.5
MARGIN: Final = 0.1
CROSS_ENTROPY_SHARE: Final = 0.1


def multi_similarity(embeddings: Any, labels: Any) -> Any:
    """Return the multi-similarity loss over the hard pairs of a batch, averaged over its windows.

    Args:
        embeddings: (n, d) floats, not normalised.
        labels: (n,) integers.
    """
    unit = torch.nn.functional.normalize(embeddings.float(), dim=1)
    with torch.autocast(unit.device.type, enabled=False):
        alike = unit @ unit.T
    same = labels[:, None] == labels[None, :]
    itself = torch.eye(len(labels), dtype=torch.bool, device=unit.device)
    positive, negative = hard_pairs(alike.detach(), same & ~itself, ~same)
    return (_pull(ALPHA * (BASE - alike), positive) / ALPHA + _pull(BETA * (alike - BASE), negative) / BETA).mean()


def hard_pairs(alike: Any, positive: Any, negative: Any) -> tuple[Any, Any]:
    """Return which positive and which negative pairs are hard; rows are anchors."""
    closest_negative = alike.masked_fill(~negative, -torch.inf).amax(dim=1, keepdim=True)
    farthest_positive = alike.masked_fill(~positive, torch.inf).amin(dim=1, keepdim=True)
    return positive & (alike - MARGIN < closest_negative), negative & (alike + MARGIN > farthest_positive)


def total(embeddings: Any, logits: Any, labels: Any) -> Any:
    """Return the loss of training: multi-similarity and a tenth of the cross-entropy."""
    names = torch.nn.functional.cross_entropy(logits.float(), labels)
    return multi_similarity(embeddings, labels) + CROSS_ENTROPY_SHARE * names


def _pull(exponents: Any, kept: Any) -> Any:
    """Return log(1 + sum of exponentials of the kept entries) of every row."""
    exponents = exponents.masked_fill(~kept, -torch.inf)
    one = torch.zeros_like(exponents[:, :1])
    return torch.logsumexp(torch.cat((one, exponents), dim=1), dim=1)
