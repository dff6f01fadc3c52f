# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Users read the field's words: no text that a user sees holds a word of the table below.

Looked at are the string literals of the package with at least two words (help, messages, hints, reports), docstrings of
public names, the pages (HTML and JavaScript), README and docs. Code in backticks, blocks of code, addresses and names
of parameters are left out. Decisions and proofs are for those who work on gazeveil, and may speak as they were written.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "gazeveil"

WRITE = {
    r"promis(e|es|ed|ing)\b": "guarantee",
    r"(?<!where )(?<!other )(?<!most )(?<!many )(?<!about )(?<!between )(?<!that )people(?! in general| look)\b": (
        "participants"
    ),
    r"(?<!technical )persons?(?! or institution)\b": "participant",
    r"(somebody|anybody|everybody)\b": "someone, anyone, everyone; better: a participant, all participants",
    r"knobs?\b": "privacy level",
    r"peers?\b": "baseline, other tool",
    r"(?<!viewing )(?<!viewing\n)planes?\b": "screen geometry, viewing plane",
    r"chances? of failure\b": "δ",
    r"drawn anew\b": "resampled",
    r"so many(?! that)\b": "N, this many",
    r"(is|are|was|were) told\b(?! (apart|to|that|of|what|why|when|each|nothing|another|the|as|on|from|by|right))": (
        "is reported, shown, given"
    ),
    r"(is|are|was|were) named (right|by an?|behind|under)\b": "is identified",
    r"who is named\b": "who is identified",
    r"(independent|their|two|few|many) looks\b": "fixations",
    r"(published and|published or|the|is|and) sound( noise| form)?\b": "corrected, valid or proven",
    r"(noise|samples|gaze|votes) a head\b": "per participant",
    r"the first recipe\b": "(leave out: history)",
    r"hold (it|that|this) for .{0,20}likely\b": "be … sure",
}
"""What is not written, and what to write instead."""

VEIL = {r"(?<!gazeveil )(?<!experiment )(a|the|this|that|each|every|no|behind|which|of) veils?\b": "mechanism"}
NOT_OF_STREAMS = ("aggregate", "lab/attacks", "lab/experiments", "features", "lab/utility", "privacy")
"""Packages in which nothing is a veil: the word is for one live stream behind a mechanism, in samples and gateway."""

EXCEPT = {
    "gateway": {"peer": "the other end of a connection"},
    "lab/experiments/demo/veils.py": {"a veil": "explained there"},
    "lab/experiments/advising/measured.py": {"no veil": "a value of tables that are in use"},
    "lab/commands/experiment.py": {"peers": "the name of a command"},
    "lab/userstudy/forms.py": {"people": "a questionnaire's published wording", "person": "the same"},
    "privacy/ledger": {"person": "a column of databases that are in use"},
    "engines/spark_stream.py": {"person": "a column of streams"},
    "privacy/participant_statement.py": {"people": "the everyday word, for those who took part", "person": "German"},
    "gateway/protocols/neon.py": {"people": "bystanders"},
}
"""Where a word is written all the same, and why."""

EXCEPT_DOCS = {
    "docs/reference/picture-model.md": {"people": "those who are seen in photographs"},
    "docs/performance.md": {"peer": "a word of stored measurements, which the pages are made of", "peers": "the same",
                          "person": "the same", "people": "the same"},
}  # fmt: skip


_CODE = re.compile(r"``[^`]*``|`[^`]*`|https?://\S+|--[a-z-]+|\b\w*_\w*\b|\b[\w.]+\(|[\"'][\w-]+[\"']")
_FIELD = re.compile(r"^[ ]+\**[\w, *]+(?: \([^)]*\))?:(?= )", re.M)


def literals(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the texts of a module that users may read, with their lines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    hidden: set[int] = set()
    for node in ast.walk(tree):  # what holds a docstring comes before it
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str) and " " in node.value.strip() and id(node) not in hidden:
                yield node.lineno, node.value
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name.startswith("_"):
            first = node.body[0]
            if isinstance(first, ast.Expr):
                hidden.add(id(first.value))


