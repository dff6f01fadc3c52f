# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pickle

from gazeveil import errors


def test_a_file_error_says_where_what_and_what_next() -> None:
    error = errors.FileFormatError("a.asc", line=1200, column="x", expected="a number", found="'abc'", hint="mend it")
    assert str(error) == "a.asc, line 1,200, column x: expected a number, found 'abc'\nhint: mend it"
    assert error.details()["line"] == 1200


def test_an_error_comes_whole_from_another_process() -> None:
    told = {"account": "a/b", "requested": {"epsilon": "2"}, "remaining": {"epsilon": "1"}, "difference": None}
    for error in (
        errors.BudgetExceeded("over", **told, hint="wait"),  # type: ignore[arg-type]
        errors.FileFormatError("a.asc", line=3, expected="a number", found="'abc'"),
        errors.OutputError("no room", hint="make some"),
    ):
        same = pickle.loads(pickle.dumps(error))
        assert type(same) is type(error)
        assert (str(same), same.details()) == (str(error), error.details())


def test_the_tree_at_the_top_of_the_file_names_every_error() -> None:
    classes = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Exception)]
    assert errors.__doc__ is not None
    for cls in classes:
        assert cls.__name__ in errors.__doc__
