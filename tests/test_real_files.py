# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The command that checks real files, on made-up ones; and the page it wrote for the real ones."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from gazeveil.gaze.formats.base import FORMATS
from tests.real_files import plain
from tests.real_files.__main__ import main
from tests.real_files.checking import check
from tests.real_files.sources import Source, collect, sources

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "real-files.md"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
FILES = {
    "gaze_positions.csv": "gaze_timestamp,confidence,norm_pos_x,norm_pos_y\n1.5,0.9,0.25,0.75\n1.6,0.1,0,0\n",
    "User 1_all_gaze.csv": "CNT,TIME(2026/01/01),BPOGX,BPOGY,BPOGV\n0,0.0,0.5,0.25,1\n1,0.02,0.5,0.25,0\n",
    "table.csv": "timestamp,x,y\n0,10,20\n0.01,11,\n0.02,12,22\n",
    "livedata.json": '{"ts":1000,"s":0,"gp":[0.5,0.25]}\n{"ts":2000,"s":1,"gp":[0.0,0.0]}\n',
    "headless.csv": "1,2,3\n4,5,6\n",
}
LIST = f"""\
[[repository]]
name = "ann/gaze"
commit = "{COMMIT}"
files = [
  {{ path = "gaze_positions.csv" }},
  {{ path = "User 1_all_gaze.csv" }},
  {{ path = "table.csv", screen = [100, 100] }},
  {{ path = "livedata.json" }},
  {{ path = "headless.csv" }},
]
"""


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    path = tmp_path / "list.toml"
    path.write_text(LIST)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "real" / f"ann+gaze@{COMMIT}"
    place.mkdir(parents=True)
    for name, text in FILES.items():
        (place / name).write_text(text)
    return place.parent


def test_files_are_read_compared_and_refused(
    folder: Path, listed: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    page = tmp_path / "page.md"
    assert main([str(folder), "--sources", str(listed), "--write", str(page)]) == 0
    said = capsys.readouterr().out
    assert "| tobii-glasses | 1 | 1 | 1 | 1 | 2 |" in said
    assert "| refused | 1 | 1 | 0 | 0 | 0 |" in said
    assert "| **all** | 1 | 5 | 4 | 4 | 9 |" in said
    assert "| ann/gaze: `headless.csv` | line 1: expected a header line" in page.read_text()
    assert f"| ann/gaze | {COMMIT[:12]} | 5 | 4 | 4 |" in page.read_text()
    assert str(tmp_path) not in page.read_text()


@pytest.mark.parametrize("name", [name for name in FILES if name != "headless.csv"])
def test_one_other_digit_in_the_plain_parse_is_noticed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    source = Source("ann/gaze", COMMIT, name, given={"screen": [100, 100]} if name == "table.csv" else {})
    outcome = check(source, folder)
    assert outcome is not None
    assert outcome.equal
    parse = plain.PLAIN[outcome.format]
    for column in range(3):

        def other(path: Path, given: object, column: int = column) -> list[tuple[float, ...]]:
            first, *rest = (list(row) for row in parse(path, {}))
            first[column] += 1e-6
            return [tuple(first), *(tuple(row) for row in rest)]

        monkeypatch.setitem(plain.PLAIN, outcome.format, other)
        changed = check(source, folder)
        assert changed is not None
        assert changed.equal is False
    monkeypatch.setitem(plain.PLAIN, outcome.format, lambda path, given: parse(path, {})[:-1])
    assert check(source, folder).equal is False  # type: ignore[union-attr]


def test_values_that_differ_end_the_command_with_1(
    folder: Path, listed: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(plain.PLAIN, "pupil-core", lambda path, given: [(0.0, 0.0, 0.0)])
    assert main([str(folder), "--sources", str(listed)]) == 1
    assert "gaze_positions.csv: values differ" in capsys.readouterr().out


def test_without_the_folder_there_is_nothing_to_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "absent")]) == 0
    assert "no real files to check" in capsys.readouterr().out


def test_the_page_is_not_written_from_half_the_files(
    folder: Path, listed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / f"ann+gaze@{COMMIT}" / "table.csv").unlink()
    assert main([str(folder), "--sources", str(listed), "--write", str(tmp_path / "page.md")]) == 2
    assert not (tmp_path / "page.md").exists()
    assert "not there: ann/gaze: table.csv" in capsys.readouterr().out


def test_outcomes_come_as_json(folder: Path, listed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(folder), "--sources", str(listed), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [each["format"] for each in told] == ["pupil-core", "gazepoint-csv", "csv", "tobii-glasses", ""]
    assert [each["tracked"] for each in told] == [1, 1, 2, 1, 0]


def test_files_are_copied_out_of_clones_at_their_commit(tmp_path: Path, listed: Path) -> None:
    clone = tmp_path / "clones" / "ann+gaze"
    clone.mkdir(parents=True)
    for name, text in FILES.items():
        (clone / name).write_text(text)
    (clone / "headless.csv").unlink()
    git = ["git", "-C", str(clone), "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "gaze"]):
        subprocess.run([*git, *words], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    (clone / "table.csv").write_text("changed later\n")
    listed.write_text(LIST.replace(COMMIT, commit))
    assert collect(clone.parent, tmp_path / "real", listed) == ["ann/gaze: headless.csv"]
    assert (tmp_path / "real" / f"ann+gaze@{commit}" / "table.csv").read_text() == FILES["table.csv"]


def test_the_list_is_large_and_names_no_file_twice() -> None:
    listed = list(sources())
    assert len({source.repository for source in listed}) >= 25
    assert len(listed) >= 60
    assert len({(source.repository, source.path) for source in listed}) == len(listed)
    assert all(re.fullmatch("[0-9a-f]{40}", source.commit) for source in listed)


def test_the_page_fits_the_list() -> None:
    text = PAGE.read_text()
    rows = {
        (name, commit): int(files)
        for name, commit, files in re.findall(r"^\| (\S+/\S+) \| (\w{12}) \| (\d+) \|", text, re.M)
    }
    wanted: dict[tuple[str, str], int] = {}
    for source in sources():
        key = (source.repository, source.commit[:12])
        wanted[key] = wanted.get(key, 0) + 1
    assert rows == wanted
    assert "## Values that differ" not in text
    [parsed, equal] = re.findall(r"^\| \*\*all\*\* \|.*?\|.*?\| ([\d,]+) \| ([\d,]+) \|", text, re.M)[0]
    assert parsed == equal


def test_plain_parsers_use_nothing_of_the_readers() -> None:
    for name in ("plain", "plain_others", "plain_words"):
        assert "gazeveil" not in Path(plain.__file__).with_name(f"{name}.py").read_text().split('"""', 2)[2]


def test_every_text_format_has_a_plain_parser() -> None:
    assert set(FORMATS.names()) - set(plain.PLAIN) <= {"parquet", "sr-report"}