def page_texts(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the texts of a page: of HTML what is no tag, of JavaScript literals with a space."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        yield 1, re.sub(r"<(script|style).*?</\1>|<!--.*?-->|<[^>]*>", " ", text, flags=re.S)
        return
    text = re.sub(r"/\*.*?\*/|(?<![:'\"])//[^\n]*", "", text, flags=re.S)
    for found in re.finditer(r"\"([^\"\n]*)\"|`([^`\n]*)`", text):
        literal = "".join(filter(None, found.groups()))
        if " " in literal:
            yield text.count("\n", 0, found.start()) + 1, re.sub(r"\$\{[^}]*\}", "", literal)


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the paragraphs of a Markdown page without code and addresses."""
    text = re.sub(r"^( *)(```|~~~).*?^\1\2", "", path.read_text(encoding="utf-8"), flags=re.S | re.M)
    text = re.sub(r"<!--.*?-->|\]\([^)]*\)|<[^>]*>", " ", text, flags=re.S)
    yield from ((0, part) for part in text.split("\n\n"))


def found_in(texts: Iterator[tuple[int, str]], table: dict[str, str], allowed: set[str]) -> list[str]:
    """Return every word of the table that texts hold, with what to write."""
    any_word = re.compile("|".join(rf"\b{pattern}" for pattern in table), re.I)
    return [
        f"{line}: {found[0]!r} in {text[max(0, found.start() - 40) : found.end() + 30]!r}; write {instead}"
        for line, whole in texts
        if any_word.search(whole)
        for text in (_CODE.sub("", _FIELD.sub("", whole)),)
        for pattern, instead in table.items()
        for found in re.finditer(rf"\b{pattern}", text, re.I)
        if found[0].lower().removesuffix("s") not in allowed and found[0].lower() not in allowed
    ]


def allowed_in(name: str, table: dict[str, dict[str, str]] = EXCEPT) -> set[str]:
    """Return the words that may be written in a file."""
    return {word for where, words in table.items() if name.startswith(where) for word in words}


def part_of(path: Path) -> str:
    """Return the package of a module; of the lab its parts."""
    parts = path.relative_to(SOURCE).parts
    return "/".join(parts[: 2 if parts[0] == "lab" else 1])


MODULES = sorted({part_of(path) for path in SOURCE.rglob("*.py")})


@pytest.mark.parametrize("part", MODULES)
def test_texts_of_the_package_hold_the_fields_words(part: str) -> None:
    paths = sorted((SOURCE / part).rglob("*.py")) if (SOURCE / part).is_dir() else [SOURCE / part]
    table = WRITE | (VEIL if part in NOT_OF_STREAMS else {})
    found = {
        name: words
        for path in paths
        if (words := found_in(literals(path), table, allowed_in(name := path.relative_to(SOURCE).as_posix())))
    }
    assert found == {}


def test_pages_hold_the_fields_words() -> None:
    paths = [path for path in sorted(SOURCE.rglob("*")) if path.suffix in (".js", ".html")]
    found = {path.name: words for path in paths if (words := found_in(page_texts(path), WRITE, set()))}
    assert found == {}


def documents() -> list[Path]:
    apart = (ROOT / "docs" / "decisions", ROOT / "docs" / "proofs")
    pages = sorted((ROOT / "docs").rglob("*.md"))
    return [ROOT / "README.md", *(page for page in pages if not any(page.is_relative_to(each) for each in apart))]


def test_docs_hold_the_fields_words() -> None:
    found = {
        name: words
        for page in documents()
        if (words := found_in(prose(page), WRITE, allowed_in(name := page.relative_to(ROOT).as_posix(), EXCEPT_DOCS)))
    }
    assert found == {}


_TWICE = re.compile(r"(?<![\w.=/-])([a-z]{2,})\s+\1(?![\w.=/-]*[\w=/])", re.I)
"""A word and the same word again, at the end of a line too."""


def doubled(texts: Iterable[tuple[int, str]]) -> list[str]:
    """Return every word that stands twice in a row, with its line; SQL's capitals may."""
    plain = ((line, _CODE.sub("…", text)) for line, text in texts)
    return [
        f"{line}: {found[0]!r}" for line, text in plain for found in _TWICE.finditer(text) if not found[0].isupper()
    ]


def strings(path: Path) -> Iterator[tuple[int, str]]:
    """Yield all texts of a module, those of private names too; parts of one that stand on several lines are one."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, node.value


def test_no_word_stands_twice_in_a_row() -> None:
    modules, pages = sorted(SOURCE.rglob("*.py")), [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    found = {path: words for path in modules if (words := doubled(strings(path)))}
    found |= {path: words for path in pages if (words := doubled(prose(path)))}
    assert found == {}


_SECTION = re.compile(r"^(?:Args|Attributes|Raises):\n((?:    .*\n|\n)*)", re.M)
_ENTRY = re.compile(r"\**[\w.`]+(?: \(.*\))?(?:, \**[\w.]+)*:")


def broken_entries(path: Path) -> list[str]:
    """Return the lines of lists in docstrings that are no entry and do not go on with one."""
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    docstrings = [ast.get_docstring(node) for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, kinds)]
    lines = [
        line[4:]
        for text in docstrings
        for section in _SECTION.findall((text or "") + "\n")
        for line in section.splitlines()
    ]
    return [line for line in lines if line and not line.startswith("    ") and not _ENTRY.match(line)]


def test_what_docstrings_list_is_an_entry_a_line_and_what_goes_on_with_it_is_indented() -> None:
    found = {path: lines for path in sorted(SOURCE.rglob("*.py")) if (lines := broken_entries(path))}
    assert found == {}


def test_a_doubled_word_and_a_broken_list_are_found(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        'def f():\n    """The the.\n\n    Raises:\n        InputError: If it is\n        wrong.\n    """\n'
        'TOLD = (\n    "shares of the viewing "\n    "viewing plane, --study study.toml `a b` b"\n)\n'
    )
    assert doubled(strings(module)) == ["9: 'viewing viewing'", "2: 'The the'"]
    assert broken_entries(module) == ["wrong."]


def test_a_word_of_the_table_is_found(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text('"""A promise to somebody."""\nraise ValueError(f"turn the knob of {1} `people`")\n')
    assert len(found_in(literals(module), WRITE, set())) == 3
    page = tmp_path / "page.md"
    page.write_text("A peer.\n\n```\npromise\n```\n\nIt is `people` on the viewing plane.\n")
    assert len(found_in(prose(page), WRITE, set())) == 1
    script = tmp_path / "page.js"
    script.write_text('// a promise\nconst text = "turn the knob";\n')
    assert len(found_in(page_texts(script), WRITE, set())) == 1
