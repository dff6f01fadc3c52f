# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What in the data does not fit the declaration: a private report for the holder of the data, never for release.

`check` compares labels, files and samples with the declaration; `private_report` compares labels alone, after a
release. Every finding states what the declared rule does with it. What cannot be read is a finding too.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from gazeveil.aggregate.engine import LONGEST_S
from gazeveil.arrays import BoolArray, FloatArray, Tell, silent
from gazeveil.display import a_few, html_table
from gazeveil.errors import FileFormatError, GazeveilError
from gazeveil.files import write_private
from gazeveil.gaze import schema
from gazeveil.gaze.corpus import Corpus, Part
from gazeveil.gaze.recording import Key
from gazeveil.gaze.schema import guarded
from gazeveil.gaze.validity import is_known, most_common_point, visible
from gazeveil.gaze.validity import outside as outside_of
from gazeveil.geometry import Geometry
from gazeveil.release import visual_report
from gazeveil.release.data import BoundCorpus, BoundTable, are_as_declared, columns_of, lies_on, part_name
from gazeveil.release.study import Study, spelt
from gazeveil.release.study_toml import checked_file

NOT_TO_PUBLISH = "This report is about single participants. Keep it with the raw data and do not publish it."
KINDS: dict[str, tuple[str, str]] = {
    "unreadable": ("cannot be read", "Counts as absent in every release: mend it, or copy it again."),
    "participant-missing": ("participant without recordings", "Counts as absent; the number of participants stays."),
    "participant-unknown": ("not in the roster", "Left out of every release."),
    "participant-withdrawn": ("withdrew", "Left out of every release. Delete the raw data if that was agreed."),
    "no-participant": ("rows that name no participant", "Left out of every release."),
    "number-differs": ("another number of participants than declared", "All are read; the declared number is stated."),
    "other-raster": ("on another screen", "Counts as absent: unit, raster and field of view must be as declared."),
    "other-size": ("on a screen of another size or distance", "Read as if on the declared screen."),
    "other-rows": ("samples where fixations are declared, or the other way round", "Counts as absent."),
    "undeclared-stimulus": ("stimulus that is not declared", "Left out of every release."),
    "undeclared-session": ("session that is not declared", "Left out of every release."),
    "two-spellings": ("name in two Unicode forms", "Read as one name."),
    "recorded-twice": (
        "recorded more often than declared",
        "Maps and area statistics merge them; series cut the rest.",
    ),
    "recording-missing": ("declared stimulus without a recording", "Counts as absent."),
    "file-changed": (
        "declared picture, film, areas or prior missing or changed",
        "Releases that use the file are refused.",
    ),
    "no-gaze": ("recording without gaze", "Counts as absent."),
    "too-short": ("shorter than declared", "Used as far as it goes; the rest counts as absent."),
    "too-long": ("longer than declared", "Maps use all of it; series and movies are cut at the declared length."),
    "clock": ("clock ran back, stood still or is no number", "Nothing is sorted; such samples can count as absent."),
    "rate": ("another sampling rate than declared", "Read as it is; series take the declared rate."),
    "durations": (
        "fixations that last no time, a negative one or longer than 60 s",
        "Those without a time do not count; longer ones count as 60 s.",
    ),
    "parked": ("gaze parked at one point", "Counted as gaze, so it shows in maps: mark these samples as not valid."),
    "outside": ("gaze outside the field of view", "Outside of maps and areas: not counted there."),
    "one-eye": ("one eye lost", "The other eye's gaze is used."),
    "loss": ("much tracking loss", "Lost samples are not counted."),
}
"""Every kind of finding, the most important first: what it is, and what the declared rule does with it."""
SHORT, LONG = 0.9, 1.1
RATE = 0.05
PARKED_AT_SENTINEL, PARKED = 0.01, 0.2
OUTSIDE = 0.05
ONE_EYE = 0.2
LOSS = 0.25
"""From which share of the declared length, the declared rate or of all samples on something is reported."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing in the data that does not fit the declaration.

    Attributes:
        kind: One of `KINDS`.
        sentence: What was found.
        participant: Whose data it is about; empty where it is about nobody's alone.
        recording: Which recording, if it is about one.
    """

    kind: str
    sentence: str
    participant: str = ""
    recording: Key | None = None

    @property
    def rule(self) -> str:
        """What the declared rule does with it."""
        return KINDS[self.kind][1]

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain values."""
        recording = None if self.recording is None else self.recording._asdict()
        values = {"kind": self.kind, "participant": self.participant, "recording": recording}
        return {**values, "sentence": self.sentence, "rule": self.rule}


@dataclass(frozen=True, slots=True)
class Findings:
    """All that does not fit, the most important first. Private: for the holder of the data.

    Attributes:
        study: The study's name.
        participants: How many participants count, by the study's rules.
        recordings: How many recordings were found, of anyone.
        items: The findings.
    """

    study: str
    participants: int
    recordings: int
    items: tuple[Finding, ...]

    def __len__(self) -> int:
        return len(self.items)

    def __repr__(self) -> str:
        kinds = a_few([f"{len(items):,} {kind}" for kind, items in self.by_kind().items()], 6) or "nothing odd"
        return f"Findings({self.study!r}, {self.recordings:,} recordings: {kinds}; private)"

    def _repr_html_(self) -> str:
        rows = [(KINDS[kind][0], f"{len(items):,}", items[0].sentence) for kind, items in self.by_kind().items()]
        return html_table(f"{self.study}: {NOT_TO_PUBLISH}", rows or [("nothing odd", "", "")])

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.items)

    def by_kind(self) -> dict[str, list[Finding]]:
        """Return the findings by their kinds, the most important kind first."""
        found: dict[str, list[Finding]] = defaultdict(list)
        for item in self.items:
            found[item.kind].append(item)
        return dict(found)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values."""
        return {
            "notice": NOT_TO_PUBLISH,
            "study": self.study,
            "participants_found": self.participants,
            "recordings_found": self.recordings,
            "counts": {kind: len(items) for kind, items in self.by_kind().items()},
            "findings": [item.to_dict() for item in self.items],
        }


