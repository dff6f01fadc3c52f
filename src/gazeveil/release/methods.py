# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``methods.md``: a paragraph for a paper with all numbers of a release, and what to cite, as BibTeX."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from gazeveil import __version__
from gazeveil.privacy.composition import is_seeded
from gazeveil.privacy.guarantee import GazeStreamDP
from gazeveil.privacy.statement import neighbours_in_words
from gazeveil.release.release import Release
from gazeveil.release.sources import bibtex
from gazeveil.release.words import formal, plain, stated_facts

_STREAM_SOURCES = ("li2021",)


def methods(release: Release, about_the_value: Mapping[str, Any]) -> str:
    """Return the document."""
    sources = release.measurement.method().sources
    if isinstance(release.measurement.guarantee, GazeStreamDP):
        sources = (*sources, *_STREAM_SOURCES)
    return (
        "# Methods\n\n"
        "Paste this paragraph into a paper and keep what its readers need. Citations are written as `[@key]`, with the "
        "keys of the BibTeX entries below; entries that it does not cite are further sources of the method.\n\n"
        f"{paragraph(release, about_the_value)}\n\n"
        "## BibTeX\n\n"
        f"```bibtex\n{bibtex(sources)}\n```\n"
    )


def paragraph(release: Release, about_the_value: Mapping[str, Any]) -> str:
    """Return the paragraph: mechanism, guarantee, unit, neighbours, facts, noise, what was done afterwards, account."""
    measurement = release.measurement
    parts = [
        f"We released the product “{release.product}” of the study “{measurement.study.name}” with gazeveil "
        f"{__version__} [@gazeveil] (release {release.id}, {release.date[:10]}).",
        measurement.method().sentence,
        _guaranteed(release),
        neighbours_in_words(measurement.guarantee),
        release.statement().over_time(),
        _facts(release),
        noise(release),
        _afterwards(release, about_the_value),
        account(release),
        release.statement().condition(),
    ]
    return " ".join(part for part in parts if part)


def without_citations(text: str) -> str:
    """Return a text of this paragraph for readers who do not have its list of sources."""
    return re.sub(r" \[@[a-z0-9]+\]", "", text)


def noise(release: Release) -> str:
    """Say where the noise came from."""
    if release.guarantee.proven:
        return (
            "Noise came from the operating system's cryptographic generator; the sum of data and noise was taken "
            "exactly and rounded to a lattice, so that floating-point errors reveal nothing."
        )
    if is_seeded(release.guarantee):
        return "The noise came from a seed, for testing: anyone who knows the seed can remove it."
    return "Nothing is proven about noise in this release."


def account(release: Release) -> str:
    """Say what all releases of the account guarantee together."""
    if release.receipt is None:
        return "No privacy budget was kept: what other releases from the same data cost is not included."
    named = f"the account “{release.receipt.account.dataset}”"
    if release.total is None:
        return f"The release was charged to {named}."
    return (
        f"The release was charged to {named}; all its releases up to this one together satisfy {formal(release.total)} "
        f"for {release.total.unit.in_words()} ({release.total.neighbours})."
    )


def _guaranteed(release: Release) -> str:
    if not release.guarantee.proven:
        return f"The release has {formal(release.guarantee)}."
    cited = " [@li2021]" if isinstance(release.guarantee, GazeStreamDP) else " [@dwork2014]"
    return (
        f"The release satisfies {formal(release.guarantee)}{cited}; the unit of protection is "
        f"{release.guarantee.unit.in_words()} ({release.guarantee.neighbours})."
    )


def _facts(release: Release) -> str:
    listed = "; ".join(f"{fact.name}: {fact.text}" for fact in stated_facts(release.facts))
    return f"Public facts: {listed}." if listed else ""


def _afterwards(release: Release, about_the_value: Mapping[str, Any]) -> str:
    forecast = release.measurement.forecast()
    said = [] if forecast is None else [f"Expected before the release: {forecast.in_words()}."]
    if simple := {key: value for key, value in about_the_value.items() if isinstance(value, int | float | str)}:
        said.append(f"Reported with the released value: {plain(simple)}.")
    if release.post_processing:
        said.append(f"Post-processing, which costs no privacy: {'; '.join(release.post_processing)}.")
    return " ".join(said)
