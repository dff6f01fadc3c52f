# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Propose the declaration of a study from its recordings; the holder of the data confirms every line they keep."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import NamedTuple, TypeVar

import polars as pl

from gazeveil.arrays import Tell, silent
from gazeveil.errors import InputError, OptionError
from gazeveil.gaze import schema
from gazeveil.gaze.corpus import Corpus, Part, stated_in
from gazeveil.gaze.recording import Key
from gazeveil.gaze.schema import guarded
from gazeveil.geometry import Geometry
from gazeveil.release.study import DELTA, Budget, Participants, Recordings, Stimulus, Study, spelt
from gazeveil.release.study_toml import LONGEST_STIMULUS, declared_file, with_whole_paths

RATES = (25, 30, 50, 60, 72, 75, 80, 90, 100, 120, 144, 150, 200, 240, 250, 300, 400, 500, 600, 1000, 1200, 2000)
"""Sampling rates that trackers are sold with, in Hz."""

RATE_TOLERANCE = 0.04
LENGTH_TOLERANCE = 0.1
"""Recordings this close to the most common length were meant to have it."""

EXPOSED = Fraction(1, 100)
"""The number of participants times δ is at most this in a proposal."""

PICTURES = (".png", ".jpg", ".jpeg")
FILMS = (".mp4", ".mkv", ".webm", ".mov", ".avi")

HEAD = """\
The declaration of a study: the public facts that releases may use.
gazeveil looked at the recordings and PROPOSES these lines. Nothing is published by this file. Check every line: by
keeping it, you, the holder of the data, confirm that it is public, or was planned before any recording.
Lines such as `# holder = ""` are blanks: fill them in and remove the #. Then run `gazeveil study check`."""
CUSTODY = """\
Who holds the raw data. The data cannot say this, and no guarantee covers it. Fill in and remove the #:
holder = the person or institution, place = where the raw data lie, access = who can read them, until = when they are
deleted."""
BUDGET = """\
Which account pays for releases. ledger = a file or postgresql://…, account = the data set's name in it; make one with
`gazeveil ledger init ACCOUNT --epsilon 3 --delta 1e-4`. Fill in and remove the #."""