def check(study: Study, corpus: Corpus | Path | str, tell: Tell = silent) -> Findings:
    """Compare a corpus with a declaration: a report for the holder of the data alone.

    One part of the corpus is in memory at a time. What cannot be read becomes a finding.

    Raises:
        FileFormatError: If there is no corpus at all.
    """
    damaged: tuple[FileFormatError, ...] = ()
    if not isinstance(corpus, Corpus):
        corpus, damaged = Corpus.open_readable(corpus)
    unread = [Finding("unreadable", error.message) for error in damaged]
    labels = _Labels(study, corpus)
    more = [*unread, *_files(study), *_samples(study, corpus, labels, tell)]
    return labels.findings(more)


def private_report(study: Study, data: BoundCorpus | BoundTable | None) -> dict[str, Any]:
    """Return what the holder of the data should know about a release, from labels alone; no data make it fail."""
    if data is None:
        return {"notice": NOT_TO_PUBLISH, "study": study.name, "findings": [], "remarks": []}
    if isinstance(data, BoundTable):
        absent = sorted(set(study.participants.roster or ()) - set(data.observers))
        missing = [Finding("participant-missing", f"{who} has no rows that count.", who).to_dict() for who in absent]
        return {"notice": NOT_TO_PUBLISH, "study": study.name, "findings": missing, "remarks": list(data.remarks)}
    return {**_Labels(study, data.original).findings(()).to_dict(), "remarks": list(data.remarks)}


# --- Findings about labels and declared files.


