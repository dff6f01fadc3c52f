# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Count the code by package: ``python -m tools.count_code``.

A line of code holds a token that is no comment and no docstring. Lines of imports count as code, and once more by
themselves. `tests/test_house.py` holds these numbers down.
"""

from __future__ import annotations

import ast
import io
import tokenize
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "gazeveil"
SMALL = 60
"""A module with fewer lines of code is small."""

_NO_CODE = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT),
    *(tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER),
}


@dataclass(frozen=True, slots=True)
class Size:
    """How large a module, or several, are.

    Attributes:
        files: How many modules.
        lines: Their lines, with comments and blanks.
        code: Lines of code.
        imports: Those of them that import.
        small: Modules with fewer than `SMALL` lines of code.
    """

    files: int = 0
    lines: int = 0
    code: int = 0
    imports: int = 0
    small: int = 0

    def __add__(self, other: Size) -> Size:
        """Return the size of both."""
        return Size(
            self.files + other.files,
            self.lines + other.lines,
            self.code + other.code,
            self.imports + other.imports,
            self.small + other.small,
        )


def size_of(text: str) -> Size:
    """Return the size of a module."""
    docstrings: set[int] = set()
    imports: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            docstrings |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        if isinstance(node, ast.Import | ast.ImportFrom):
            imports |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            code |= set(range(token.start[0], token.end[0] + 1))
    code -= docstrings
    return Size(1, len(text.splitlines()), len(code), len(imports & code), int(len(code) < SMALL))


@cache
def modules(folder: Path = SOURCE) -> tuple[tuple[Path, Size], ...]:
    """Return every module below a folder with its size."""
    return tuple((path, size_of(path.read_text(encoding="utf-8"))) for path in sorted(folder.rglob("*.py")))


def packages() -> dict[str, Size]:
    """Return the size of each package, of the lab, of the product, and of both."""
    found: dict[str, Size] = {}
    for path, size in modules():
        parts = path.relative_to(SOURCE).parts
        half = "lab" if parts[0] == "lab" else "product"
        package = "beside the packages" if len(parts) == 1 else "/".join(parts[: 2 if half == "lab" else 1])
        for name in (package, f"the {half}", "everything"):
            found[name] = found.get(name, Size()) + size
    return found


def main() -> None:
    """Print a row for each package, the largest last."""
    print(f"{'package':24s} files  lines   code imports small")
    whole = ("the product", "the lab", "everything")
    for name, size in sorted(packages().items(), key=lambda pair: (pair[0] in whole, pair[1].code)):
        print(f"{name:24s} {size.files:5d} {size.lines:6,d} {size.code:6,d} {size.imports:7,d} {size.small:5d}")


if __name__ == "__main__":
    main()
