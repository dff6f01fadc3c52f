# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The tutorials: notebooks that are run, with what they showed kept in them.

``make notebooks`` runs ``docs/tutorials/*.ipynb`` from top to bottom, each in an empty folder, and writes down what
their cells print and show. Cells are plain Python, so no kernel is needed: any notebook program can open them.
The outputs are small enough for the documentation, which shows them (``benchmarks/notebook_pages.py``).
"""

from __future__ import annotations

import ast
import base64
import contextlib
import hashlib
import io
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TUTORIALS = Path(__file__).parents[1] / "docs" / "tutorials"
MADE_BY = "code_sha256"
"""Where a notebook says which code its outputs are of."""


def notebooks() -> list[Path]:
    """Return all tutorials."""
    return sorted(TUTORIALS.glob("*.ipynb"))


def load(path: Path) -> dict[str, Any]:
    """Read a notebook."""
    loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return loaded


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the cells with code, in order."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def source(cell: dict[str, Any]) -> str:
    """Return the text of a cell."""
    return "".join(cell["source"])


def digest(notebook: dict[str, Any]) -> str:
    """Return the SHA-256 of all code of a notebook."""
    return hashlib.sha256("\n".join(map(source, code_cells(notebook))).encode()).hexdigest()


def outputs(notebook: dict[str, Any]) -> Iterator[list[dict[str, Any]]]:
    """Run all code cells in the current folder, one after the other; yield what each of them shows."""
    namespace: dict[str, Any] = {"__name__": "__notebook__"}
    for number, cell in enumerate(code_cells(notebook), start=1):
        tree = ast.parse(source(cell), f"cell {number}")
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        printed, value = io.StringIO(), None
        with contextlib.redirect_stdout(printed):
            exec(compile(tree, f"cell {number}", "exec"), namespace)
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), namespace)
        yield [*_stream(printed.getvalue()), *_shown(value, number)]


def _stream(text: str) -> list[dict[str, Any]]:
    return [{"output_type": "stream", "name": "stdout", "text": text.splitlines(keepends=True)}] if text else []


def _shown(value: Any, number: int) -> list[dict[str, Any]]:
    """Return a value as a notebook shows it: as a picture or a table where it can, else as text."""
    if value is None:
        return []
    data: dict[str, Any] = {"text/plain": repr(value).splitlines(keepends=True)}
    if hasattr(value, "_repr_png_"):
        data["image/png"] = base64.b64encode(value._repr_png_()).decode()
    elif hasattr(value, "_repr_html_"):
        data["text/html"] = value._repr_html_().splitlines(keepends=True)
    return [{"output_type": "execute_result", "execution_count": number, "metadata": {}, "data": data}]


def renew(path: Path) -> None:
    """Run a notebook in an empty folder and keep what its cells show."""
    notebook = load(path)
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            shown = list(outputs(notebook))
        finally:
            os.chdir(before)
    for number, (cell, made) in enumerate(zip(code_cells(notebook), shown, strict=True), start=1):
        cell["outputs"] = made
        cell["execution_count"] = number
    notebook["metadata"]["gazeveil"] = {MADE_BY: digest(notebook)}
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main(names: list[str]) -> None:
    for path in notebooks():
        if not names or path.stem in names:
            renew(path)
            print(f"{path.name}: {path.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