class _Labels:
    """The findings about the labels of a corpus: participants, stimuli, sessions, screens."""

    def __init__(self, study: Study, corpus: Corpus) -> None:
        self.study = study
        self.screens = {stimulus.name: stimulus.screen for stimulus in study.stimuli}
        people = study.participants
        self.roster = None if people.roster is None else frozenset(people.roster)
        self.withdrawn, self.sessions = frozenset(people.withdrawn), frozenset(study.recordings.sessions)
        self.items: list[Finding] = []
        self.part_of: dict[Key, Part] = {}
        self.unread: set[int] = set()
        nobody = 0
        for number, part in enumerate(corpus.parts):
            keys = self.attempt(number, part, partial(part_keys, part))
            for key in keys or ():
                nobody += key.observer == ""
                self.part_of.setdefault(key, part)
        if nobody:
            self.add("no-participant", f"{nobody:,} recordings have rows that name no participant.")
        self.counted = [key for key in self.part_of if self._counts(key)]
        self._check_participants()
        self._check_names()
        self._check_screens()
        self._check_rows()
        self._check_numbers()

    def attempt(self, number: int, part: Part, read: Any) -> Any:
        """Read something of a part; None where that fails, which is a finding, once a part."""
        try:
            return read()
        except Exception as error:  # noqa: BLE001  (whatever is in the data, the report on the others goes on)
            if number not in self.unread:
                self.unread.add(number)
                found = error.message if isinstance(error, GazeveilError) else f"{type(error).__name__}: {error}"
                self.add("unreadable", f"{part_name(part)} cannot be read: {found[:300]}")
            return None

    def add(self, kind: str, sentence: str, participant: str = "", recording: Key | None = None) -> None:
        """Add a finding."""
        self.items.append(Finding(kind, sentence, participant, recording))

    def findings(self, more: Iterable[Finding]) -> Findings:
        """Return these findings and others, the most important first."""
        place = {kind: index for index, kind in enumerate(KINDS)}
        items = sorted({*self.items, *more}, key=lambda item: (place[item.kind], item.participant, item.sentence))
        people = {spelt(key.observer) for key in self.counted}
        return Findings(self.study.name, len(people), len(self.part_of), tuple(items))

    def _counts(self, key: Key) -> bool:
        who, screen = spelt(key.observer), self.screens.get(spelt(key.stimulus))
        known = bool(who) and who not in self.withdrawn and (self.roster is None or who in self.roster)
        meant = not self.sessions or spelt(key.session) in self.sessions
        on_screen = screen is not None and lies_on(self.part_of[key].label.geometry, screen)
        return known and meant and on_screen and self._has_rows_as_declared(key)

    def _has_rows_as_declared(self, key: Key) -> bool:
        return are_as_declared(columns_of(self.part_of[key]), self.study)

    def _check_participants(self) -> None:
        number: dict[str, int] = defaultdict(int)
        for key in self.part_of:
            number[spelt(key.observer)] += bool(key.observer)
        for who, recordings in number.items():
            if who in self.withdrawn:
                self.add("participant-withdrawn", f"{who} withdrew and still has {_recording_count(recordings)}.", who)
            elif who and self.roster is not None and who not in self.roster:
                self.add(
                    "participant-unknown", f"{who} is not in the roster and has {_recording_count(recordings)}.", who
                )
        usable = {spelt(key.observer) for key in self.counted}
        for who in sorted((self.roster or frozenset()) - usable):
            why = f"{_recording_count(number[who])}, none of which counts" if number.get(who) else "no recording"
            self.add("participant-missing", f"{who} has {why}.", who)
        declared = self.study.participants.number
        if self.roster is None and declared is not None and declared != len(usable):
            self.add("number-differs", f"{len(usable)} participants were found, {declared} are declared.")

    def _check_names(self) -> None:
        for place, what in enumerate(("participant", "stimulus", "session")):
            forms: dict[str, set[str]] = defaultdict(set)
            for key in self.part_of:
                forms[spelt(key[place])].add(key[place])
            for name, found in forms.items():
                if len(found) > 1:
                    who = name if what == "participant" else ""
                    self.add("two-spellings", f"The {what} {name!r} is written in {len(found)} Unicode forms.", who)
        stimuli, sessions = ({spelt(key[place]) for key in self.part_of} for place in (1, 2))
        for name in stimuli - set(self.screens):
            self.add("undeclared-stimulus", f"The stimulus {name!r} is not declared.")
        for name in sessions - self.sessions if self.sessions else ():
            self.add("undeclared-session", f"The session {name!r} is not declared.")

    def _check_screens(self) -> None:
        for key, part in self.part_of.items():
            found, declared = part.label.geometry, self.screens.get(spelt(key.stimulus))
            if declared is None or found == declared or _agrees_where_known(found, declared):
                continue
            kind = "other-size" if lies_on(found, declared) else "other-raster"
            self.add(kind, f"{_recording_name(key)} has {found}, declared is {declared}.", spelt(key.observer), key)

    def _check_rows(self) -> None:
        declared, found = ("samples", "fixations")[:: 1 if self.study.recordings.fixations is None else -1]
        for key in self.part_of:
            if not self._has_rows_as_declared(key):
                sentence = f"{_recording_name(key)} holds {found}, declared are {declared}."
                self.add("other-rows", sentence, spelt(key.observer), key)

    def _check_numbers(self) -> None:
        number: dict[tuple[str, str], int] = defaultdict(int)
        for key in self.counted:
            number[spelt(key.observer), spelt(key.stimulus)] += 1
        most = self.study.recordings.per_stimulus
        for (who, stimulus), count in number.items():
            if count > most:
                sentence = f"{who} has {_recording_count(count)} of {stimulus!r}, {most} are declared."
                self.add("recorded-twice", sentence, who)
        for who in {who for who, _ in number}:
            missing = [stimulus for stimulus in self.screens if (who, stimulus) not in number]
            if missing:
                some = ", ".join(repr(stimulus) for stimulus in missing[:3]) + (", …" if len(missing) > 3 else "")
                of = f"{len(missing)} of {len(self.screens)} declared stimuli ({some})"
                self.add("recording-missing", f"{who} has no recording of {of}.", who)


