# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What a user meets after ``import gazeveil``: names, short values, plans that can be sent, frames."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import gazeveil
from gazeveil import Participants, PrivateHeatmap, Recording, Recordings, Stimulus, Study
from gazeveil.aggregate.liu import LiuMap
from gazeveil.errors import OptionError
from gazeveil.features.design_learning import learn
from gazeveil.features.participant_series import RawGaze
from gazeveil.features.settings import extract_one
from gazeveil.gaze.aoi import Rectangle
from gazeveil.release.data import bind
from gazeveil.release.plan import PRODUCTS, Measurement, Plan
from gazeveil.release.release import Release

DESK = gazeveil.screen(1600, 1200, 400, 300, 600)
LONGEST = 400
SECRET = "participant-who-must-not-show"
COARSE: dict[str, Any] = {"cell_deg": 4, "blur_deg": 4}


def recording(who: str, stimulus: str = "a", samples: int = 40) -> Recording:
    rng = np.random.default_rng(sum(map(ord, who + stimulus)))
    x, y = rng.uniform(0, 1600, samples), rng.uniform(0, 1200, samples)
    return Recording(np.arange(samples) / 60, x, y, DESK, who, stimulus)


def study(people: int = 60, stimuli: tuple[str, ...] = ("a", "b"), seconds: float = 12) -> Study:
    return Study(
        name="front",
        participants=Participants(roster=tuple(f"p{number:05d}" for number in range(people))),
        stimuli=tuple(Stimulus(name=name, screen=DESK, seconds=seconds) for name in stimuli),
        recordings=Recordings(rate_hz=60),
    )


def areas(count: int = 2) -> gazeveil.AreasOfInterest:
    wide = 1600 / count
    drawn = tuple(Rectangle(f"area {k}", k * wide, 0, (k + 1) * wide, 1200) for k in range(count))
    return gazeveil.AreasOfInterest(drawn, DESK)


SETTINGS = gazeveil.feature_settings(study(), bins=0.5)


def design() -> gazeveil.Design:
    ranges = SETTINGS.ranges()
    values = np.random.default_rng(3).uniform(0.2, 0.8, (12, 24, len(ranges)))
    return learn([values], ranges, "made up")


NAMES = ("heatmap", "heatmaps", "movie", "aoi", "liu", "group", "own", "veil")


@cache
def plans() -> dict[str, Plan]:
    """A plan of every product."""
    many = study()
    hidden = RawGaze(1.0, SETTINGS.rules)  # type: ignore[arg-type]
    return {
        "heatmap": many.plan(PrivateHeatmap(epsilon="1", **COARSE), stimulus="a"),
        "heatmaps": many.plan(gazeveil.PrivateHeatmaps(epsilon="1", **COARSE)),
        "movie": many.plan(gazeveil.HeatmapMovie(epsilon="1", bin_seconds=4, **COARSE), stimulus="a"),
        "aoi": many.plan(gazeveil.AoiStatistics({"a": areas()}, epsilon="1")),
        "liu": many.plan(LiuMap(epsilon="1", delta="1e-6", columns=4, rows=3), stimulus="a"),
        "group": many.plan(gazeveil.GroupSeries(epsilon="1", design=design()), task="a", settings=SETTINGS),
        "own": many.plan(
            gazeveil.ParticipantSeries(epsilon="1", design=design(), raw=hidden), task="a", settings=SETTINGS
        ),
        "veil": many.plan(gazeveil.VeiledRecordings(preset="lphu")),
    }


@pytest.mark.parametrize("name", NAMES)
def test_plans_pickle_and_come_back_equal(name: str) -> None:
    plan = plans()[name]
    again = pickle.loads(pickle.dumps(plan))
    assert again == plan
    assert again.study == plan.study
    assert again.to_dict() == plan.to_dict()


def test_a_study_pickles_and_comes_back_equal() -> None:
    assert pickle.loads(pickle.dumps(study())) == study()


