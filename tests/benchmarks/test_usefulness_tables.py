# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from benchmarks import usefulness
from gazeveil.lab.experiments.heatmap_scenes import Split


def test_the_pages_show_exactly_the_stored_numbers() -> None:
    for page, tables in usefulness.PAGES.items():
        told = page.read_text()
        assert usefulness.with_tables(told, tables) == told, "run `python -m benchmarks.usefulness --stored`"


def test_the_stored_numbers_are_of_what_the_pages_say() -> None:
    for (name, split), scenes in usefulness.PARTS.items():
        found = usefulness.stored(name, split)
        assert (found.gallery, found.split, found.scenes) == (name, split, scenes)
        assert found.plan.epsilons == (1.0,)
        assert found.plan.delta == 1e-5
        assert found.viewers == (15 if name == "osie" else 300)


def test_both_data_sets_are_shown_on_scenes_that_nothing_was_tuned_on() -> None:
    assert usefulness.long_tables(Split.TEST).count(f" {Split.TEST}: ") == 2
