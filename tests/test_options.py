# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What users set of a mechanism is declared once: command line, defaults and errors agree with the field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from gazeveil import AoiStatistics, HeatmapMovie, PrivateHeatmap, PrivateHeatmaps
from gazeveil.errors import OptionError
from gazeveil.options import check_settings, setting, settings_of
from tests.commandline import commands

MADE = {"heatmap": PrivateHeatmap, "heatmaps": PrivateHeatmaps, "movie": HeatmapMovie, "aoi": AoiStatistics}


@dataclass(frozen=True)
class Example:
    """Something with settings.

    Attributes:
        size: How large it is, in degrees; by default
            one. A second sentence.
        count: How many there are.
        plain: Nothing that users set.
    """

    size: float = setting(1.0, above=0, most=10)
    count: int | None = setting(None, least=2, option="--how-many")
    flag: bool = False
    plain: int = 3

    def __post_init__(self) -> None:
        check_settings(self)


def test_a_declaration_is_read_from_the_field_and_the_docstring() -> None:
    size, count = settings_of(Example)
    assert (size.option, size.type, size.default) == ("--size", "float", 1.0)
    assert size.words == "How large it is, in degrees; by default one."
    assert (count.option, count.type, count.default) == ("--how-many", "int", None)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"size": 0}, "size must be a positive number and at most 10, not 0"),
        ({"size": 11.0}, "not 11.0"),
        ({"size": float("nan")}, "not nan"),
        ({"size": "1"}, "not '1'"),
        ({"size": True}, "not True"),
        ({"count": 1}, "count must be a whole number, at least 2, not 1"),
        ({"count": 2.5}, "not 2.5"),
    ],
)
def test_what_is_out_of_bounds_is_refused_in_the_words_of_the_declaration(given: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError, match=r"must be") as refused:
        Example(**given)
    assert words in refused.value.message
    assert refused.value.hint.startswith("--size: How large" if "size" in given else "--how-many: How many")


@pytest.mark.parametrize("product", MADE)
def test_the_command_line_has_the_options_and_defaults_of_the_mechanism(product: str) -> None:
    options = {parameter.opts[0]: parameter for parameter in commands()[product].params}
    for each in settings_of(MADE[product]):
        found = options[each.option]
        assert found.required == (each.default is ...), each
        assert each.default is ... or found.default == each.default, each
        assert found.help.startswith(each.words.replace("``", "`").rstrip(".")), each