def _files(study: Study) -> Iterator[Finding]:
    for stimulus in study.stimuli:
        for what, declared in stimulus.files().items():
            try:
                checked_file(declared)
            except GazeveilError as error:
                yield Finding("file-changed", f"The {what} of {stimulus.name!r}: {error.message}.")


def _agrees_where_known(found: Geometry, declared: Geometry) -> bool:
    """Return whether a recording contradicts nothing of a declared screen; it may leave parts of it out."""
    return all(getattr(found, item.name) in (None, getattr(declared, item.name)) for item in fields(found))


def _recording_name(key: Key) -> str:
    return f"{spelt(key.observer)}, {key.stimulus!r}, session {key.session}, trial {key.trial}"


def _recording_count(recordings: int) -> str:
    return f"{recordings:,} recording{'' if recordings == 1 else 's'}"


# --- Findings about samples, from counts over each recording.


def _samples(study: Study, corpus: Corpus, labels: _Labels, tell: Tell) -> Iterator[Finding]:
    """Yield findings about the samples of all recordings that count."""
    wanted = set(labels.counted)
    seen: dict[Key, SampleCounts] = {}
    for number, part in enumerate(corpus.parts):
        tell(number, len(corpus.parts))
        screen = labels.screens.get(spelt(part.stimulus))
        if number in labels.unread or screen is None or not lies_on(part.label.geometry, screen):
            continue
        for key, piece in labels.attempt(number, part, partial(sample_counts_in, part, screen, wanted)) or ():
            seen[key] = seen[key].then(piece) if key in seen else piece
    tell(len(corpus.parts), len(corpus.parts))
    for key, found in seen.items():
        for kind, sentence in _sample_faults(study, key, found):
            yield Finding(kind, f"{_recording_name(key)}: {sentence}.", spelt(key.observer), key)


