# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Pages of the documentation from notebooks: a hook of mkdocs (``hooks`` in mkdocs.yml) that needs nothing else.

Text stays text, code becomes a block of Python, and what a cell showed follows: printed lines, tables, pictures.
"""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

_WIDTH = 78


class NotebookFile(File):
    """A notebook that is a page."""

    def is_documentation_page(self) -> bool:
        """Whether it is a page: it is, although its name does not end in .md."""
        return True


def on_files(files: Files, config: MkDocsConfig, **_: Any) -> Files:
    """Let every notebook be a page."""
    for file in [file for file in files if file.src_uri.endswith(".ipynb")]:
        path = Path(config.docs_dir) / file.src_uri
        made = NotebookFile(file.src_uri, config.docs_dir, config.site_dir, config.use_directory_urls)
        made.content_string = page(json.loads(path.read_text(encoding="utf-8")), path.name)
        files.remove(file)
        files.append(made)
    return files


def page(notebook: dict[str, Any], name: str) -> str:
    """Return a notebook as Markdown."""
    parts = [_cell(cell) for cell in notebook["cells"]]
    parts.append(f"*This page is the notebook `docs/tutorials/{name}`: open it and run it again.*")
    return "\n\n".join(parts) + "\n"


def _cell(cell: dict[str, Any]) -> str:
    text = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return text
    return "\n\n".join([f"```python\n{text}\n```", *map(_output, cell["outputs"])])


def _output(output: dict[str, Any]) -> str:
    if output["output_type"] == "stream":
        return _as_text("".join(output["text"]))
    data = output["data"]
    if "image/png" in data:
        return f'<img alt="what the cell above draws" src="data:image/png;base64,{data["image/png"]}">'
    if "text/html" in data:
        return "".join(data["text/html"])
    return _as_text("".join(data["text/plain"]))


def _as_text(text: str) -> str:
    """Return printed lines; long ones go on below, so that nobody has to scroll to the right."""
    lines = [piece for line in text.rstrip().splitlines() for piece in textwrap.wrap(line, _WIDTH) or [""]]
    return "\n".join(["```text", *lines, "```"])
