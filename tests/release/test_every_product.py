# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Every product is documented and can be verified; a flipped bit in any of its files is found."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gazeveil import Corpus
from gazeveil.errors import GazeveilError
from gazeveil.privacy.audit.subject import SUBJECTS
from gazeveil.release import documents
from gazeveil.release.plan import PRODUCTS
from gazeveil.release.release import Release
from gazeveil.release.verify import verify
from tests.release import test_aggregate_products as aggregate
from tests.release import test_feature_series as series
from tests.release import test_veiled_recordings_product as veiled
from tests.release.test_documents import SCHEMA
from tests.release.test_verify import flip, found_in

NAMES = [*aggregate.MECHANISMS, "group", "low-rank", "fpa", "veiled"]


@cache
def release_of(name: str) -> Release:
    if name in aggregate.MECHANISMS:
        mechanism, which = aggregate.MECHANISMS[name]
        corpus = Corpus.of(aggregate.corpus_of(aggregate.NEIGHBOURS["like the others"]))
        return aggregate.declared().plan(mechanism, **which).release(corpus, anyway=True)
    if name == "veiled":
        corpus = Corpus.of([veiled.recording("ann"), veiled.recording("bob", 2)])
        return veiled.declared().plan(veiled.CLOCK).release(corpus, anyway=True)
    return series.plans()[name].release(Corpus.of(series.readers()), anyway=True)


@pytest.fixture(scope="module", params=NAMES)
def product(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Release, Path]:
    release = release_of(request.param)
    return release, release.save(tmp_path_factory.mktemp("product") / "release")


def test_no_product_is_left_out() -> None:
    assert {release_of(name).product for name in NAMES} == set(PRODUCTS.names())


def test_a_release_of_each_product_is_verified(product: tuple[Release, Path]) -> None:
    found = verify(product[1])
    assert found.ok, found.faults
    assert {finding.check for finding in found.unchecked} == {"signature", "charge"}


def test_a_flipped_bit_in_any_file_of_any_product_is_found(product: tuple[Release, Path]) -> None:
    files = [path for path in sorted(product[1].rglob("*")) if path.is_file()]
    assert len(files) >= 6
    for path in files:
        before = path.read_bytes()
        flip(path, len(before) // 3, 4)
        assert found_in(product[1]), path.name
        path.write_bytes(before)
    assert verify(product[1]).ok


def test_the_documents_of_each_product_are_complete(product: tuple[Release, Path]) -> None:
    release, folder = product
    method = release.measurement.method()
    assert method.audit in SUBJECTS.names()
    assert set(method.sources) <= set(documents.known_sources())
    text = (folder / "methods.md").read_text()
    assert set(re.findall(r"\[@([a-z0-9]+)\]", text)) - {"key"} <= set(re.findall(r"@[a-z]+\{([a-z0-9]+),", text))
    assert method.sentence in text
    assert f"docs/proofs/{release.measurement.proof}.md" in (folder / "evidence.html").read_text()
    entry: Any = json.loads((folder / "registry-entry.json").read_text())
    jsonschema.Draft7Validator(SCHEMA, format_checker=jsonschema.Draft7Validator.FORMAT_CHECKER).validate(entry)


def test_each_product_carries_its_domain_its_distance_and_what_a_distance_costs(product: tuple[Release, Path]) -> None:
    measurement = product[0].measurement
    guarantee = measurement.guarantee
    assert measurement.domain.study == measurement.study
    assert (measurement.distance.unit, measurement.distance.neighbours) == (guarantee.unit, guarantee.neighbours)
    assert measurement.loss() == guarantee
    assert measurement.loss(2) == guarantee.for_group(2)
    with pytest.raises(GazeveilError):
        measurement.loss(0)
