# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Which figures and tables there are, and what measures them. Those that take longest come first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gazeveil.errors import UnknownName, closest
from gazeveil.lab.experiments.reproduction import bozkir, kaleido_attacks, kaleido_streams, kaleido_system, liu, wilson
from gazeveil.lab.experiments.reproduction.running import Part

PARTS: Final = (
    Part(wilson.measure_table_3, wilson.PAPER, {"wilson-table-3": "Table 3: attacks on mechanisms"}),
    Part(wilson.measure_figure_2, wilson.PAPER, {"wilson-2": "Figure 2: accuracy and hits over strength"}),
    Part(bozkir.measure, bozkir.PAPER, {
        "bozkir-1": "Figure 1: correlation over time", "bozkir-2": "Figure 2: utility over ε",
        "bozkir-3": "Figure 3: classes, with vote", "bozkir-4": "Figure 4: classes, without vote",
    }),
    Part(kaleido_streams.measure_eyes, kaleido_streams.PAPER, {
        "kaleido-13": "Figure 13: error of noisy gaze", "kaleido-15": "Figure 15: saliency maps",
    }),
    Part(kaleido_attacks.measure_scanpaths, kaleido_attacks.PAPER, {
        "kaleido-10": "Figure 10: similarity of scanpaths", "kaleido-11": "Figure 11: outliers",
    }),
    Part(kaleido_attacks.measure_traits, kaleido_attacks.PAPER, {"kaleido-12": "Figure 12: identity and traits"}),
    Part(kaleido_streams.measure_head_and_eyes, kaleido_streams.PAPER, {"kaleido-14": "Figure 14: head and eye"}),
    Part(wilson.measure_table_2, wilson.PAPER, {"wilson-table-2": "Table 2: identification by length"}),
    Part(liu.measure, liu.PAPER, {"liu-2": "Figure 2: noise of gaze maps", "liu-3": "Figure 3: quality over ε"}),
    Part(wilson.measure_table_5, wilson.PAPER, {"wilson-table-5": "Table 5: cost"}),
    Part(kaleido_system.measure_costs, kaleido_system.PAPER, {"kaleido-9": "Figure 9: cost"}),
    Part(kaleido_system.measure_table_1, kaleido_system.PAPER, {"kaleido-table-1": "Table 1: data sets"}),
)  # fmt: skip

ORDER: Final = (
    "liu-2", "liu-3", "bozkir-1", "bozkir-2", "bozkir-3", "bozkir-4", "wilson-2", "wilson-table-2", "wilson-table-3",
    "wilson-table-5", "kaleido-table-1", "kaleido-9", "kaleido-10", "kaleido-11", "kaleido-12", "kaleido-13",
    "kaleido-14", "kaleido-15",
)  # fmt: skip
"""As the index lists them."""


def chosen(names: Sequence[str]) -> tuple[Part, ...]:
    """Return the parts that measure some figures; all of them if no name is given.

    Raises:
        UnknownName: If there is no such figure.
    """
    if unknown := [name for name in names if name not in ORDER]:
        raise UnknownName(f"no figure or table is called {unknown[0]!r}", hint=closest(unknown[0], ORDER))
    return tuple(part for part in PARTS if not names or set(names) & set(part.figures))