def test_a_plan_that_was_sent_releases_like_the_one_at_home() -> None:
    corpus = gazeveil.Corpus.of([recording(f"p{number:05d}") for number in range(60)])
    plan = plans()["heatmap"]
    sent = pickle.loads(pickle.dumps(plan))
    one, other = (each.release(corpus, noise=gazeveil.NoiseSource.seeded(5), anyway=True) for each in (plan, sent))
    np.testing.assert_array_equal(one.value.map, other.value.map)


def test_designs_are_equal_if_they_say_the_same() -> None:
    one, other = design(), pickle.loads(pickle.dumps(design()))
    assert one == other
    assert hash(one) == hash(other)
    values = np.full((4, 24, len(one.ranges)), 0.25)
    assert one != learn([values], one.ranges, "made up")


@dataclass
class Tags(HTMLParser):
    """Checks that tags close in order."""

    VOID = frozenset({"img", "br", "meta", "hr"})
    open: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag


def check_html(text: str) -> None:
    parser = Tags()
    parser.feed(text)
    parser.close()
    assert not parser.open


def large() -> dict[str, Any]:
    """Values made from large inputs, each of which could print megabytes."""
    names = tuple(f"scene-{number:04d}.png" for number in range(700))
    wide = study(10_000, names)
    corpus = gazeveil.Corpus.of([recording(SECRET, name, 5) for name in names])
    groups = {who: f"group {number % 50}" for number, who in enumerate(wide.participants.roster or ())}
    table = pl.DataFrame({"observer": [SECRET] * 5, "t": np.arange(5) / 60, "x": [1.0] * 5, "y": [2.0] * 5})
    asked = gazeveil.AoiStatistics({name: areas(30) for name in names[:50]}, epsilon="1")
    sides = {str(side): list(groups)[side::2] for side in range(2)}
    return {
        "corpus": corpus,
        "recording": recording(SECRET, samples=10_000),
        "reading": gazeveil.read(table, geometry=DESK),
        "study": wide,
        "participants": wide.participants,
        "recordings": Recordings(groups=groups, sessions=tuple(map(str, range(400)))),
        "stimulus": Stimulus(name="a", screen=DESK, picture=(Path("x" * 200), "0" * 64)),
        "findings": gazeveil.check(wide, corpus),
        "bound corpus": bind(wide, corpus),
        "areas": areas(300),
        "aoi statistics": asked,
        "group comparison": gazeveil.GroupComparison(asked, sides),
        "heatmaps": gazeveil.PrivateHeatmaps(epsilon="1", weights=dict.fromkeys(names, 2.0)),
        "veils": gazeveil.VeiledRecordings(recipe={"mechanism": "chain", "members": [{"mechanism": "x"}] * 200}),
        "design": design(),
        "ranges": SETTINGS.ranges(),
        "group series": gazeveil.GroupSeries(epsilon="1", design=design()),
        "own series": gazeveil.ParticipantSeries(epsilon="1", design=design()),
        "own release": gazeveil.ParticipantRelease(mechanism=gazeveil.ParticipantSeries(epsilon="1", design=design())),
        "group plan": gazeveil.GroupSeries(epsilon="1", design=design()).plan(40),
        "wide plan": wide.plan(PrivateHeatmap(epsilon="1", **COARSE), stimulus=names[0]),
        "wide measurement": wide.plan(gazeveil.VeiledRecordings(preset="lphu")).measurement,
        **{f"plan of {name}": plan for name, plan in plans().items()},
        **{f"measurement of {name}": plan.measurement for name, plan in plans().items()},
        "guarantee": gazeveil.ApproxDP("1", "1e-5"),
    }


