# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import importlib
import math
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gazeveil.errors import InternalError, UnknownName
from gazeveil.registry import Names, Registry


def a_registry() -> Registry[str]:
    registry: Registry[str] = Registry("colour")
    registry.register("red")("#f00")
    registry.register("blue")("#00f")
    return registry


def test_things_are_found_by_name_and_listed_in_order() -> None:
    registry = a_registry()
    assert registry["red"] == "#f00"
    assert registry.names() == ["blue", "red"]
    assert list(registry) == ["#00f", "#f00"]
    assert "red" in registry
    assert len(registry) == 2


def test_an_unknown_name_comes_with_a_guess_and_the_list() -> None:
    with pytest.raises(UnknownName, match=r"no colour is called 'rad'\nhint: did you mean 'red'\? known: blue, red"):
        a_registry()["rad"]


def test_two_things_of_one_name_are_our_own_mistake() -> None:
    with pytest.raises(InternalError, match="two colours"):
        a_registry().register("red")("#e00")


def a_package(folder: Path, name: str, modules: dict[str, str]) -> str:
    (folder / name).mkdir()
    (folder / name / "__init__.py").write_text(
        f"from gazeveil.registry import Registry\nTHINGS = Registry('thing', package='{name}')\n"
    )
    for module, code in modules.items():
        (folder / name / f"{module}.py").write_text(code)
    return name


def test_a_package_is_searched_on_first_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = "from {0} import THINGS\nTHINGS.register('one')(1)\n"
    name = a_package(tmp_path, "things_found", {"one": entry.format("things_found"), "_hidden": "1 / 0"})
    monkeypatch.syspath_prepend(tmp_path)
    assert importlib.import_module(name).THINGS.names() == ["one"]


def test_a_broken_module_is_told_every_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = a_package(tmp_path, "things_broken", {"bad": "1 / 0"})
    monkeypatch.syspath_prepend(tmp_path)
    things = importlib.import_module(name).THINGS
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            things.names()


def test_a_second_thread_waits_until_everything_was_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = (
        "from things_shared import THINGS, STARTED, GO_ON\n"
        "STARTED.set()\n"
        "GO_ON.wait(0.2)\n"  # a thread that does not wait has ample time to find nothing
        "THINGS.register('one')(1)\n"
    )
    name = a_package(tmp_path, "things_shared", {"one": slow})
    monkeypatch.syspath_prepend(tmp_path)
    package = importlib.import_module(name)
    started, go_on = threading.Event(), threading.Event()
    vars(package).update(STARTED=started, GO_ON=go_on)

    def a_look_up() -> int:
        started.wait(10)
        try:
            return int(package.THINGS["one"])
        finally:
            go_on.set()

    with ThreadPoolExecutor(4) as threads:
        others = [threads.submit(a_look_up) for _ in range(3)]
        first = threads.submit(package.THINGS.names)
        assert first.result() == ["one"]
        assert [other.result() for other in others] == [1, 1, 1]


def test_a_module_may_ask_for_what_was_found_so_far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = "from things_asked import THINGS\nTHINGS.register('{0}')(THINGS.names())\n"
    name = a_package(tmp_path, "things_asked", {"a": entry.format("a"), "b": entry.format("b")})
    monkeypatch.syspath_prepend(tmp_path)
    assert importlib.import_module(name).THINGS["b"] == ["a"]


TABLE: Names[object] = Names("wave", {"sine": "math:sin", "flat": 0})


def test_a_literal_table_is_a_mapping_whose_values_may_be_imported_on_use() -> None:
    assert TABLE["sine"] is math.sin
    assert dict(TABLE) == {"sine": math.sin, "flat": 0}
    assert TABLE.names() == list(TABLE) == ["sine", "flat"]
    assert TABLE.get("flat") == 0
    assert TABLE.get("square") is None


def test_a_name_that_a_table_does_not_have_comes_with_a_guess_and_the_list() -> None:
    with pytest.raises(UnknownName, match=r"no wave is called 'sin'\nhint: did you mean 'sine'\? known: sine, flat"):
        TABLE["sin"]


def test_what_is_added_unlisted_is_found_and_not_offered() -> None:
    table: Names[str] = Names("colour", {"red": "colorsys:ONE_SIXTH"})
    table.add_unlisted("blue")("#00f")
    assert table["blue"] == "#00f"
    assert "blue" in table
    assert "blue" not in list(table)
    assert table.names(unlisted=True) == ["red", "blue"]
    with pytest.raises(InternalError, match="two colours are called 'red'"):
        table.add_unlisted("red")("#e00")
    with pytest.raises(UnknownName, match=r"hint: known: red$"):
        table["green"]
