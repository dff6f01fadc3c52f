# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Nothing that is released, sent or read changes by accident: numbers, sentences and pictures are as their copies."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import pytest

from tests.golden import copies, form
from tests.golden.comparing import as_text, compared, differences, from_text, path_of
from tests.golden.doors import FORMATS, PRODUCTS, PROTOCOLS
from tests.golden.vendor import FILES

for _package in ("cv2", "matplotlib", "msgpack", "msgspec", "websockets", "pylsl"):
    pytest.importorskip(_package)


@pytest.fixture(scope="session")
def rooms(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("golden")


@pytest.mark.parametrize("name", copies.names())
def test_it_is_as_its_golden_copy(name: str, rooms: Path) -> None:
    lines = differences(name, copies.made(name, rooms))
    assert not lines, f"{name}\n" + "\n".join(lines)


def test_every_golden_copy_is_made_by_something() -> None:
    assert copies.kept() == set(copies.names())


def test_every_product_protocol_and_format_has_a_golden_copy() -> None:
    texts = [path_of(name).read_text(encoding="utf-8") for name in copies.names() if name.startswith("releases/")]
    released = {found for text in texts for found in re.findall(r'^  "product": "(.*)",$', text, re.MULTILINE)}
    assert released == set(PRODUCTS.names())
    assert {f"gateway/{name}" for name in PROTOCOLS.names()} <= set(copies.names())
    assert {folder.name for folder in FILES.iterdir()} == set(FORMATS.names())


def test_guarantees_in_golden_copies_are_those_of_true_releases() -> None:
    text = path_of("releases/heatmap-modes").read_text(encoding="utf-8")
    assert '"kind": "pure-dp"' in text
    assert "unproven" not in text


SAID = {
    "table.parquet": 'observer: String | x: Float64\n"ann" | 0.12345678901234\n"bob" | 12.5\n',
    "record.json": '{\n  "epsilon": "1",\n  "count": 4,\n  "expected": 0.4650432117872663\n}\n',
    "words.txt": "Everything that one participant contributed\n",
}


@pytest.mark.parametrize(
    ("name", "old", "new", "told"),
    [
        ("table.parquet", "0.12345678901234", "0.12345679901234", "line 2: expected 0.12345678901234, found"),
        ("table.parquet", "12.5", "12.6", "line 3: expected 12.5, found 12.6"),
        ("table.parquet", '"bob"', '"bib"', "line 3: from letter 3"),
        ("record.json", "4,", "5,", "line 3: "),
        ("record.json", "0.4650432117872663", "0.4650432217872663", "line 4: field expected: expected 0.46504321"),
        ("words.txt", "one participant", "two participants", "line 1: from letter 17: expected"),
        ("words.txt", "\n", "\nAnd more.\n", "length: expected 1 lines, found 2"),
    ],
)
def test_a_changed_number_or_text_is_found_and_named(name: str, old: str, new: str, told: str) -> None:
    lines = compared(SAID, {**SAID, name: SAID[name].replace(old, new)})
    assert len(lines) == 1 or "length" in told
    assert lines[0].startswith(f"{name}, {told}")


def test_files_that_are_missing_or_new_are_found() -> None:
    assert compared(SAID, {"new.txt": "", **{n: SAID[n] for n in list(SAID)[1:]}}) == [
        "table.parquet: expected, not found",
        "new.txt: found, not expected",
    ]


def test_the_last_digits_of_a_long_fraction_may_differ() -> None:
    text = SAID["table.parquet"]
    assert compared(SAID, {**SAID, "table.parquet": text.replace("0.12345678901234", "0.12345678901237")}) == []


def test_a_changed_pixel_is_found_and_the_last_bit_of_one_is_not() -> None:
    from PIL import Image

    def picture(change: int) -> str:
        pixels = np.full((60, 80, 3), 100, dtype=np.uint8)
        pixels[40, 70, 1] += np.uint8(change)
        file = io.BytesIO()
        Image.fromarray(pixels).save(file, format="PNG")
        return form.of_picture(file.getvalue())

    assert compared({"map.png": picture(0)}, {"map.png": picture(1)}) == []
    (line,) = compared({"map.png": picture(0)}, {"map.png": picture(120)})
    assert line.startswith("map.png, line 7: expected Σ")


def test_a_copy_comes_back_from_its_file() -> None:
    assert from_text(as_text(SAID)) == SAID
