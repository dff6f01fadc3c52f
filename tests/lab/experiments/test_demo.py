# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The demo as `make demo` runs it, only smaller, and its report in a real browser where there is one."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gazeveil import Corpus
from gazeveil.arrays import FloatArray
from gazeveil.cli.main import run
from gazeveil.lab import demo as features
from gazeveil.lab.demo import SCREENSHOT

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("demo") / "demo"
    arguments = ["demo", "--out", str(out), "--stimuli", "2", "--json"]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert run([*arguments, "--participants", "2", "--sessions", "1"]) == 0
        assert run([*arguments, "--participants", "3"]) == 0, "a second run replaces the first"
    (out.parent / "told.txt").write_text(printed.getvalue())
    return out


def documents(text: str) -> list[dict[str, Any]]:
    """Return the JSON documents that were printed one after the other."""
    found, at = [], 0
    while text[at:].strip():
        document, at = json.JSONDecoder().raw_decode(text, at)
        found.append(document)
        at += len(text[at:]) - len(text[at:].lstrip())
    return found


class Checker(HTMLParser):
    """Counts tags and notes those left open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.counts: dict[str, int] = {}
        self.sources: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.counts[tag] = self.counts.get(tag, 0) + 1
        self.sources += [value or "" for name, value in attrs if name in {"src", "href"}]
        if tag not in {"meta", "img", "link", "br"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_report_is_one_whole_page_with_its_pictures_inside(demo: Path) -> None:
    checker = Checker()
    checker.feed((demo / "report.html").read_text())
    assert checker.open == []
    assert checker.counts["img"] == 2 + 2 + 1 + 2 + 4 + 1 + 1 + SCREENSHOT.is_file()
    assert "gazeveil serve --demo" in (demo / "report.html").read_text()
    assert all(source.startswith(("data:image/png;base64,", "#")) for source in checker.sources)


def test_the_corpus_of_the_demo_can_be_opened(demo: Path) -> None:
    corpus = Corpus.open(demo / "study")
    assert len(corpus) == 3 * 2 * 2
    assert corpus.observers == ["p001", "p002", "p003"]


def test_the_demo_tells_programs_what_it_did(demo: Path) -> None:
    first, second = documents((demo.parent / "told.txt").read_text())
    assert (first["recordings"], second["recordings"]) == (2 * 2, 3 * 2 * 2)
    assert second["kappa"] > 0.4
    assert Path(second["report"]) == demo / "report.html"


def test_the_demo_says_that_raw_gaze_guarantees_nothing(demo: Path) -> None:
    text = re.sub(r"<[^>]+>", " ", (demo / "report.html").read_text())
    assert "They guarantee nothing" in text


def test_the_demo_begins_with_a_private_heatmap_beside_the_raw_one(demo: Path) -> None:
    captions = re.findall(r"<figcaption>([^<]*)", (demo / "report.html").read_text())
    assert captions[0].startswith("Raw gaze of 3 participants")
    assert "of this map comes from the data" in captions[1]


def test_the_demo_shows_a_feature_as_it_is_and_as_released_with_its_guarantee(demo: Path) -> None:
    text = re.sub(r"<[^>]+>", " ", (demo / "report.html").read_text())
    assert "A class of 3 reads a textbook" in text
    assert "Saccades that go right: the class and what is released" in text


def test_the_feature_of_the_demo_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    """The raw share falls by over 0.1 with the comic and comes back; that is what the released one is to show."""
    seen: list[FloatArray] = []

    def drawn(truth: FloatArray, *_: object) -> bytes:
        seen.append(truth)
        return b""

    monkeypatch.setattr(features, "_drawn_feature", drawn)
    features.feature_section(4)
    textbook, comic, again = (part.mean() for part in np.array_split(seen[0], 3))
    assert textbook - comic > 0.1
    assert again - comic > 0.1


def test_the_demo_shows_a_stream_before_and_after_with_both_guarantees(demo: Path) -> None:
    text = re.sub(r"<[^>]+>", " ", (demo / "report.html").read_text())
    assert "A private live stream" in text
    assert re.search(r"The privacy statement of lphu\s+What is protected", text)
    assert re.search(r"The privacy statement of hplu\s+What is protected", text)
    assert "any 0.5 seconds" in text
    assert "any 2 seconds" in text


@pytest.mark.skipif(BROWSER is None, reason="no browser on this machine")
def test_a_browser_shows_the_report(demo: Path, tmp_path: Path) -> None:
    shot = tmp_path / "report.png"
    command = [str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
    command += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    command += [f"--user-data-dir={tmp_path / 'profile'}", "--window-size=1000,1400", f"--screenshot={shot}"]
    page = (demo / "report.html").as_uri()
    subprocess.run([*command, page], check=True, capture_output=True, timeout=60)
    assert shot.read_bytes().startswith(b"\x89PNG")
    dumped = subprocess.run([*command[:-1], "--dump-dom", page], check=True, capture_output=True, text=True, timeout=60)
    assert "A simulated study, with differential privacy" in dumped.stdout
