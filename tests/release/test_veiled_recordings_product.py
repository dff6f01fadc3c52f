# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Veiled recordings on the one path: nothing but positions differs between neighbours, and nothing else shows."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil import Corpus, GazeStreamDP, GazeveilError, Ledger, NoiseSource, Recording, headset, screen, write_corpus
from gazeveil.errors import BudgetExceeded, OptionError, ReleaseFailed
from gazeveil.gaze.formats.base import Chunk, ReadOptions
from gazeveil.gaze.reading import ChunkStream
from gazeveil.gaze.recording import Eye
from gazeveil.release import plan as path_of_a_release
from gazeveil.release.data import GazeFiles
from gazeveil.release.record import private_report_path
from gazeveil.release.study import Participants, Stimulus, Study
from gazeveil.release.verify import verify
from gazeveil.samples import veiled_recordings as veiling
from gazeveil.samples.veiled_recordings import VeiledRecordings, VeilRecording, veiled_channels
from tests.release import hostile
from tests.releasing import planned, released

DESK = screen(1600, 1200, 400, 300, 600)
CLOCK = VeiledRecordings(
    mechanism="clock", parameters={"epsilon": "3", "window": "0.5", "radius": "60"}, edge="clamp", eyes="same"
)
COUNT = 120


def recording(who: str = "ann", seed: int = 1, stimulus: str = "a.png", **changes: Any) -> Recording:
    rng = np.random.default_rng(seed)
    values: dict[str, Any] = {
        "t": np.arange(COUNT) / 60,
        "x": rng.uniform(0, 1600, COUNT),
        "y": rng.uniform(0, 1200, COUNT),
        "geometry": DESK,
    } | changes
    return Recording(**values, observer=who, stimulus=stimulus)


def declared(*screens: Any, names: tuple[str, ...] = ("ann", "bob")) -> Study:
    stimuli = tuple(Stimulus(name=f"{'abc'[k]}.png", screen=each) for k, each in enumerate(screens or (DESK,)))
    return Study(name="desk", participants=Participants(roster=names), stimuli=stimuli)


def constant(raw: Recording, veil: Any, *, eyes: Any = "drop") -> Recording:
    veil.run(raw.t, raw.x, raw.y)  # it may not fail either
    return veiled_channels(raw, np.full(len(raw), 7.0), np.full(len(raw), 7.0), eyes=eyes)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@contextmanager
def all_but_positions_fixed() -> Iterator[None]:
    """One id, one date, and a constant instead of every veiled point."""
    with (
        patch.object(path_of_a_release, "new_id", lambda: "0" * 32),
        patch.object(path_of_a_release, "now", lambda: "2026-01-01T00:00:00+00:00"),
        patch.object(veiling, "veil_recording", constant),
    ):
        yield


positions = st.lists(
    st.tuples(*[st.floats(allow_nan=False, width=32) | st.sampled_from([np.inf, -np.inf, 1e300, 0.0])] * 2),
    min_size=1,
    max_size=30,
)


