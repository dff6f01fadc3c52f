# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Studies of more stimuli than anybody wants to read about line by line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from gazeveil import Corpus, NoiseSource, PrivateHeatmaps, Recording, screen, verify
from gazeveil.release.products import maps
from tests.releasing import released

DESK = screen(800, 600, 80, 60, 573)  # 8 by 6 degrees, so that decoding is quick


def test_many_maps_are_written_without_axes_and_summed_up_in_few_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maps, "MOST_DRAWN", 39)
    t = np.arange(5) / 60
    seen = [Recording(t, 90 * t + 100, 80 + t, DESK, "p1", f"{number:02d}.png") for number in range(40)]
    mechanism = PrivateHeatmaps(epsilon=1, cell_deg=2, blur_deg=2)
    release = released(mechanism, Corpus.of(seen), noise=NoiseSource.seeded(1))
    lines = release.measurement.summary(release.value)
    assert len(lines) == 1 + 30 + 1
    assert lines[-1] == "and 10 more: data_share in release.json"
    folder = release.save(tmp_path / "out")
    assert verify(folder).ok
    assert len(list((folder / "stimuli").glob("*.png"))) == 80
    rows, columns = release.value.mean.map.shape
    side = 480 // columns
    assert imread(next((folder / "stimuli").iterdir())).shape[:2] == (rows * side, columns * side)
