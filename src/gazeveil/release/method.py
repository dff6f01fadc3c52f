# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How a measurement protects, as authors and reviewers need it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """How a measurement protects.

    Attributes:
        sentence: What was counted, how it was bounded, which noise was added, and what was done afterwards.
        sources: What to cite: keys of `gazeveil.release.sources`.
        audit: The audit subject that runs this mechanism, for ``gazeveil lab audit``; empty if there is none.
        samplers: The pages of docs/proofs about the noise that was drawn.
    """

    sentence: str
    sources: tuple[str, ...] = ("dwork2014",)
    audit: str = ""
    samplers: tuple[str, ...] = ()


def from_recipe(product: str, recipe: Mapping[str, Any]) -> Method:
    """Return what a recipe says by itself: the mechanism's name and its plain parameters."""
    plain = {key: value for key, value in recipe.items() if isinstance(value, str | int | float) and key != "mechanism"}
    listed = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in plain.items())
    name = recipe.get("mechanism", product)
    return Method(sentence=f"The mechanism was {name}" + (f" ({listed})." if listed else "."))
