# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The fenced blocks of the documentation, and a reader who follows a page from top to bottom in an empty folder.

The marks that a block may carry are explained in CONTRIBUTING.md.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path

import pytest

from gazeveil.cli.main import run
from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])

BLOCK = re.compile(r"^((?: *<!-- [^\n]* -->\n\n?)*)( *)```(\w*)([^\n]*)\n(.*?)^\2```", re.MULTILINE | re.DOTALL)
MARK = re.compile(r"<!-- (?:(not run): (.+)|(run smaller): (.+)|(exit) (\d+)|(new) (folder)) -->")
STRETCH = re.compile(r"<!-- [\w -]+: (?:begin|end) -->|<!-- end of \w+ -->")
"""An edge of what a program writes into a page."""
TITLE = re.compile(r'title="([\w.-]+)"')
HERE_DOCUMENT = re.compile(r"<<\s*'?(\w+)'?")
SHELL_SYNTAX = re.compile(r"[|<>$*;&`]")
QUOTED = re.compile(r"""'[^']*'|"[^"]*\"""")
LISTENS = re.compile(r"(?<=127\.0\.0\.1:)\d+")

PROGRAMS = ("cat", "cp", "curl", "echo", "head", "ls", "mkdir", "mv", "openssl", "python3", "sha256sum")
"""What a recipe may use beside gazeveil itself. A block with anything else is marked as not run."""
READERS_GAZEVEIL = f'gazeveil() {{ "{sys.executable}" -m gazeveil "$@"; }}\n'


@dataclass(frozen=True)
class Step:
    """One command, and what the page shows that it prints."""

    command: str
    shown: str = ""


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    code: str
    title: str = ""
    marks: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{named(self.page)}:{self.line}"

    @property
    def steps(self) -> list[Step]:
        """The commands of a bash or console block."""
        lines, found = self.code.splitlines(), list[Step]()
        prompt = "$ " if self.language == "console" else ""
        while lines:
            line = lines.pop(0)
            if not line.strip() or line.startswith("#"):
                continue
            assert line.startswith(prompt), f"{self}: a console block begins with a command: `$ …`"
            command = line.removeprefix(prompt)
            while command.endswith("\\"):
                command = command[:-1] + lines.pop(0)
            if ends := HERE_DOCUMENT.search(command):
                text = list(takewhile(lambda line: line != ends[1], lines))
                command = "\n".join([command, *text, ends[1]])
                del lines[: len(text) + 1]
            shown = list(takewhile(lambda line: not line.startswith(prompt), lines)) if prompt else []
            del lines[: len(shown)]
            found.append(Step(command, "\n".join(shown)))
        return found


def named(page: Path) -> str:
    """Return the page's path from the root of the repository."""
    return str(page.relative_to(ROOT)) if page.is_relative_to(ROOT) else page.name


