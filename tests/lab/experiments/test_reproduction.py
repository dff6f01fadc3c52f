# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""All figures in one run: what a verdict follows from, that a failure stays alone, and what the page says."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gazeveil.cli.main import run
from gazeveil.errors import UnknownName
from gazeveil.geometry import headset
from gazeveil.lab.datasets import PIXELS_PER_DEGREE, VrSession
from gazeveil.lab.experiments.named_mechanisms import InPixels, veil_or_published
from gazeveil.lab.reproduction import all_papers, liu_claims
from gazeveil.lab.reproduction.all_papers import run as run_parts
from gazeveil.lab.reproduction.finding import Check, Finding, Verdict, counted, judged
from gazeveil.lab.reproduction.kaleido_claims import around
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import Unproven
from gazeveil.terminal.printing import EXIT_INPUT, EXIT_OK
from tests.lab.experiments.small_jobs import AGREES, BAD, DIFFERS, DYING, GOOD, OPEN, good

ASKED = {
    *(f"liu-{n}" for n in (2, 3)),
    *(f"bozkir-{n}" for n in (1, 2, 3, 4)),
    "wilson-2",
    *(f"wilson-table-{n}" for n in (2, 3, 5)),
    *(f"kaleido-{n}" for n in range(9, 16)),
    "kaleido-table-1",
}


def test_every_figure_and_table_that_was_asked_for_is_measured_once() -> None:
    measured_names = [name for part in all_papers.PARTS for name in part.figures]
    assert sorted(measured_names) == sorted(all_papers.ORDER) == sorted(ASKED)
    assert [set(part.figures) for part in all_papers.chosen(["kaleido-11"])] == [{"kaleido-10", "kaleido-11"}]
    with pytest.raises(UnknownName, match="figure or table"):
        all_papers.chosen(["liu-9"])


@pytest.mark.parametrize(
    ("checks", "verdict"),
    [
        ((AGREES, OPEN), Verdict.AGREES),
        ((AGREES, DIFFERS, OPEN), Verdict.DIFFERS),
        ((OPEN,), Verdict.NOT_COMPARABLE),
    ],
)
def test_one_statement_that_differs_makes_the_figure_differ(checks: tuple[Check, ...], verdict: Verdict) -> None:
    assert Finding("x", "us", "Figure", "none", checks).verdict is verdict


@pytest.mark.parametrize(
    ("right", "verdict"), [(9, "agrees"), (8, "not comparable"), (5, "not comparable"), (4, "differs")]
)
def test_a_trend_needs_nine_of_ten_pairs_and_differs_below_half(right: int, verdict: str) -> None:
    assert counted("it rises", right, 10).verdict == verdict


def test_a_measurement_that_fails_or_dies_is_marked_and_the_rest_goes_on() -> None:
    found = {one.name: one for one in run_parts([DYING, BAD, GOOD], None, workers=2)}
    assert list(found) == ["dying", "bad", "bad too", "good"]
    assert found["good"].verdict is Verdict.AGREES
    assert found["good"].wall_s >= 0
    assert {found[name].error for name in ("bad", "bad too")} == {"InputError: no such data"}
    assert found["dying"].error.startswith("its process died (exit code 9)")
    assert all_papers.index_row(found["dying"])[-1].startswith("failed: its process died")


def test_a_mistake_of_ours_says_where_it_is() -> None:
    def wrong(data: Path | None, *, quick: bool) -> list[Finding]:
        raise ZeroDivisionError("oops")

    (found,) = run_parts([replace(GOOD, job=wrong)], None, workers=0)
    assert "ZeroDivisionError: oops (test_reproduction.py, line" in found.error


def test_the_page_is_one_file_with_a_row_and_a_section_for_every_figure() -> None:
    shown = [*good(None, quick=True), Finding("b", "us", "Figure 2", "none", (DIFFERS,)),
             Finding("c", "us", "Figure 3", "none", (), error="<lost>")]  # fmt: skip
    about = {"software": "x", "wall_s": 1.0, "cpu_s": 2.0, "workers": 2, "quick": True}
    html = all_papers.to_html(shown, about)
    assert html.count("<section") == 4
    assert 'href="#s2"' in html
    assert 'src="data:image/png;base64' in html
    assert "http" not in html
    assert "&lt;lost&gt;" in html
    assert "<lost>" not in html
    assert all_papers.summary(shown) == "agrees: 1, differs: 1, failed: 1"
    assert all_papers.index_row(shown[1])[-1] == "differs: other people"
    assert all_papers.to_markdown(shown).splitlines()[3].count("|") == 5


def test_the_command_writes_the_page_and_prints_the_same_as_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(all_papers, "chosen", lambda names: (GOOD,))
    monkeypatch.setattr(all_papers, "ORDER", ("good",))
    out = tmp_path / "reproduced"
    assert run(["lab", "reproduce", "all", "--quick", "--simulated", "--out", str(out), "--json"]) == EXIT_OK
    told = json.loads(capsys.readouterr().out)
    assert told["summary"] == "agrees: 1"
    assert told["data"] == "simulated gaze alone"
    assert told["figures"][0]["checks"][1]["reason"] == "another machine"
    assert json.loads((out / "index.json").read_text())["figures"] == told["figures"]
    assert "Figure 1" in (out / "index.html").read_text()
    monkeypatch.undo()
    assert run(["lab", "reproduce", "all", "--only", "nothing", "--json"]) == EXIT_INPUT


def test_figures_of_liu_agree_in_a_quick_run_and_say_that_it_is_one() -> None:
    two, three = liu_claims.measure(None, quick=True)
    assert (two.verdict, three.verdict) == (Verdict.AGREES, Verdict.AGREES)
    assert "1.567" in two.checks[0].ours
    assert "10 heatmaps per point" in three.data
    assert all(picture.startswith(b"\x89PNG") for picture in (*two.pictures.values(), *three.pictures.values()))


def test_head_and_eye_together_are_one_direction_on_a_panorama() -> None:
    seen = np.array([0.0, 10.0, np.nan])
    head = np.array([170.0, 170.0, 170.0])
    level = np.zeros(3)
    session = VrSession(
        1, 1, np.arange(3.0), np.ones(3, np.int64), seen, level, head, level, level.astype(np.int64), ()
    )
    x = around(session).x
    assert x[1] - x[0] == pytest.approx(10 * PIXELS_PER_DEGREE)  # from 170 to 180 degrees, without a jump
    assert np.isnan(x[2])


def test_kaleido_as_published_counts_in_pixels_whatever_the_gaze() -> None:
    made = veil_or_published("kaleido-as-published:3:0.5:small", headset(50, 50), 72.0)
    assert isinstance(made, InPixels)
    assert isinstance(made.guarantee, Unproven)
    t = np.arange(72) / 72
    x, y = made.start(NoiseSource.seeded(1)).run(t, np.full(72, 5.0), np.full(72, -5.0))
    assert np.hypot(x - 5, y + 5).mean() < 20
    assert x.min() >= -25
    assert judged("a", "b", None).verdict is Verdict.NOT_COMPARABLE
    with pytest.raises(UnknownName, match=r"0\.5:huge"):
        veil_or_published("kaleido-as-published:3:0.5:huge", headset(50, 50))
