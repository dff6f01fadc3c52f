# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What authors, reviewers and the public registry read about a release."""

from __future__ import annotations

import inspect
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from gazeveil.noise import NoiseSource
from gazeveil.privacy.composition import guarantee_after_noise
from gazeveil.privacy.guarantee import ApproxDP, GazeStreamDP, Guarantee, PureDP, Unproven, ZeroConcentratedDP
from gazeveil.release import documents
from gazeveil.release.documents import evidence_page, methods_paragraph, methods_text, registry_entry
from gazeveil.release.plan import PRODUCTS, Measurement
from gazeveil.release.release import Release
from gazeveil.release.study import Custody, Participants
from tests.release.conftest import Charged

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = yaml.safe_load((Path(__file__).parent / "deployments_registry" / "deployments-schema.yaml").read_text())
ABOUT = {"data_share": 0.4, "picture_share": 0.0}
EVERY_KIND: list[Guarantee] = [
    PureDP("0.1"),
    PureDP(1, neighbours="add-remove"),
    ApproxDP("0.5", "1e-6"),
    ZeroConcentratedDP("0.02"),
    GazeStreamDP(3, "0.5", 60),
]


def declared(release: Release, **changes: Any) -> Release:
    """Return a release whose facts were declared, with other things about its study."""
    study = replace(release.measurement.study, observed=frozenset(), **changes)
    return replace(release, measurement=replace(release.measurement, study=study))  # type: ignore[type-var]


def faults(entry: Any) -> list[str]:
    checker = jsonschema.Draft7Validator(SCHEMA, format_checker=jsonschema.Draft7Validator.FORMAT_CHECKER)
    return [error.message for error in checker.iter_errors(entry)]


def test_the_paragraph_for_a_paper_holds_all_numbers(charged: Charged) -> None:
    text = methods_paragraph(charged.release, ABOUT)
    for said in (
        "ε = 1.5 and δ = 0.00001",
        "everything that one participant contributed (replace-one)",
        "participants: 25",
        "a.png",
        "√2 times that length",
        "Gaussian noise, calibrated analytically",
        "standard deviation of",
        "data share 0.4",
        "charged to the account “study-7”",
        charged.release.id,
    ):
        assert said in text, said


def test_only_facts_from_the_data_make_the_paragraph_conditional(charged: Charged) -> None:
    assert "conditional on them" in methods_paragraph(charged.release, ABOUT)
    assert "conditional" not in methods_paragraph(declared(charged.release), ABOUT)


def test_what_the_paragraph_cites_is_in_the_bibliography(charged: Charged) -> None:
    text = methods_text(charged.release, ABOUT)
    cited = set(re.findall(r"\[@([a-z0-9]+)\]", text)) - {"key"}
    given = set(re.findall(r"@[a-z]+\{([a-z0-9]+),", text))
    assert {"gazeveil", "dwork2014", "balle2018"} <= cited <= given


def test_every_source_is_an_entry_with_author_title_and_year() -> None:
    for key in documents.known_sources():
        entry = documents.bibtex([key])
        body = entry[entry.index("{" + key + ",") :]
        assert body.count("{") == body.count("}")
        assert all(re.search(rf"\b{field}\s+= ", body) for field in ("author", "title", "year")), key


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]


def test_the_evidence_stands_by_itself_and_names_what_it_rests_on(charged: Charged) -> None:
    text = evidence_page(charged.release, ABOUT)
    page = Page(text)
    assert "script" not in page.tags
    assert page.addresses == []
    assert "url(" not in text
    assert "Ε-" not in text  # a capital epsilon
    for said in (
        "docs/proofs/heatmap-strategies.md",
        "gazeveil lab audit heatmap-bumps",
        "Not run for this release",
        "cryptographic generator",
        "How long the release took",
        "40% of the value comes from the data, 60% from a public prior",
        "Central",
    ):
        assert said in text, said


def test_what_nobody_answered_about_the_raw_data_is_marked(charged: Charged) -> None:
    blank = '<strong class="missing">Not stated</strong>'
    assert evidence_page(charged.release, ABOUT).count(blank) == 4
    held = declared(
        charged.release, custody=Custody(holder="Lab <7>", place="a locked disk", access="two participants")
    )
    text = evidence_page(held, ABOUT)
    assert text.count(blank) == 1
    assert "Lab &lt;7&gt;" in text


def test_evidence_of_seeded_noise_says_that_nothing_is_private(charged: Charged) -> None:
    lost = guarantee_after_noise(charged.release.guarantee, NoiseSource.seeded(1))
    text = evidence_page(replace(charged.release, guarantee=lost), ABOUT)
    assert '<strong class="missing">The noise came from a seed' in text
    assert "no proven guarantee" in text.lower()


def _kinds_of(kind: Any) -> list[Any]:
    ours = [one for one in kind.__subclasses__() if one.__module__.startswith("gazeveil.")]
    return [each for one in ours for each in (one, *_kinds_of(one))]


def test_every_product_names_a_page_that_proves_its_guarantee() -> None:
    for name in PRODUCTS.names():
        PRODUCTS[name]
    products = [kind for kind in _kinds_of(Measurement) if not inspect.isabstract(kind)]
    assert len(products) >= len(PRODUCTS.names())
    for kind in products:
        assert (ROOT / "docs" / "proofs" / f"{kind.proof}.md").is_file(), kind.__name__


@pytest.mark.parametrize("guarantee", EVERY_KIND)
def test_an_entry_for_the_public_registry_passes_its_schema(charged: Charged, guarantee: Guarantee) -> None:
    entry = registry_entry(replace(charged.release, guarantee=guarantee), ABOUT)
    assert entry is not None
    assert faults(entry) == []
    assert faults(yaml.safe_load(json.dumps(entry))) == []  # the registry reads YAML
    stated = entry["deployment"]["privacy_loss"]["privacy_parameters"]
    assert stated == {name: float(value) for name, value in guarantee.numbers().items()}


def test_the_schema_would_find_a_wrong_entry(charged: Charged) -> None:
    entry = registry_entry(charged.release, ABOUT)
    assert entry is not None
    entry["deployment"]["dp_variant"]["variant_name"] = "Whatever DP"
    del entry["status"]
    assert len(faults(entry)) == 2


def test_a_stream_is_entered_as_a_variant_of_its_own_with_its_relation(charged: Charged) -> None:
    entry = registry_entry(replace(charged.release, guarantee=GazeStreamDP(3, "0.5", 60)), ABOUT)
    assert entry is not None
    assert entry["deployment"]["dp_variant"]["variant_name"] == "Custom"
    relation = entry["deployment"]["privacy_loss"]["privacy_unit_details"]
    assert "window of 0.5 s, there by at most 60 px" in relation
    assert "max divergence" in relation


def test_what_is_not_proven_is_not_entered(charged: Charged) -> None:
    assert registry_entry(replace(charged.release, guarantee=Unproven("seeded")), ABOUT) is None


def test_a_secret_number_of_participants_is_in_no_document(charged: Charged) -> None:
    secret = declared(charged.release, participants=Participants(secret=True))
    for text in (
        methods_paragraph(secret, ABOUT),
        evidence_page(secret, ABOUT),
        json.dumps(registry_entry(secret, ABOUT)),
    ):
        assert "articipants: secret" in text
        assert "articipants: 25" not in text