def _sample_faults(study: Study, key: Key, seen: SampleCounts) -> Iterator[tuple[str, str]]:
    """Yield kind and sentence of what is unusual in one recording."""
    stated = study.recordings.fixations
    if not seen.tracked:
        yield "no-gaze", f"none of {seen.rows:,} {'samples' if stated is None else 'fixations'} has gaze"
        return
    if stated is not None and "duration" in stated and seen.odd_durations:
        yield "durations", f"{seen.odd_durations:,} of {seen.rows:,} fixations"
    if stated is not None and "start" not in stated:
        return  # time says nothing
    seconds = study.stimulus(key.stimulus).seconds
    if seconds is not None and seen.seconds < SHORT * seconds:
        yield "too-short", f"{seen.seconds:.3g} s, declared are {seconds:g} s"
    if seconds is not None and seen.seconds > LONG * seconds:
        yield "too-long", f"{seen.seconds:.3g} s, declared are {seconds:g} s"
    if seen.clock_faults:
        times = f"{seen.backwards:,} times back, {seen.repeated:,} times the same"
        yield "clock", f"the clock went {times}, {seen.no_time:,} times it is no number"
    rate = study.recordings.rate_hz
    if rate is not None and seen.rate is not None and abs(seen.rate / rate - 1) > RATE:
        yield "rate", f"{seen.rate:.4g} Hz, declared are {rate:g} Hz"
    least = PARKED_AT_SENTINEL if is_known(seen.parked_at, study.stimulus(key.stimulus).screen) else PARKED
    if seen.parked / seen.tracked >= least and seen.parked > 1:
        x, y = seen.parked_at
        yield "parked", f"{seen.parked / seen.tracked:.0%} of gaze is at exactly ({x:g}, {y:g})"
    if seen.outside / seen.tracked >= OUTSIDE:
        yield "outside", f"{seen.outside / seen.tracked:.0%} of gaze is outside the field of view"
    for name, lost in (("left", seen.left_lost), ("right", seen.right_lost)):
        if lost / seen.rows >= ONE_EYE:
            yield "one-eye", f"the {name} eye is lost in {lost / seen.rows:.0%} of samples where the other is tracked"
    if (loss := 1 - seen.tracked / seen.rows) >= LOSS:
        yield "loss", f"{loss:.0%} of samples have no gaze"


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleCounts:
    """Counts over the samples of a recording, or of a piece of one.

    Attributes:
        rows: How many samples there are.
        tracked: How many have gaze.
        first: The earliest time.
        last: The latest time.
        begins_at: The time of the first row, even if time runs back.
        ends_at: The time of the last row.
        step: The usual step of time; NaN if there is none.
        backwards: How often time goes back.
        repeated: How often time stands still.
        no_time: How often time is no number.
        parked: How many samples lie on the point that most lie on.
        parked_at: That point.
        outside: How many lie outside the field of view.
        left_lost: How often the left eye alone is lost.
        right_lost: How often the right eye alone is lost.
        odd_durations: How many fixations of a list last no time, a negative one, or longer than any fixation.
    """

    rows: int
    tracked: int
    first: float
    last: float
    begins_at: float
    ends_at: float
    step: float
    backwards: int
    repeated: int
    no_time: int
    parked: int
    parked_at: tuple[float, float]
    outside: int
    left_lost: int
    right_lost: int
    odd_durations: int = 0

    @property
    def seconds(self) -> float:
        """How long the recording is, its last sample included."""
        if not self.last >= self.first:
            return 0.0
        return self.last - self.first + (0.0 if np.isnan(self.step) else self.step)

    @property
    def rate(self) -> float | None:
        """Samples a second; None if time does not say."""
        return None if np.isnan(self.step) else 1 / self.step

    @property
    def clock_faults(self) -> int:
        """How often something is wrong with time."""
        return self.backwards + self.repeated + self.no_time

    def then(self, more: SampleCounts) -> SampleCounts:
        """Return the counts of this piece and the one that follows it."""
        larger = max(self, more, key=lambda piece: piece.parked)
        same = self.parked_at == more.parked_at
        return SampleCounts(
            rows=self.rows + more.rows,
            tracked=self.tracked + more.tracked,
            first=float(np.fmin(self.first, more.first)),
            last=float(np.fmax(self.last, more.last)),
            begins_at=self.begins_at,
            ends_at=more.ends_at,
            step=more.step if np.isnan(self.step) else self.step,
            backwards=self.backwards + more.backwards + (more.begins_at < self.ends_at),
            repeated=self.repeated + more.repeated + (more.begins_at == self.ends_at),
            no_time=self.no_time + more.no_time,
            parked=self.parked + more.parked if same else larger.parked,
            parked_at=larger.parked_at,
            outside=self.outside + more.outside,
            left_lost=self.left_lost + more.left_lost,
            right_lost=self.right_lost + more.right_lost,
            odd_durations=self.odd_durations + more.odd_durations,
        )


def part_keys(part: Part) -> list[Key]:
    """Return the recordings that have samples in a part; stretches of one count once, so few are compared."""
    stretches = part.samples.select(pl.struct(schema.KEYS).rle().struct.field("value"))
    table = guarded(part.path or Path("in memory"), stretches.collect).unnest("value")
    return [_key(row) for row in dict.fromkeys(table.iter_rows())]