FIXATIONS = """\
fixations: recordings are lists of fixations, and this is what they state of each, beside its place. Fixations count
by their durations where these are stated, and once each where they are not."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFacts:
    """Facts for a proposal that are not in the recordings.

    Attributes:
        pictures: A folder with pictures and films, named as the stimuli are.
        areas: A folder with areas of interest, one ``NAME.json`` a stimulus.
        groups: The public group of participants.
        budget: Which account pays.
        sizes: What is known about all screens beside what recordings say: fields of `Geometry`.
    """

    pictures: Path | None = None
    areas: Path | None = None
    groups: Mapping[str, str] | None = None
    budget: Budget = field(default_factory=Budget)
    sizes: Mapping[str, float] = field(default_factory=dict)


class _RecordingSummary(NamedTuple):
    """The facts about one recording that a proposal needs."""

    key: Key
    screen: Geometry
    seconds: float
    rate: float
    pupil_unit: str
    is_list: bool


def propose(
    corpus: Corpus,
    *,
    name: str | None = None,
    who: str = "roster",
    known: KnownFacts | None = None,
    tell: Tell = silent,
) -> tuple[Study, dict[str, str]]:
    """Propose the declaration of a corpus's study.

    Args:
        corpus: The recordings.
        name: The study's name; by default the corpus's.
        who: How participants are declared: ``roster`` by their names, ``number``, or ``secret`` for a secret number.
        known: Pictures, areas, groups and who pays.
        tell: Called as the work goes on.

    Returns:
        The proposed study, and comments for its file, as `write_study` takes them.

    Raises:
        InputError: If no recording can be read, or a stimulus cannot be declared under its name.
    """
    known = known or KnownFacts()
    seen, whole = _summaries(corpus, tell)
    unread = len(corpus.parts) - len(whole)
    lists = [each for each in seen if each.is_list]
    others = len(seen) - len(lists) if 2 * len(lists) > len(seen) else len(lists)
    people = sorted({spelt(each.key.observer) for each in seen})
    if not people:
        raise InputError(
            f"there are no recordings that can be read in {corpus.name}", hint="see what it holds with `gazeveil info`"
        )
    remarks = {"": HEAD, "custody": CUSTODY, "budget": BUDGET}
    if unread:
        remarks[""] += f"\n{unread} of {len(corpus.parts)} files could not be read and are left out of the proposal."
    screens = _screens(seen)
    by_stimulus: dict[str, list[_RecordingSummary]] = defaultdict(list)
    for each in seen:
        by_stimulus[spelt(each.key.stimulus)].append(each)
    stimuli = []
    for stimulus, ours in sorted(by_stimulus.items()):
        seconds = _nominal_length([each.seconds for each in ours])
        proposed = Stimulus(
            name=_declarable(stimulus),
            screen=screens[stimulus].with_sizes(**known.sizes),
            seconds=seconds,
            picture=_file_named(known.pictures, stimulus, PICTURES),
            film=_file_named(known.pictures, stimulus, FILMS),
            areas=_file_named(known.areas, stimulus, (".json",)),
        )
        stimuli.append(proposed)
        remarks[f"stimuli.{stimulus}"] = _stimulus_remark(proposed, ours)
    recordings, remarks["recordings"] = _recordings(seen, people, known.groups, who)
    if 2 * len(lists) > len(seen):
        only = replace(corpus, parts=tuple(part for part in whole if part.holds_fixations))
        recordings = replace(recordings, rate_hz=None, fixations=stated_in(only))
        remarks["recordings"] += f"\n{FIXATIONS}"
    if others:
        remarks["recordings"] += (
            f"\n{others} of {len(seen)} recordings hold the other kind of rows: they would count as absent."
        )
    remarks["screen"] = _screen_remark(seen, stimuli)
    participants, remarks["participants"] = _participants(people, who)
    study = Study(
        name=(name or Path(corpus.name).name or "study")[:80].strip(),
        participants=participants,
        stimuli=tuple(stimuli),
        recordings=recordings,
        delta=delta_for(None if who == "secret" else len(people)),
        budget=known.budget,
    )
    remarks[""] += "\n" + _delta_remark(who)
    return with_whole_paths(study), {key: text for key, text in remarks.items() if text}


def nominal_rate(rate: float) -> float:
    """Return the rate that a tracker is sold with, if one is near; else the rate in two digits."""
    nearest = min(RATES, key=lambda known: abs(math.log(rate / known)))
    return float(nearest) if abs(rate / nearest - 1) <= RATE_TOLERANCE else float(f"{rate:.2g}")


def delta_for(number: int | None) -> Fraction:
    """Return 1e-5, or for many participants the power of ten that leaves each of them less than one in 100 of 1/n."""
    delta = DELTA
    while number is not None and delta * number > EXPOSED:
        delta /= 10
    return delta


def _summaries(corpus: Corpus, tell: Tell) -> tuple[list[_RecordingSummary], list[Part]]:
    """Read length and rate of every recording, part by part; return also the parts that could be read."""
    spans: dict[Key, tuple[float, float]] = {}
    steps: dict[Key, float] = {}
    labels: dict[Key, Part] = {}
    lists: set[Key] = set()
    whole = []
    for index, part in enumerate(corpus.parts):
        tell(index, len(corpus.parts))
        try:
            table = guarded(part.path or Path(corpus.name), _spans(part).collect)
        except InputError:
            continue
        whole.append(part)
        for *labelled, first, last, step in table.iter_rows():
            key = Key(*(label or "" for label in labelled))
            labels.setdefault(key, part)
            lists |= {key} if part.holds_fixations else set()
            if first is not None:
                before = spans.get(key, (math.inf, -math.inf))
                spans[key] = min(before[0], first), max(before[1], last)
            if step is not None:
                steps.setdefault(key, step)
    seen = []
    for key, part in labels.items():
        first, last = spans.get(key, (0.0, 0.0))
        step = steps.get(key, math.nan)
        rate = part.label.rate_hz or 1 / step
        is_list = key in lists
        seconds = last - first + (0 if math.isnan(step) or is_list else step)
        rate = math.nan if is_list else rate
        seen.append(_RecordingSummary(key, part.label.geometry, seconds, rate, part.label.pupil_unit, is_list))
    return seen, whole


def _spans(part: Part) -> pl.LazyFrame:
    """Return the first and last time and the usual step of each recording in a part."""
    time = pl.col("t").filter(pl.col("t").is_finite())
    step = time.diff()
    end = time
    if part.holds_fixations:
        end = (pl.col("t") + pl.col(schema.DURATION).fill_nan(0.0).fill_null(0.0)).filter(pl.col("t").is_finite())
    return (
        part.samples.filter(pl.col("observer").is_not_null())
        .group_by(schema.KEYS, maintain_order=True)
        .agg(time.min().alias("first"), end.max().alias("last"), step.filter(step > 0).median().alias("step"))
    )


def _screens(seen: Iterable[_RecordingSummary]) -> dict[str, Geometry]:
    """Return the screen of each stimulus: the raster and size that most recordings have, at their usual distance."""
    used: dict[str, Counter[Geometry]] = defaultdict(Counter)
    distances: dict[Geometry, list[float]] = defaultdict(list)
    for each in seen:
        screen = _without_distance(each.screen)
        used[spelt(each.key.stimulus)][screen] += 1
        if each.screen.distance_mm is not None:
            distances[screen].append(each.screen.distance_mm)
    common = sum(used.values(), Counter())
    found = {}
    for stimulus, counts in used.items():
        screen = max(counts, key=lambda each: (counts[each], common[each]))
        near = distances[screen]
        found[stimulus] = replace(screen, distance_mm=_to_the_next(median(near), 10)) if near else screen
    return found


def _without_distance(screen: Geometry) -> Geometry:
    if screen.width_mm is None or screen.height_mm is None:
        return replace(screen, distance_mm=None)
    width, height = _to_the_next(screen.width_mm, 1), _to_the_next(screen.height_mm, 1)
    return replace(screen, distance_mm=None, width_mm=width, height_mm=height)


def _to_the_next(value: float, step: float) -> float:
    """Round to a whole number of steps; small values to two digits."""
    return float(round(value / step) * step) if value >= 10 * step else float(f"{value:.2g}")


def _nominal_length(lengths: Iterable[float]) -> float | None:
    """Return the length that most recordings were meant to have, in whole seconds; None if they share none."""
    known = [length for length in lengths if length > 0]
    if not known:
        return None
    nominal = _most_common(_to_the_next(length, 1) if length >= 1 else float(f"{length:.1g}") for length in known)
    near = sum(abs(length - nominal) <= LENGTH_TOLERANCE * nominal for length in known)
    return nominal if 2 * near > len(known) and 0.001 <= nominal <= 24 * 3600 else None


def _recordings(
    seen: list[_RecordingSummary], people: list[str], groups: Mapping[str, str] | None, who: str
) -> tuple[Recordings, str]:
    rates = [nominal_rate(each.rate) for each in seen if math.isfinite(each.rate) and each.rate >= 0.1]
    counts = Counter((spelt(each.key.observer), spelt(each.key.stimulus)) for each in seen)
    present: dict[str, set[str]] = defaultdict(set)
    for each in seen:
        present[spelt(each.key.session)].add(spelt(each.key.observer))
    shared = all(2 * len(those) >= len(people) for those in present.values())
    sessions = tuple(sorted(present)) if shared and len(present) > 1 else ()
    if groups is not None and who != "roster":
        raise OptionError("groups are lists of participants, so they go with a roster", hint="leave out --groups")
    known = {spelt(name): group for name, group in (groups or {}).items() if spelt(name) in set(people)}
    units = [each.pupil_unit for each in seen if each.pupil_unit]
    remark = (
        "per_stimulus: how many recordings of one stimulus a participant contributes to feature series, at most.\n"
        "sessions: the labels of the sessions that count; without this line all do."
    )
    if not shared:
        remark += f"\nThe recordings have {len(present)} session labels, some of which few participants share."
        remark += '\nName those that count: sessions = ["…"]'
    if not rates and not any(each.is_list for each in seen):
        remark += "\nNo sampling rate was found. Fill in: rate_hz = …"
    proposed = Recordings(
        sessions=sessions,
        per_stimulus=min(_most_common(counts.values()), 10_000),
        rate_hz=_most_common(rates) if rates else None,
        pupil_unit=_most_common(units) if units else "",
        groups=known,
    )
    return proposed, remark


def _participants(people: list[str], who: str) -> tuple[Participants, str]:
    if who == "secret":
        return Participants(secret=True), "The number of participants is secret: a part of ε pays for counting them."
    if who == "number":
        text = "How many take part. That number is public; their names are not in this file."
        return Participants(number=len(people)), text
    if who != "roster":
        raise OptionError(f"participants are declared as roster, number or secret, not {who!r}")
    text = (
        "Who takes part. These names stay in this file, but their number is stated with every release.\n"
        "Was a participant invited who did not come? Add them: they count as absent."
    )
    return Participants(roster=tuple(people)), text


def _screen_remark(seen: list[_RecordingSummary], stimuli: list[Stimulus]) -> str:
    declared = {(stimulus.name, stimulus.screen.width_px, stimulus.screen.unit) for stimulus in stimuli}
    others = sum((spelt(each.key.stimulus), each.screen.width_px, each.screen.unit) not in declared for each in seen)
    text = "The screen of all stimuli that name none of their own. Size and distance are taken as declared here."
    if others:
        text += f"\n{others} of {len(seen)} recordings are on another raster: they would count as absent."
    if any(not stimulus.screen.knows_degrees for stimulus in stimuli):
        text += "\nThe recordings do not say the size of the screen. Fill in: width_mm, height_mm, distance_mm."
    return text


def _stimulus_remark(stimulus: Stimulus, ours: list[_RecordingSummary]) -> str:
    if stimulus.seconds is not None:
        return ""
    known = [each.seconds for each in ours if each.seconds > 0]
    found = f" ({min(known):.3g} to {max(known):.3g} s)" if known else ""
    return f"The recordings share no length{found}. If one was planned, fill in: seconds = …"


def _delta_remark(who: str) -> str:
    reason = "1e-5" if who == "secret" else "1e-5 or less, and at most 1/100 of 1/N for N participants"
    return f"delta: the δ of releases that name none, {reason}."


def _file_named(folder: Path | None, name: str, suffixes: tuple[str, ...]) -> tuple[Path, str] | None:
    """Return the file that is named as a stimulus is, with or without the ending of either, if there is one."""
    if folder is None or not name:
        return None
    stem = Path(name).with_suffix("").as_posix() if Path(name).name else name
    named = [name] if Path(name).suffix.lower() in suffixes else []
    for candidate in (*named, *(f"{each}{suffix}" for each in (name, stem) for suffix in suffixes)):
        path = folder / candidate
        if path.is_file() and path.resolve().is_relative_to(folder.resolve()):
            return declared_file(path)
    return None


def _declarable(stimulus: str) -> str:
    if len(stimulus) > LONGEST_STIMULUS or not (stimulus.isprintable() or not stimulus):
        raise InputError(
            f"the stimulus {stimulus[:40]!r} cannot be declared: its name is too long or not printable",
            hint="convert the recordings again under another name, with --stimulus",
        )
    return stimulus


def _most_common(values: Iterable[T]) -> T:
    return Counter(values).most_common(1)[0][0]
