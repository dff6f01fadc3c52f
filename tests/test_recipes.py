# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The reader who follows the documentation notices when a recipe does not work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.recipes import Reader, blocks, recipes

Follow = Callable[[str], None]
FENCE = "```"


@pytest.fixture
def follow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Follow:
    monkeypatch.chdir(tmp_path)

    def follow(text: str) -> None:
        page = tmp_path / "page.md"
        page.write_text(text.replace("~~~", FENCE), encoding="utf-8")
        reader = Reader(capfd)
        with reader.ends:
            for block in blocks(page):
                reader.follow(block)

    return follow


def test_commands_files_and_python_share_one_folder(follow: Follow, tmp_path: Path) -> None:
    follow(
        '~~~toml title="a.toml"\nversion = 1\n~~~\n\n~~~bash\ncp a.toml b.toml  # a copy\n'
        "cat > c.toml <<EOF\n# not a comment of the recipe\nEOF\n~~~\n\n"
        "~~~python\nfrom pathlib import Path\n\nassert Path('b.toml').read_text() == 'version = 1\\n'\n~~~\n"
    )
    assert (tmp_path / "c.toml").read_text() == "# not a comment of the recipe\n"


def test_a_command_that_fails_is_noticed(follow: Follow) -> None:
    with pytest.raises(AssertionError, match="ended with 3"):
        follow("~~~console\n$ gazeveil info nothing.csv\n~~~\n")


def test_a_command_that_should_fail_and_does_is_fine(follow: Follow) -> None:
    follow("<!-- exit 3 -->\n~~~console\n$ gazeveil info nothing.csv\nerror: there is no file …\n$ echo $?\n3\n~~~\n")


def test_a_command_that_should_fail_and_does_not_is_noticed(follow: Follow) -> None:
    with pytest.raises(AssertionError, match="ended with 0"):
        follow("<!-- exit 3 -->\n~~~console\n$ gazeveil lab audit --list\n~~~\n")


def test_output_that_is_not_printed_is_noticed(follow: Follow) -> None:
    with pytest.raises(AssertionError, match="prints no"):
        follow("~~~console\n$ echo one\ntwo\n~~~\n")


def test_a_program_that_no_test_runs_is_noticed(follow: Follow) -> None:
    with pytest.raises(AssertionError, match="nothing runs"):
        follow("~~~bash\nsudo true\n~~~\n")


def test_options_of_commands_that_are_not_run_are_read(follow: Follow) -> None:
    follow("<!-- not run: takes hours -->\n~~~bash\ngazeveil lab audit radial --trials 1000000000\n~~~\n")
    with pytest.raises(AssertionError, match="No such option"):
        follow("<!-- not run: takes hours -->\n~~~bash\ngazeveil lab audit radial --tribulations 3\n~~~\n")


def test_modules_and_targets_of_commands_that_are_not_run_exist(follow: Follow) -> None:
    follow("<!-- not run: takes hours -->\n~~~bash\nmake bench\npython -m gazeveil\n~~~\n")
    with pytest.raises(AssertionError, match="make nothing"):
        follow("<!-- not run: takes hours -->\n~~~bash\nmake nothing\n~~~\n")
    with pytest.raises(AssertionError, match="no_such_module"):
        follow("<!-- not run: takes hours -->\n~~~bash\npython -m no_such_module\n~~~\n")


def test_a_misspelt_mark_is_noticed(follow: Follow) -> None:
    with pytest.raises(AssertionError, match="no mark of a block"):
        follow("<!-- not runn: needs root -->\n~~~bash\necho\n~~~\n")


def test_smaller_options_come_last_and_count(follow: Follow) -> None:
    command = "gazeveil lab audit radial --trials 1000000000 --seed 1 --workers 1"
    follow(f"<!-- run smaller: --trials 2000 -->\n~~~console\n$ {command}\n…2,000…\n~~~\n")


def test_a_block_in_a_tab_is_run_without_its_indent_and_a_new_folder_begins_a_recipe(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        '=== "Shell"\n\n    ```bash\n    echo one\n    ```\n\n=== "Python"\n\n'
        "    <!-- new folder -->\n    ```python\n    if True:\n        pass\n    ```\n"
    )
    shell, python = recipes(page)
    assert [step.command for block in shell for step in block.steps] == ["echo one"]
    assert [block.code for block in python] == ["if True:\n    pass\n"]


def test_an_edge_of_what_a_program_writes_is_no_mark(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- a-table 1: end -->\n\n<!-- exit 3 -->\n```bash\ntrue\n```\n")
    assert [block.marks for block in blocks(page)] == [{"exit": "3"}]
