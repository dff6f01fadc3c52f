# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from gazeveil.errors import InternalError, UnknownName
from gazeveil.registry import Registry


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