@given(moved=positions, start=st.integers(0, COUNT - 31), to=st.sampled_from(["parquet", "csv"]))
@settings(max_examples=12, deadline=None)
def test_neighbours_differ_in_nothing_but_the_veiled_points(
    moved: list[tuple[float, float]], start: int, to: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """With id, date and the veiled points replaced by constants, neighbours give the same folder, byte for byte."""
    folder = tmp_path_factory.mktemp("neighbours")
    raw = recording()
    x, y = raw.x.copy(), raw.y.copy()
    x[start : start + len(moved)], y[start : start + len(moved)] = np.array(moved).T
    x, y = np.where(np.isfinite(x), x, 1e300), np.where(np.isfinite(y), y, 1e300)  # when gaze is missing is public
    other = recording(x=x, y=y)
    plan = declared().plan(CLOCK, to=to)
    shown = []
    with all_but_positions_fixed():
        for number, mine in enumerate((raw, other)):
            release = plan.release(Corpus.of([mine, recording("bob", 2)]))
            release.save(folder / str(number))
            shown.append((contents(folder / str(number)), plan.measurement.summary(release.value)))
    assert shown[0] == shown[1]


def test_neighbours_give_folders_of_one_shape_with_real_noise(tmp_path: Path) -> None:
    raw = recording()
    other = recording(x=np.where(np.arange(COUNT) // 30 == 1, 800.0, raw.x))
    shapes = []
    for name, mine in (("one", raw), ("two", other)):
        release = declared().plan(CLOCK).release(Corpus.of([mine, recording("bob", 2)]))
        out = release.save(tmp_path / name)
        found = [(each.key, each.t.tolist(), each.left is None) for each in Corpus.open(out).recordings()]
        shapes.append((sorted(contents(out)), found))
    assert shapes[0] == shapes[1]


def test_whatever_is_in_the_data_a_release_is_made(tmp_path: Path) -> None:
    strange = [
        recording("ann", t=np.where(np.arange(COUNT) % 9 == 0, np.nan, np.arange(COUNT) / 60)),
        recording("bob", t=np.linspace(1e15, -1e15, COUNT)),
        recording("bob", stimulus="b.png", geometry=headset(90, 90)),
        recording("cem", t=-np.arange(COUNT) / 60, x=np.full(COUNT, np.inf)),
        recording("de\N{COMBINING ACUTE ACCENT}", x=np.full(COUNT, 1e300)),
        recording("d\N{LATIN SMALL LETTER E WITH ACUTE}", x=np.full(COUNT, np.nan)),
        recording("eve", t=np.empty(0), x=np.empty(0), y=np.empty(0)),
    ]
    names = ("ann", "bob", "cem", "d\N{LATIN SMALL LETTER E WITH ACUTE}", "eve", "nobody")
    plan = declared(DESK, DESK, names=names).plan(CLOCK)
    for made in ([], strange):
        release = plan.release(Corpus.of(made))
        release.save(tmp_path / f"v{len(made)}")
    shown = {each.observer: each for each in Corpus.open(tmp_path / "v7").recordings()}
    assert shown.keys() == {"ann", "cem", "d\N{LATIN SMALL LETTER E WITH ACUTE}"}
    assert len(shown["d\N{LATIN SMALL LETTER E WITH ACUTE}"]) == 2 * COUNT  # two spellings, one participant: merged
    report = json.loads(private_report_path(tmp_path / "v7").read_text())
    assert any("without a time" in line for line in report["remarks"])
    missing = [each["participant"] for each in report["findings"] if each["kind"] == "participant-missing"]
    assert missing == ["eve", "nobody"]


def test_planning_reads_nothing_and_an_account_pays_before_anything_is_read(tmp_path: Path) -> None:
    class Untouchable:
        def check(self) -> None:
            pass

        def open(self, remarks: list[str], tell: Any = None) -> Corpus:
            raise AssertionError("read before the charge")

    plan = declared().plan(CLOCK)
    with Ledger.open(tmp_path / "ledger.sqlite", create=True) as book:
        book.grant("desk", GazeStreamDP(2, "0.5", 60))
        with pytest.raises(BudgetExceeded):
            plan.release(Untouchable(), ledger=book, account="desk")
        book.grant("desk", GazeStreamDP(3, "0.5", 60))
        with pytest.raises(ReleaseFailed, match="the charge stands"):
            plan.release(Untouchable(), ledger=book, account="desk")


def test_screens_with_guarantees_of_their_own_are_paid_for_together() -> None:
    small, large = screen(1280, 720, 400, 225, 600), screen(2560, 1440, 400, 225, 600)
    plan = declared(small, large).plan(VeiledRecordings(preset="lphu"))
    assert plan.guarantee.numbers() == {"epsilon": 6}
    assert plan.guarantee.unit.to_dict()["radius"] == "60"  # what a radius of 120 hides, it hides within 60
    assert [each["guarantee"]["unit"]["radius"] for each in plan.measurement.recipe()["screens"]] == ["60", "120"]
    assert declared(small, small).plan(VeiledRecordings(preset="lphu")).guarantee.numbers() == {"epsilon": 3}
    with pytest.raises(OptionError, match="no common measure"):
        declared(small, headset(90, 90)).plan(VeiledRecordings(preset="lphu"))
    assert not declared(small, headset(90, 90)).plan(VeiledRecordings(preset="gaussian-low")).guarantee.proven


def test_each_screen_has_its_own_mechanism(tmp_path: Path) -> None:
    small, large = screen(1280, 720, 400, 225, 600), screen(2560, 1440, 400, 225, 600)
    made = [recording("ann", geometry=small), recording("ann", stimulus="b.png", geometry=large)]
    release = declared(small, large).plan(VeiledRecordings(preset="spatial-low")).release(Corpus.of(made))
    shown = {each.stimulus: each.geometry for each in Corpus.open(release.save(tmp_path / "v")).recordings()}
    assert shown == {"a.png": small, "b.png": large}
    with pytest.raises(OptionError, match="one screen"):
        declared(small, large).plan(VeiledRecordings(preset="spatial-low"), to="csv")


def test_seeded_noise_follows_from_the_recording_and_not_from_its_neighbours() -> None:
    both = Corpus.of([recording("ann"), recording("bob", 2)])
    alone = Corpus.of([recording("bob", 2)])
    how = VeiledRecordings(preset="gaussian-low")
    first, second = (released(how, corpus, noise=NoiseSource.seeded(5)) for corpus in (both, alone))
    bob = [each for each in first.value.recordings() if each.observer == "bob"]
    assert bob[0].equals(next(second.value.recordings()))
    assert not np.array_equal(first.to_frame()["x"][:COUNT] - recording("ann").x, bob[0].x - recording("bob", 2).x)
    assert not first.guarantee.proven


def test_secure_noise_is_new_for_every_recording_and_release() -> None:
    how = VeiledRecordings(preset="lphu")
    kernel = VeilRecording.with_noise(how, NoiseSource.secure())
    assert kernel.seed is None
    one, two = (kernel(recording()).shown.samples["x"].to_numpy() for _ in range(2))
    assert not np.array_equal(one, two)


def test_a_release_is_verified_and_a_flipped_bit_is_found(tmp_path: Path) -> None:
    release = declared().plan(CLOCK).release(Corpus.of([recording(), recording("bob", 2)]))
    out = release.save(tmp_path / "v")
    assert verify(out).ok
    for path in (out / "_corpus.json", next(out.glob("stimulus=*/*.parquet"))):
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 4
        path.write_bytes(content)
        assert not verify(out).ok
        content[len(content) // 2] ^= 4
        path.write_bytes(content)
    assert verify(out).ok
    methods = (out / "methods.md").read_text()
    assert "replaced by a point from the mechanism chain" in methods
    assert "li2021" in methods


@pytest.mark.parametrize("replacement", hostile.REPLACEMENTS)
def test_whoever_is_odd_a_release_is_made(replacement: str, tmp_path: Path) -> None:
    corpus = Corpus.open(hostile.write_corpus_with(replacement, tmp_path / "gaze"))
    shown = hostile.study().plan(VeiledRecordings(preset="lphu")).release(corpus).to_frame()
    assert shown["valid"].all()
    assert set(shown["observer"]) <= set(hostile.PEOPLE)


def test_a_damaged_file_of_a_corpus_counts_as_absent(tmp_path: Path) -> None:
    write_corpus([recording(), recording(stimulus="b.png")], tmp_path / "gaze")
    next(tmp_path.glob("gaze/stimulus=b.png/*.parquet")).write_bytes(b"nothing")
    release = declared(DESK, DESK).plan(CLOCK).release(tmp_path / "gaze")
    assert release.to_frame()["stimulus"].unique().to_list() == ["a.png"]
    release.save(tmp_path / "v")
    assert "counts as absent" in private_report_path(tmp_path / "v").read_text()


def test_the_spool_goes_with_the_value() -> None:
    release = released(VeiledRecordings(preset="lphu"), Corpus.of([recording()]))
    folder = Path(release.value.name)
    chosen = release.value.select(observer="ann")
    assert folder.stat().st_mode & 0o77 == 0 or folder.parent.stat().st_mode & 0o77 == 0
    del release
    gc.collect()
    assert len(next(chosen.recordings())) == COUNT  # what was selected keeps it
    del chosen
    gc.collect()
    assert not folder.exists()


def test_the_record_says_what_is_public(tmp_path: Path) -> None:
    write_corpus([recording()], tmp_path / "raw")
    plan = planned(CLOCK, Corpus.open(tmp_path / "raw"))
    facts = {fact.name: fact.value for fact in plan.facts}
    assert "which recordings there are" in str(facts["recordings"])
    assert "their sample times and lengths" in str(facts["recordings"])
    assert "positions" in facts["neighbours"]
    assert plan.forecast is not None


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({}, "say which mechanism"),
        ({"mechanism": "clock", "preset": "lphu"}, "one of them"),
        ({"mechanism": "clok"}, "clock"),
        ({"recipe": {"mechanism": "smoothing"}, "parameters": {"window": 3}}, "holds all parameters"),
        ({"preset": "lphu", "edge": "bounce"}, "edge must be"),
        ({"preset": "lphu", "eyes": "both"}, "eyes must be"),
        ({"mechanism": "clock"}, "clock"),
        ({"recipe": {"mechanism": "smoothing", "space": {"kind": "sphere"}}}, "works in deg"),
    ],
)
def test_wrong_parameters_are_refused_before_anything_is_spent(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(GazeveilError) as refused:
        declared().plan(VeiledRecordings(**wrong))
    assert words in f"{refused.value} {refused.value.hint}"


def test_eyes_that_carry_the_veiled_point_are_written() -> None:
    raw = recording()
    both = Eye(raw.x, raw.y)
    shown = next(released(CLOCK, Corpus.of([recording(left=both, right=both)])).value.recordings())
    assert shown.left is not None
    assert np.array_equal(shown.left.x, shown.x)


@pytest.mark.parametrize("fault", [OSError("a bad block"), MemoryError(), ValueError("no gaze"), "a long name"])
def test_whatever_is_wrong_with_one_file_the_others_are_released(fault: Exception | str, tmp_path: Path) -> None:
    for who in ("ann", "bob"):
        name = "a.png" if who == "ann" or isinstance(fault, Exception) else "é" * 200  # too long for a folder
        rows = "".join(f"{who},{name},{number / 60},{number},{number}\n" for number in range(60))
        (tmp_path / f"{who}.csv").write_text("observer,stimulus,t,x,y\n" + rows)

    class Faulty(ChunkStream):
        def __iter__(self) -> Iterator[Chunk]:
            yield from super().__iter__()
            if isinstance(fault, Exception) and self.path.stem == "bob":
                raise fault

    def stream(path: Path) -> ChunkStream:
        return Faulty(path, ReadOptions(geometry=DESK))

    files = GazeFiles((tmp_path / "bob.csv", tmp_path / "ann.csv"), stream)
    release = declared().plan(CLOCK).release(files)
    assert [each.observer for each in release.value.recordings()] == ["ann"]
    assert release.private is not None
    assert any("bob.csv could not be read and counts as absent" in line for line in release.private.remarks)
    with pytest.raises(type(fault) if isinstance(fault, Exception) else GazeveilError):
        GazeFiles(files.paths, stream, strict=True).open([])
