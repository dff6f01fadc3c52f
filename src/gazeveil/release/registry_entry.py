# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``registry-entry.json``: a draft entry for the public registry of differential privacy deployments.

JSON is YAML too, so the file can be handed in as it is, under a name that ends in .yaml. What a release cannot know
(region, intended use, who fills in the entry) is marked to be filled in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from gazeveil import __version__
from gazeveil.exact import decimal_up
from gazeveil.privacy.guarantee import ApproxDP, GazeStreamDP, Guarantee, PureDP, ZeroConcentratedDP
from gazeveil.privacy.statement import AGAINST, neighbours_in_words
from gazeveil.release import methods
from gazeveil.release.release import Release
from gazeveil.release.words import exactly, formal, plain, stated_facts

TO_FILL_IN = "To be filled in"


def registry_entry(release: Release, about_the_value: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the entry; None where nothing is proven, since that is no deployment of differential privacy."""
    guarantee, measurement = release.guarantee, release.measurement
    if not guarantee.proven:
        return None
    study, facts = measurement.study, stated_facts(release.facts)
    holder = study.custody.holder.strip()
    unprotected = "; ".join(f"{fact.name}: {fact.text}" for fact in facts)
    return {
        "url_slug": _slug(f"{study.name} {release.product} {release.date[:10]}"),
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": {
                "name": f"{study.name}: {release.product}",
                "data_curators": [holder or TO_FILL_IN],
                "intended_use": f"{TO_FILL_IN}. Eye-tracking research.",
                "data_product_type": "Dataset" if isinstance(guarantee, GazeStreamDP) else "Summary statistics",
                "data_product_region": TO_FILL_IN,
                "description": f"Eye-tracking data of a study, released as {release.product}: {measurement.files}.",
                "publication_date": release.date[:10],
            },
            "dp_variant": {
                "variant_name": _variant(guarantee),
                "data_domain": "All recordings that the study declares; what contradicts its declaration is absent.",
                "unprotected_quantities": f"Public facts: {unprotected}. {release.statement().condition()}".rstrip(),
            },
            "privacy_loss": {
                "privacy_unit": guarantee.unit.in_words(),
                "privacy_unit_details": _relation(guarantee),
                "privacy_parameters": {name: _number(value) for name, value in guarantee.numbers().items()},
                "privacy_parameters_details": f"{formal(guarantee)}. {methods.account(release)}",
            },
            "deployment_model": {
                "model_name": "Central",
                "actors": f"The holder of the raw data ({holder or TO_FILL_IN}), the participants, and {AGAINST}.",
                "release_type": "One release",
                "data_source_type": "Static",
                "access_type": "Non-interactive",
            },
            "accounting": {
                "post_processing": "; ".join(release.post_processing) or "As described under mechanisms.",
                "composition": methods.account(release),
            },
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": (
                    "Parameters follow from the public facts above; nothing was tuned on the protected data."
                ),
                "mechanisms": _mechanisms(release),
                "justification": _justification(release, about_the_value),
            },
            "administrative": {
                "sources": f"release.json of the release {release.id}; `gazeveil verify` checks it.",
                "registry_authors": [TO_FILL_IN],
            },
        },
    }


def _variant(guarantee: Guarantee) -> str:
    if isinstance(guarantee, GazeStreamDP):
        return "Custom"
    names: dict[type[Guarantee], str] = {
        PureDP: "Pure DP",
        ApproxDP: "Approximate DP",
        ZeroConcentratedDP: "Zero-concentrated DP",
    }
    return names.get(type(guarantee), "Custom")


def _relation(guarantee: Guarantee) -> str:
    """Say which inputs are adjacent; for a custom variant the whole privacy relation."""
    adjacent = neighbours_in_words(guarantee)
    if not isinstance(guarantee, GazeStreamDP):
        return f"{guarantee.neighbours}. {adjacent}"
    head = "" if guarantee.head_radius is None else f" (the head: {exactly(guarantee.head_radius)} deg)"
    return (
        f"{adjacent} Input metric: two gaze streams are at distance 1 if they have the same time stamps, the same "
        f"missing samples, and differ only within one closed window of {exactly(guarantee.window)} s, there by at most "
        f"{exactly(guarantee.radius)} {guarantee.radius_unit}{head} at each sample. Bound on the input distance: 1. "
        "Output measure: max divergence. Bound on the output distance: epsilon."
    )


def _mechanisms(release: Release) -> str:
    method = methods.without_citations(release.measurement.method().sentence)
    return f"{method} {methods.noise(release)} Software: gazeveil {__version__}."


def _justification(release: Release, about_the_value: Mapping[str, Any]) -> str:
    forecast = release.measurement.forecast()
    proof = release.measurement.proof
    parts = [
        f"The guarantee is proven in docs/proofs/{proof}.md of gazeveil." if proof else "",
        "" if forecast is None else f"Expected before the release: {forecast.in_words()}.",
        f"About the released value: {plain(dict(about_the_value))}." if about_the_value else "",
    ]
    return " ".join(part for part in parts if part) or TO_FILL_IN


def _number(value: Fraction) -> float:
    """Return a parameter as the number that JSON writes: rounded up, so that nothing looks better than it is."""
    return float(decimal_up(value, 12))


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