def blocks(page: Path) -> list[Block]:
    """Return all fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return [_block(page, text, found) for found in BLOCK.finditer(text)]


def recipes(page: Path) -> list[list[Block]]:
    """Return the blocks of a page by recipes: a new one begins where a mark asks for a new folder."""
    found: list[list[Block]] = []
    for block in blocks(page):
        if not found or "new" in block.marks:
            found.append([])
        found[-1].append(block)
    return found


def _block(page: Path, text: str, found: re.Match[str]) -> Block:
    comments, indent, language, info, code = found.groups()
    line = text.count("\n", 0, found.start(3)) + 1
    marks = dict[str, str]()
    for comment in map(str.strip, comments.split("\n")):
        if comment and not STRETCH.fullmatch(comment):
            mark = MARK.fullmatch(comment)
            assert mark, f"{named(page)}:{line}: no mark of a block is written like this: {comment}"
            name, value = (group for group in mark.groups() if group)
            marks[name] = value
    title = TITLE.search(info)
    code = re.sub(rf"^{indent}", "", code, flags=re.MULTILINE)  # a block in a tab
    return Block(page, line, language, code, title[1] if title else "", marks)


class Reader:
    """Somebody who does what a page says, in the current folder. Gateways that they start end with them."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self.capture = capture
        self.namespace: dict[str, object] = {"__name__": "__docs__"}
        self.code = 0
        self.ports: dict[str, str] = {}
        self.ends = contextlib.ExitStack()

    def follow(self, block: Block) -> None:
        """Run a block, or write it to the file that it is said to be."""
        if block.title:
            Path(block.title).write_text(block.code, encoding="utf-8")
        elif "not run" in block.marks:
            for step in block.steps if block.language in ("bash", "console") else ():
                self.understand(step.command, block)
        elif block.language == "python":
            exec(compile(block.code, str(block), "exec", dont_inherit=True), self.namespace)
        elif block.language in ("bash", "console"):
            self.work_through(block)

    def work_through(self, block: Block) -> None:
        """Run the commands of a block. Its last call of gazeveil ends with the code that the mark says."""
        steps = block.steps
        ours = [step for step in steps if step.command.startswith("gazeveil ")]
        for step in steps:
            expected = int(block.marks.get("exit", 0)) if ours and step is ours[-1] else 0
            command = step.command
            if step in ours:
                command = f"{command} {block.marks.get('run smaller', '')}"
            self.capture.readouterr()
            self.code, printed = self.do(command, block)
            assert self.code == expected, f"{block}: {command}\nended with {self.code}:\n{printed}"
            missing = [words for words in pieces(step.shown) if words not in " ".join(printed.split())]
            assert not missing, f"{block}: {command}\nprints no {missing}, but:\n{printed}"

    def do(self, command: str, block: Block) -> tuple[int, str]:
        """Run one command, and return its exit code and what it printed."""
        program = command.split(maxsplit=1)[0]
        if command.startswith("gazeveil serve "):
            return 0, self.readable(self.serve(shlex.split(command, comments=True)[1:]))
        if program == "gazeveil" and not SHELL_SYNTAX.search(QUOTED.sub("", command.partition("#")[0])):
            words = shlex.split(command, comments=True)[1:]
            code = run(words)
            if words[-3:-1] == ["policy", "example"]:
                self.move_to_free_ports(Path(words[-1]))
            return code, self.readable("".join(self.capture.readouterr()))
        assert program == "gazeveil" or program in PROGRAMS, f"{block}: nothing runs `{command}`; see CONTRIBUTING.md"
        if program != "gazeveil" and not shutil.which(program):
            pytest.skip(f"{program} is not installed, and the rest of the page may need what it makes")
        command = LISTENS.sub(lambda port: self.ports.get(port[0], port[0]), command)
        script = f"{READERS_GAZEVEIL}(exit {self.code})\n{command}"
        done = subprocess.run(["bash", "-c", script], check=False, capture_output=True, text=True)
        return done.returncode, self.readable(done.stdout + done.stderr)

    def understand(self, command: str, block: Block) -> None:
        """Check of a command that is not run that it could be: its options, or its module or target, exist."""
        program, *words = shlex.split(command, comments=True)
        if program == "gazeveil":
            assert run([*words, "--help"]) == 0, f"{block}: {command}\n{self.capture.readouterr().err}"
        elif program == "make":
            assert f"\n{words[0]}:" in (ROOT / "Makefile").read_text(), f"{block}: {command}"
        elif program == "python" and words[0] == "-m":
            assert importlib.util.find_spec(words[1]), f"{block}: {command}"

    def move_to_free_ports(self, policy: Path) -> None:
        """Let the apps of a policy listen where nobody else does: another gateway may run on this machine."""
        text = policy.read_text(encoding="utf-8")
        self.ports |= {port: str(free_port()) for port in LISTENS.findall(text)}
        policy.write_text(LISTENS.sub(lambda port: self.ports[port[0]], text), encoding="utf-8")

    def readable(self, printed: str) -> str:
        """Return what was printed with the ports that the page speaks of."""
        pages_own = {free: port for port, free in self.ports.items()}
        return LISTENS.sub(lambda port: pages_own.get(port[0], port[0]), printed)

    def serve(self, words: list[str]) -> str:
        """Start a gateway that runs until the page ends; return what it prints until it has started."""
        words = [*words, "--no-open"] if "--demo" in words else words
        gateway = subprocess.Popen(
            [sys.executable, "-m", "gazeveil", *words],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
        self.ends.callback(end, gateway)
        assert gateway.stdout
        said = list[str]()
        for line in gateway.stdout:
            said.append(line)
            if '"gateway started"' in line or "works once" in line:  # the log, or the demo's link
                return "".join(said)
        pytest.fail(f"the gateway did not start:\n{''.join(said)}")


def end(gateway: subprocess.Popen[str]) -> None:
    """Stop a gateway as systemd does, and see that it ends well."""
    gateway.terminate()
    rest, _ = gateway.communicate(timeout=30)
    assert gateway.returncode == 0, rest


def pieces(shown: str) -> Iterator[str]:
    """Return what of the shown output must be printed: lines, without what `…` stands for."""
    for line in shown.splitlines():
        for piece in line.split("…"):
            if words := " ".join(piece.split()):
                yield words
