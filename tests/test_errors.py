# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from gazeveil import errors


def test_a_file_error_says_where_what_and_what_next() -> None:
    error = errors.FileFormatError("a.asc", line=1200, column="x", expected="a number", found="'abc'", hint="mend it")
    assert str(error) == "a.asc, line 1,200, column x: expected a number, found 'abc'\nhint: mend it"
    assert error.details()["line"] == 1200


def test_the_tree_at_the_top_of_the_file_names_every_error() -> None:
    classes = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Exception)]
    assert errors.__doc__ is not None
    for cls in classes:
        assert cls.__name__ in errors.__doc__
