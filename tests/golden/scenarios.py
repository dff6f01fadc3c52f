# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What is released for the golden folders: each scenario is some commands, run in a folder of its own."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.golden import form
from tests.golden.comparing import Copy
from tests.golden.doors import VEIL_PRESETS, Ledger, LiuMap, Study, run, verify
from tests.golden.study import STIMULI
from tests.golden.tape import playing

OUT, FOLDER = "out", "releases"
_PROGRESS = re.compile(r"^\w+.*: +\d+% done.*\n", re.MULTILINE)
"""What is said of work that takes long: whether it does depends on the machine."""
SETTING = {"COLUMNS": "120", "TERM": "dumb", "NO_COLOR": "1", "LC_ALL": "C.UTF-8", "TZ": "UTC"}


@dataclass(frozen=True)
class Scenario:
    """Commands, of which the last ones release to the folder ``out``.

    Attributes:
        commands: Each as it is typed after ``gazeveil``.
        python: What is done in Python instead, where a product has no command.
    """

    commands: tuple[str, ...] = ()
    python: Callable[[], None] | None = None


def _one(command: str) -> Scenario:
    return Scenario((command,))


def _release(command: str, study: str = "study.toml", paying: str = "--no-ledger") -> Scenario:
    return _one(f"{command} --study {study} --anyway {paying} --out {OUT}")


def _paid(command: str, opening: str, study: str = "study.toml", account: str = "golden") -> Scenario:
    """A release that a ledger pays for; the second one is refused, as nothing is left."""
    again = f"{command} --study {study} --anyway --ledger ledger.sqlite --account {account}"
    return Scenario(
        (
            f"ledger init {account} {opening} --ledger ledger.sqlite",
            f"{again} --out {OUT}",
            f"{again} --out again",
            "ledger show --ledger ledger.sqlite",
            "ledger history --ledger ledger.sqlite",
            "ledger export --ledger ledger.sqlite --out ledger.jsonl",
            "ledger verify --ledger ledger.sqlite",
            f"verify {OUT} --ledger ledger.sqlite",
        )
    )


def _liu(**options: object) -> Scenario:
    def release() -> None:
        plan = Study.open("study.toml").plan(LiuMap(epsilon=1, columns=4, rows=3, **options), stimulus=STIMULI[0])  # type: ignore[arg-type]
        with Ledger.open("ledger.sqlite", create=True) as ledger:
            ledger.grant("golden", plan.guarantee)
            made = plan.release("gaze", ledger=ledger, account="golden", anyway=True)
            print(made)
            for event in ledger.history():
                print(event)
        made.save(OUT)

    return Scenario(python=release)


_MAP = f"heatmap gaze --stimulus {STIMULI[0]}"
_ALL = "heatmaps gaze --cell-deg 2 --blur-deg 2 --epsilon 3"
_MOVIE = f"movie gaze --stimulus {STIMULI[0]} --bin-seconds 4 --epsilon 3 --cell-deg 2 --blur-deg 2"
_AREAS = f"aoi gaze --stimulus {STIMULI[0]} --areas areas.json --epsilon 2"
_EVERY = " ".join(
    f"--statistic {name}" for name in ("dwell", "first-fixation", "fixations", "reached", "transitions", "visit-order")
)
_BINS = "--bins 0.5"


def _series(mechanism: str, more: str = "", study: str = "study.toml") -> str:
    designed = "--design design.json" if mechanism in {"group", "low-rank"} else ""
    return (
        f"features release gaze {designed} --mechanism {mechanism} --epsilon 2 {_BINS} --task {STIMULI[0]} {more}"
        f" --study {study} --anyway --no-ledger --out {OUT}"
    )


def _own(mechanism: str, more: str = "") -> Scenario:
    return _one(_series(mechanism, f"--features x,y,pupil {more}"))


def _veil(said: str, gaze: str = "few") -> Scenario:
    return _one(f"veil {gaze} {said} --study study.toml --anyway --no-ledger --out {OUT}")