@pytest.fixture(scope="module")
def values(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    made = large() | {f"release of {name}": release for name, release in releases().items()}
    made |= {f"value of {name}": release.value for name, release in releases().items() if name != "aoi"}
    place = tmp_path_factory.mktemp("front") / "ledger.sqlite"
    with gazeveil.Ledger.open(place, create=True) as ledger:
        for number in range(40):
            ledger.grant(f"data set {number}", gazeveil.ApproxDP("3", "1e-4"))
        receipt = ledger.charge("data set 1", gazeveil.ApproxDP("1", "1e-5"), recipe={"mechanism": "x" * 5000})
        assert "data set 12" in ledger._repr_html_()
    return made | {"ledger": ledger, "account": receipt.account, "receipt": receipt}


@cache
def releases() -> dict[str, Release]:
    """A release of every product from a corpus in which the declared participants and a stranger looked."""
    seen = [recording(f"p{number:05d}", name) for number in range(3) for name in "ab"] + [recording(SECRET)]
    corpus = gazeveil.Corpus.of(seen)
    return {name: plan.release(corpus, anyway=True) for name, plan in plans().items()}


def test_everything_has_a_short_repr(values: dict[str, Any]) -> None:
    long = {name: len(repr(value)) for name, value in values.items() if len(repr(value)) >= LONGEST}
    assert not long
    assert not [name for name, value in values.items() if " object at 0x" in repr(value)]


def test_what_notebooks_show_is_well_formed(values: dict[str, Any]) -> None:
    shown = {name: value for name, value in values.items() if hasattr(value, "_repr_html_") and name != "ledger"}
    assert {"corpus", "study", "findings", "design", "account", "receipt", "reading", "recording"} <= set(shown)
    for name, value in shown.items():
        text = value._repr_html_()
        check_html(text)
        assert len(text) < 20_000 or name.startswith("release"), name


def test_names_in_html_are_escaped() -> None:
    odd = Study(
        name="<b>&",
        participants=Participants(roster=("<script>",)),
        stimuli=(Stimulus(name="<i>", screen=DESK),),
    )
    text = odd._repr_html_()
    check_html(text)
    assert "<b>" not in text
    assert "<script>" not in text
    assert "<i>" not in text


def test_every_product_shows_itself_in_the_same_short_way() -> None:
    assert all(callable(PRODUCTS[name]) for name in PRODUCTS.names())  # which loads them
    kinds = [Measurement]
    for kind in kinds:
        kinds += [made for made in kind.__subclasses__() if made.__module__.startswith("gazeveil.")]
    assert len(kinds) > len(NAMES)
    assert [kind for kind in kinds if kind.__repr__ is not Measurement.__repr__] == []


@pytest.mark.parametrize("name", NAMES)
def test_no_private_value_shows_in_plans_and_releases(name: str) -> None:
    release = releases()[name]
    shown = [repr(release), release._repr_html_(), repr(release.private), repr(release.measurement), str(release)]
    shown += [repr(plans()[name]), plans()[name]._repr_html_()]
    assert not [text for text in shown if SECRET in text]


def test_a_bound_corpus_shows_the_same_whatever_it_holds() -> None:
    full, empty = (bind(study(), gazeveil.Corpus.of(some)) for some in ([recording("p00001")], []))
    assert repr(full) == repr(empty)


@pytest.mark.parametrize("name", NAMES)
def test_releases_give_frames_back(name: str) -> None:
    release = releases()[name]
    frame = release.to_frame()
    assert isinstance(frame, pl.DataFrame)
    pytest.importorskip("pandas")
    pandas = release.to_pandas()
    assert list(pandas.columns) == frame.columns
    assert len(pandas) == len(frame)
    for column in frame.columns:
        there = frame[column].to_frame().drop_nulls().drop_nans().to_series().to_list()
        assert pandas[column].dropna().tolist() == there


def test_pandas_tables_need_no_pyarrow() -> None:
    pytest.importorskip("pandas")
    code = (
        "import sys; sys.modules['pyarrow'] = None; import numpy as np, gazeveil;"
        "desk = gazeveil.screen(1600, 1200, 400, 300, 600); t = np.arange(9) / 60;"
        "one = gazeveil.Recording(t, t, t, desk, 'ann', 'a');"
        "corpus = gazeveil.Corpus.of([one]);"
        "study = gazeveil.Study.observed_in(corpus, number=30);"
        "plan = study.plan(gazeveil.VeiledRecordings(preset='lphu'));"
        "print(len(plan.release(corpus).to_pandas()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.split() == ["9"]


@pytest.mark.parametrize("name", ["heatmap", "heatmaps", "group", "own"])
def test_plans_draw_what_to_expect(name: str) -> None:
    picture = plans()[name].plot()
    assert picture is not None
    assert picture.png.startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ["heatmap", "heatmaps", "group", "own"])
def test_the_expected_quality_changes_with_epsilon(name: str) -> None:
    plan = plans()[name]
    here, there = plan.forecast, plan.at(epsilon="3").forecast
    assert here is not None
    assert there is not None
    assert (there.expected > here.expected) == (here.measure == "cc")


def test_a_data_frame_is_answered_with_how_to_make_a_corpus_of_it_before_anything_is_charged() -> None:
    class Charging:
        def charge(self, *_: Any, **__: Any) -> None:
            raise AssertionError("charged")

    with pytest.raises(OptionError, match="found a DataFrame") as caught:
        plans()["heatmap"].release(pl.DataFrame({"x": [1.0]}), ledger=Charging(), anyway=True)  # type: ignore[arg-type]
    assert "gazeveil.read" in caught.value.hint


def test_plans_without_a_forecast_draw_nothing() -> None:
    secret = Study(name="s", participants=Participants(secret=True), stimuli=(Stimulus(name="a", screen=DESK),))
    assert secret.plan(PrivateHeatmap(epsilon="1", **COARSE)).plot() is None


def test_a_feature_table_draws_chosen_features() -> None:
    table = extract_one(recording("ann", samples=2000), SETTINGS)
    assert table.plot(table.names[0]).png.startswith(b"\x89PNG")
    with pytest.raises(gazeveil.GazeveilError, match="no feature"):
        table.plot("nonsense")


def test_secure_noise_is_the_default_of_every_product() -> None:
    for name, release in releases().items():
        assert release.guarantee == plans()[name].guarantee, name
        assert release.guarantee.proven


def test_the_verb_plan_is_the_method_of_the_study() -> None:
    mechanism = PrivateHeatmap(epsilon="1", **COARSE)
    assert gazeveil.plan(study(), mechanism, stimulus="a") == study().plan(mechanism, stimulus="a")


def test_packages_and_public_names_do_not_stand_in_each_others_place() -> None:
    inside = {path.stem for path in Path(gazeveil.__file__).parent.iterdir() if not path.name.startswith("_")}
    assert not inside & set(gazeveil.__all__)


def test_a_proposal_is_saved_and_opened_again(tmp_path: Path) -> None:
    corpus = gazeveil.Corpus.of([recording("ann"), recording("bo")])
    proposed, remarks = gazeveil.propose(corpus, name="front")
    path = proposed.save(tmp_path / "study.toml", remarks=remarks)
    assert Study.open(path) == proposed
    with pytest.raises(gazeveil.GazeveilError, match="exists"):
        proposed.save(path)


def test_a_design_is_learnt_for_a_study_from_public_recordings() -> None:
    public = gazeveil.Corpus.of([recording(f"public-{k}", samples=720) for k in range(4)])
    made = gazeveil.learn_design(study(), public, source="made up", settings=SETTINGS)
    assert made.steps == 24
    assert made.ranges.names == SETTINGS.ranges().names
    from_a_table = gazeveil.FeatureTable.concat([extract_one(each, SETTINGS) for each in public])
    assert made == gazeveil.learn_design(study(), from_a_table, source="made up", settings=SETTINGS)
    plan = study().plan(gazeveil.GroupSeries(epsilon="1", design=made), settings=SETTINGS)
    assert plan.forecast is not None


def test_a_design_needs_a_public_length() -> None:
    endless = Study(name="endless", participants=Participants(number=5), stimuli=(Stimulus(name="a", screen=DESK),))
    public = gazeveil.Corpus.of([recording("public", samples=720)])
    with pytest.raises(gazeveil.GazeveilError, match="steps"):
        gazeveil.learn_design(endless, public, source="made up", settings=SETTINGS)


@pytest.mark.parametrize(
    ("what", "make"),
    [
        ("Study", study),
        ("Participants", lambda: study(10_000).participants),
    ],
)
def test_few_of_many_names_are_shown(what: str, make: Callable[[], Any]) -> None:
    shown = repr(make())
    assert shown.startswith(what)
    assert shown.count("p0") <= 3