def sample_counts_in(part: Part, screen: Geometry, wanted: Collection[Key]) -> list[tuple[Key, SampleCounts]]:
    """Return the counts of the wanted recordings that have samples in a part."""
    table = guarded(part.path or Path("in memory"), part.samples.collect)
    extent = visible(screen)
    groups = table.partition_by(schema.KEYS, maintain_order=True, include_key=False, as_dict=True)
    return [(key, _sample_counts(rows, extent)) for row, rows in groups.items() if (key := _key(row)) in wanted]


def _sample_counts(rows: pl.DataFrame, extent: tuple[float, float, float, float] | None) -> SampleCounts:
    t, x, y = (_floats(rows, name) for name in ("t", "x", "y"))
    stated = rows["valid"].fill_null(False).to_numpy()
    tracked = stated & np.isfinite(x) & np.isfinite(y)
    times = t[np.isfinite(t)]
    steps = np.diff(t)
    forward = steps[steps > 0]
    ends, odd_durations = times, 0
    if schema.DURATION in rows.columns:  # fixations have no rate, and the last one ends when it has lasted
        lasted = _floats(rows, schema.DURATION)
        ends = (t + np.where(np.isfinite(lasted), lasted, 0.0))[np.isfinite(t)]
        odd_durations = int((~(lasted > 0) | (lasted > LONGEST_S)).sum())
        forward = forward[:0]
    at, parked = most_common_point(x[tracked], y[tracked])
    left, right = _eye(rows, "left"), _eye(rows, "right")
    lost = (0, 0) if left is None or right is None else (int((~left & right).sum()), int((left & ~right).sum()))
    outside = (
        0
        if extent is None
        else int(outside_of(x[tracked], y[tracked], extent).sum()) + int((stated & _infinite(x, y)).sum())
    )
    return SampleCounts(
        rows=len(t),
        tracked=int(tracked.sum()),
        first=float(times.min()) if times.size else np.nan,
        last=float(ends.max()) if ends.size else np.nan,
        begins_at=float(t[0]) if len(t) else np.nan,
        ends_at=float(t[-1]) if len(t) else np.nan,
        step=float(np.median(forward)) if forward.size else np.nan,
        backwards=int((steps < 0).sum()),
        repeated=int((steps == 0).sum()),
        no_time=int((~np.isfinite(t)).sum()),
        parked=parked,
        parked_at=at,
        outside=outside,
        left_lost=lost[0],
        right_lost=lost[1],
        odd_durations=odd_durations,
    )


def _infinite(x: FloatArray, y: FloatArray) -> BoolArray:
    return np.isinf(x) | np.isinf(y)


def _eye(rows: pl.DataFrame, side: str) -> BoolArray | None:
    if f"{side}_x" not in rows.columns:
        return None
    seen = np.isfinite(_floats(rows, f"{side}_x")) & np.isfinite(_floats(rows, f"{side}_y"))
    stated = f"{side}_valid"
    return seen & rows[stated].fill_null(False).to_numpy() if stated in rows.columns else seen


def _floats(rows: pl.DataFrame, name: str) -> FloatArray:
    return rows[name].cast(pl.Float64).fill_null(float("nan")).to_numpy()


def _key(row: tuple[object, ...]) -> Key:
    return Key(*("" if label is None else str(label) for label in row))


# --- The report as a file that its owner alone can read.


def write_findings(findings: Findings, path: Path) -> None:
    """Write a report as ``.html`` or, with any other ending, as JSON; it is there whole or not at all."""
    is_page = path.suffix.lower() == ".html"
    text = _page(findings) if is_page else json.dumps(findings.to_dict(), indent=2, ensure_ascii=False) + "\n"
    write_private(path, text)


def _page(findings: Findings) -> str:
    counted = f"{findings.participants:,} participants and {findings.recordings:,} recordings."
    sections = [
        visual_report.ReportSection(
            f"{KINDS[kind][0]} ({len(items):,})".capitalize(),
            (
                visual_report.paragraph(KINDS[kind][1]),
                visual_report.html_table(
                    ["participant", "what was found"], [[item.participant, item.sentence] for item in items]
                ),
            ),
        )
        for kind, items in findings.by_kind().items()
    ]
    head = visual_report.ReportSection("Private", (visual_report.html_warning(NOT_TO_PUBLISH),))
    return visual_report.html_page(f"{findings.study}: what does not fit the declaration", counted, [head, *sections])