_RELEASES: dict[str, Scenario] = {
    "heatmap-pure": _release(f"{_MAP} --epsilon 1 --delta 0"),
    "heatmap-modes": _release(f"{_MAP} --epsilon 1"),
    "heatmap-bumps": _release(f"{_MAP} --epsilon 3", "many.toml"),
    "heatmap-picture": _release(f"{_MAP} --epsilon 2 --picture scene.png", "many.toml"),
    "heatmap-picture-pure": _release(f"{_MAP} --epsilon 2 --delta 0 --picture scene.png"),
    "heatmap-secret": _release(f"{_MAP} --epsilon 3", "secret.toml"),
    "heatmap-undeclared": _one(f"{_MAP} --epsilon 1 --anyway --no-ledger --out {OUT}"),
    "heatmap-json": _release(f"{_MAP} --epsilon 3 --json", "number.toml"),
    "heatmap-refused": _one(f"{_MAP} --epsilon 0.001 --study study.toml --no-ledger --out {OUT}"),
    "heatmap-dry-run": _one(f"{_MAP} --epsilon 1 --study study.toml --dry-run --json"),
    "heatmap-paid": _paid(f"{_MAP} --epsilon 1", "--epsilon 1.5 --delta 1e-4", "paid.toml"),
    "heatmap-signed": _release(f"{_MAP} --epsilon 3 --sign key.pem", "number.toml"),
    "heatmap-prior": _release(f"{_MAP} --epsilon 3 --prior prior.npy", "number.toml"),
    "heatmap-lists": _release(f"heatmap lists --stimulus {STIMULI[0]} --epsilon 3", "lists.toml"),
    "heatmaps": _release(_ALL),
    "heatmaps-pictures": _release(f"{_ALL} --pictures pictures --weights weights.toml", "many.toml"),
    "heatmaps-mean": _release(f"{_ALL} --mean-only"),
    "heatmaps-histogram": _release(f"{_ALL} --strategy histogram --most-stimuli 1"),
    "heatmaps-secret": _release(_ALL, "secret.toml"),
    "movie": _release(_MOVIE),
    "movie-picture": _release(f"{_MOVIE} --picture scene.png", "many.toml"),
    "movie-secret": _release(_MOVIE, "secret.toml"),
    "aoi": _release(f"{_AREAS} {_EVERY}"),
    "aoi-pure": _release(f"{_AREAS} {_EVERY} --delta 0", "many.toml"),
    "aoi-groups": _release(f"{_AREAS} --compare groups.csv", "groups.toml"),
    "aoi-secret": _release(f"{_AREAS} --statistic dwell", "secret.toml"),
    "aoi-lists": _release(
        f"aoi lists --stimulus {STIMULI[0]} --areas areas.json --epsilon 2 --statistic fixations", "lists.toml"
    ),
    "liu-map": _liu(),
    "liu-map-laplace": _liu(noise="laplace"),
    "liu-map-cap": _liu(cap=None, samples=20),
    "design": Scenario(
        (
            f"features extract public {_BINS} --out public.parquet",
            "features design public.parquet --out made.json --source 'made up people' --steps 16 --features x,y,pupil",
        )
    ),
    "series-group": _one(_series("group")),
    "series-group-secret": _one(_series("group", study="secret.toml")),
    "series-group-table": Scenario(
        (
            "features design table.csv --study foreign.toml --out table.json --source 'made up' --steps 6",
            f"features release table.csv --mechanism group --design table.json --epsilon 3 --study foreign.toml"
            f" --anyway --no-ledger --out {OUT}",
        )
    ),
    "series-low-rank": _one(_series("low-rank", "--delta 1e-5")),
    "series-hidden-seconds": _one(_series("low-rank", "--hide-seconds 2")),
    "series-fpa": _own("fpa", "--length-epsilon 1 --series 2 --kept 4"),
    "series-efpa": _own("efpa"),
    "series-c-fpa": _own("c-fpa", "--chunk 8"),
    "series-dc-fpa": _own("dc-fpa", "--chunk 8"),
    "series-lpa": _own("lpa"),
    "series-spa": _own("spa"),
    "series-exponential": _own("exponential"),
    "veil-paid": _paid("veil few --preset lphu", "--epsilon 7 --window 0.5 --radius 60", account="windows"),
    "veil-csv": _veil("--preset mpmu --to csv"),
    "veil-bids": _veil("--preset hplu --to bids"),
    **{f"veil-{name}": _veil(f"--preset {name}") for name in VEIL_PRESETS},
    **{
        f"veil-{name}": _veil(said if "--recipe" in said else f"--mechanism {name} {said}")
        for name, said in {
            "held-ticks": "--epsilon 3 --window 0.5 --radius 40px",
            "sparse-vector": "--epsilon 3 --window 0.5 --radius 40px",
            "kaleido": "--epsilon 3 --window 0.5 --radius 40px",
            "random-smoothing": "--window 7",
            "equalise": "",
            "kalman": "",
            "chain": "--recipe chain.json",
            "rotate": "--recipe rotate.json",
            "edge": "",
            "absorption": "--epsilon 3 --window 0.5 --radius 40px",
            "distribution": "--epsilon 3 --window 0.5 --radius 40px",
        }.items()
    },
    "plan-heatmap": _one("plan study.toml --product heatmap --epsilon 2 --want cc=.8"),
    "plan-heatmaps": _one("plan study.toml --product heatmaps --epsilon 2 --json"),
    "plan-movie": _one(f"plan study.toml --product movie --stimulus {STIMULI[0]} --bin-seconds 4 --json"),
    "plan-veil": _one("plan study.toml --product veil --preset lphu --json"),
    "study-declared": Scenario(
        (
            "study init gaze --out proposed.toml",
            "study check gaze --study study.toml",
            "study show study.toml",
            "info gaze --json",
        )
    ),
}


RELEASES = {f"{FOLDER}/{name}": scenario for name, scenario in _RELEASES.items()}


def played(name: str, scenario: Scenario, study: Path, room: Path) -> Copy:
    """Run a scenario in a fresh folder, and return all that it wrote and said."""
    shutil.copytree(study, room)
    before = {path: path.read_bytes() for path in room.rglob("*") if path.is_file()}
    said: Copy = {}
    with working_in(room):
        if scenario.python is not None:
            with playing(name):
                said["what it said"] = heard(scenario.python)
        for number, command in enumerate(scenario.commands, 1):
            with playing(f"{number} of {name}"):
                said[f"{number}. {command}"] = heard(partial(run, shlex.split(command)))
    if (room / OUT / "release.json").is_file():
        found = verify(room / OUT)
        said["verify"] = f"{'whole' if found.ok else 'not whole'}\n"
    for path in before:
        path.unlink()
    for path in [*room.glob("*.sqlite*"), *room.glob("state/**/*")]:
        if path.is_file():
            path.unlink()
    written = form.of_folder(room)
    return {name: _anywhere(text, room) for name, text in {**said, **written}.items()}


def _anywhere(text: str, room: Path) -> str:
    """Return a text without the path of the folder that the commands ran in."""
    for path in {room, room.resolve()}:
        text = text.replace(str(path), "(here)")
    return text


def heard(act: Callable[[], object]) -> str:
    """Return what was printed and how it ended."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = act()
    ended = "" if code is None else f"ends with {code}\n"
    return f"{ended}----- output\n{out.getvalue()}----- errors\n{_PROGRESS.sub('', err.getvalue())}"


@contextlib.contextmanager
def working_in(folder: Path) -> Iterator[None]:
    """Work in a folder, with the same setting on every machine."""
    before = dict(os.environ)
    os.environ.update(SETTING, GAZEVEIL_STATE=str(folder / "state"))
    for name in ("GAZEVEIL_LEDGER", "GAZEVEIL_ACCOUNT"):
        os.environ.pop(name, None)
    try:
        with contextlib.chdir(folder):
            yield
    finally:
        os.environ.clear()
        os.environ.update(before)
