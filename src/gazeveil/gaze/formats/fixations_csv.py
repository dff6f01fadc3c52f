# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Lists of fixations as text: one row per fixation, with its place and, where it is stated, its start and duration.

SR Research's fixation reports, exports of Tobii, SMI and Gazepoint and Pupil Labs' downloads are recognised by their
columns; other tables by common names, or by ``--column``. Units of time have to be stated and are never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final

import numpy as np
import polars as pl

from gazeveil.errors import FileFormatError, GeometryError
from gazeveil.gaze import schema
from gazeveil.gaze.fileio.columns import GAZE_UNITS, TIME_UNITS, Columns, parse_name, words_in
from gazeveil.gaze.fileio.messages import a_name, usual_variable
from gazeveil.gaze.fileio.numbers import MISSING, is_one_of
from gazeveil.gaze.fileio.row_assembly import (
    PER_SECOND,
    KeyRuns,
    combined,
    completed,
    in_seconds,
    lines_before,
    stated,
    stated_screen,
)
from gazeveil.gaze.fileio.tables import Batch, NonRowLines, Table, check_delimiter
from gazeveil.gaze.fileio.text import read_head
from gazeveil.gaze.formats.base import Chunk, ReadOptions, ReadReport, file_format
from gazeveil.gaze.formats.delimited import SPELLINGS as OF_TABLES
from gazeveil.gaze.formats.pupil_cloud import about_recording, scene_plane, wearer_labels, wearers_in
from gazeveil.gaze.formats.pupil_core import observer_by_folder
from gazeveil.geometry import Geometry, Unit

_PLACES = (
    *("currentfix?", "mappedfixationpoint?", "fixationpoint?", "fixationposition?", "mappedfixation?", "fixation?"),
    *("fix?", "fpog?", "normpos?", "location?", "mean?", "avg?", "?avg", "?mean", "?cord"),
)
FIXATION_SPELLINGS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        **{axis: (*(place.replace("?", axis) for place in _PLACES), *OF_TABLES[axis]) for axis in "xy"},
        "t": (
            *("currentfixstart", "eventstarttrialtime", "starttimestamp", "fpogs", "fixationstart", "fixstart"),
            *("starttime", "start", "tstart", "stime", "onset", "onsettime", "recordingtimestamp", *OF_TABLES["t"]),
        ),
        "duration": (
            *("currentfixduration", "gazeeventduration", "fixationduration", "eventduration", "fpogd", "fixduration"),
            *("duration", "fixdur", "dur"),
        ),
        "end": (
            *("currentfixend", "eventendtrialtime", "endtimestamp", "fixationend", "endtime", "end", "tend", "etime"),
            *("offset", "stop", "stoptime"),
        ),
        "index": (
            *("currentfixindex", "eyemovementtypeindex", "fixationindex", "fixationid", "fpogid", "fixindex", "fixid"),
            *("eventindex", "index"),
        ),
        "kind": ("eyemovementtype", "gazeeventtype", "eventtype", "category", "label", "event", "type", "name"),
        "eye": ("eye", "eyereported", "eyelr"),
        "valid": ("valid", "isvalid", "fpogv", "fixationdetectedonsurface"),
        "observer": ("recordingsessionlabel", "participantname", *OF_TABLES["observer"]),
        "stimulus": (
            *("presentedstimulusname", "presentedmedianame", "recordingmedianame", "medianame", "stimuliname"),
            *OF_TABLES["stimulus"],
            "scene",
        ),
        "session": ("recordingname", "recordingid", *OF_TABLES["session"]),
        "trial": OF_TABLES["trial"],
        "screen_width": ("recordingresolutionwidth",),
        "screen_height": ("recordingresolutionheight",),
    }
)
"""Our column → what others call it: letters and digits in lower case, without the unit. The first one counts."""

MAPPABLE = ("t", "x", "y", "duration", "valid", "observer", "stimulus", "session", "trial")
_BEST_PLANES = ("dacspx", "adcspx", "px", "pix", "pixel", "pixels", "")
_WITH_UNIT = re.compile(r"(.*\S)\s*\[(\w+)\]$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Vendor:
    """Whose export it is.

    Attributes:
        name: For participants.
        marks: Columns that only this export has together.
        units: The unit of columns of time that do not say theirs.
        plane: The unit of places, where columns do not say it.
        y_up: Whether y grows upwards.
        counts_trials: Whether, where trials have no column, a stimulus that comes again or a time that begins anew is
            the next trial.
        repeats: Whether a fixation stands on several rows, one for each sample in it.
        only: How rows of fixations begin, where rows of other kinds have other columns.
        not_ours: Columns that are called as ours are and are something else.
        wearers: Where it is stated who looked, if not in columns: by the ``folder``'s name, or in the ``download``.
    """

    name: str
    marks: frozenset[str] = frozenset()
    units: Mapping[str, str] = field(default_factory=dict)
    plane: Unit | None = None
    y_up: bool = False
    counts_trials: bool = False
    repeats: bool = False
    only: str = ""
    not_ours: frozenset[str] = frozenset()
    wearers: str = ""


TABLE = Vendor(name="a table")
VENDORS: Final = (
    Vendor(
        name="SR Research's fixation report",
        marks=frozenset({"currentfixx", "currentfixy"}),
        units=dict.fromkeys(("currentfixstart", "currentfixend", "currentfixduration"), "ms"),
        plane=Unit.PIXEL,
        counts_trials=True,
    ),
    Vendor(
        name="Tobii Studio's list of fixations",
        marks=frozenset({"fixationindex", "timestamp", "fixationduration", "mappedfixationpointx"}),
        units={"timestamp": "ms", "fixationduration": "ms"},
        plane=Unit.PIXEL,
        counts_trials=True,
    ),
    Vendor(
        name="Tobii's export of eye movements",
        marks=frozenset({"fixationpointx", "gazeeventduration"}),
        units={"gazeeventduration": "ms"},
        plane=Unit.PIXEL,
        counts_trials=True,
        repeats=True,
        not_ours=frozenset({"event", "name"}),
    ),
    Vendor(
        name="SMI's list of events",
        marks=frozenset({"eventtype", "trial", "start", "duration", "locationx", "locationy"}),
        units=dict.fromkeys(("start", "end", "duration"), "us"),
        plane=Unit.PIXEL,
        only="Fixation",
    ),
    Vendor(
        name="Gazepoint's list of fixations",
        marks=frozenset({"fpogx", "fpogs", "fpogd"}),
        units={"fpogs": "s", "fpogd": "s"},
        plane=Unit.FRACTION,
        counts_trials=True,
        not_ours=frozenset({"user"}),
    ),
    Vendor(
        name="Pupil Core's list of fixations",
        marks=frozenset({"normposx", "starttimestamp", "duration"}),
        units={"starttimestamp": "s", "duration": "ms"},
        plane=Unit.FRACTION,
        y_up=True,
        wearers="folder",
    ),
    Vendor(
        name="Pupil Cloud's list of fixations",
        marks=frozenset({"fixationid", "starttimestamp", "fixationx", "sectionid"}),
        wearers="download",
    ),
)


def vendor_of(words: Iterable[str]) -> Vendor:
    """Return whose export has columns of these words."""
    found = set(words)
    return next((vendor for vendor in VENDORS if vendor.marks <= found), TABLE)


def find_columns(columns: Columns, vendor: Vendor, options: ReadOptions) -> tuple[dict[str, str], dict[str, str]]:
    """Return where our columns are, and the units of time that the user states (``--column 'duration=LEN [ms]'``).

    Raises:
        FileFormatError: If places are missing, or a column that the user names is not there.
    """
    found, said = {}, {}
    for ours, given in options.columns.items():
        theirs, with_unit = given, _WITH_UNIT.match(given)
        if theirs not in columns.names and with_unit and with_unit[2].lower() in TIME_UNITS:
            theirs, said[ours] = with_unit[1], TIME_UNITS[with_unit[2].lower()]
        if ours not in MAPPABLE or theirs not in columns.names:
            raise columns.missing(
                f"{theirs!r} (for {ours})", (parse_name(theirs).words,), f"ours: {', '.join(MAPPABLE)}"
            )
        found[ours] = theirs
    if not {"x", "y"} & set(found):
        found |= _place(columns)
    elif not {"x", "y"} <= set(found):
        raise columns.missing("for both x and y", hint="name both with --column x=NAME --column y=NAME")
    taken = set(found.values()) | {name for name in columns.names if parse_name(name).words in vendor.not_ours}
    for ours, spellings in FIXATION_SPELLINGS.items():
        if ours not in found and ours not in {"x", "y"}:
            rest = Columns(columns.path, tuple(name for name in columns.names if name not in taken), columns.line)
            if name := rest.find(*spellings):
                found[ours] = name
                taken.add(name)
    if "stimulus" not in found:
        places = {place: name for name in reversed(columns.names) if (place := usual_variable(name)) is not None}
        found |= {"stimulus": places[min(places)]} if places and places[min(places)] not in taken else {}
    return found, said


def _place(columns: Columns) -> dict[str, str]:
    """Return x and y of one viewing plane: in pixels of the screen if they are there, else as they come."""
    for spelling_x, spelling_y in zip(FIXATION_SPELLINGS["x"], FIXATION_SPELLINGS["y"], strict=True):
        pairs = {}
        for name in columns.names:
            words, unit = parse_name(name)
            if words == spelling_x and (other := columns.find_with_unit(spelling_y, (unit,))):
                pairs[unit] = name, other
        if pairs:
            best = next((unit for unit in _BEST_PLANES if unit in pairs), next(iter(pairs)))
            return {"x": pairs[best][0], "y": pairs[best][1]}
    raise columns.missing(
        "of places, such as 'x' and 'y'",
        (*FIXATION_SPELLINGS["x"], *FIXATION_SPELLINGS["y"]),
        "say which, for example --column x=NAME --column y=NAME",
    )


def time_unit(
    columns: Columns, name: str, ours: str, vendor: Vendor, said: Mapping[str, str], options: ReadOptions
) -> tuple[str, bool]:
    """Return the unit of a column of time, and whether it is known rather than the user's one word for all columns.

    Raises:
        FileFormatError: If nobody says it; it is never guessed.
    """
    words, unit = parse_name(name)
    known = said.get(ours) or TIME_UNITS.get(unit) or vendor.units.get(words)
    if known is None and name == "RecordingTimestamp":
        known = "ms"
    if known is None and options.time_unit is None:
        raise FileFormatError(
            columns.path,
            line=columns.line,
            column=name,
            expected="a unit of time in the column's name, such as 'duration [ms]'",
            found="none",
            hint=f"state it with --time-unit ms, or for one column alone with --column {ours}={name + ' [ms]'!r}",
        )
    return known or str(options.time_unit), known is not None


def place_unit(name: str, vendor: Vendor, options: ReadOptions) -> Unit | None:
    """Return the unit of a column of places; None if nobody says it."""
    unit = parse_name(name).unit
    for ending, ours in {**GAZE_UNITS, "dacsnorm": "norm", "adcsnorm": "norm", "mcsnorm": "norm"}.items():
        if unit == ending or (ours == "px" and unit.endswith("px")):
            return Unit(ours)
    return vendor.plane or (None if options.geometry is None else options.geometry.unit)


# --- The format.


_GAZEPOINT_NAME = re.compile(r"(.+?)_fixations?$", re.IGNORECASE)
_OF_SAMPLES = re.compile(r"gazepoint(left|right)?[xy]|(left|right|average)gaze[xy]|gaze[xy]$|gazepositiononsurface")
_PREAMBLES = ("dataproperties", "begaze", "iview")
_TRUE = ("true", "1", "1.0", "yes", "valid")
_EYES = {"l": "left", "left": "left", "r": "right", "right": "right"}
_MOVEMENTS = re.compile(
    r"fix|visual intake|sacc|blink|pursuit|glissade|pso|unclassified|eyesnotfound|unknown|user event"
)
_SURELY_KINDS = {"eyemovementtype", "gazeeventtype", "eventtype"}
_TEXT = {*schema.KEYS, "kind", "eye", "valid", "index"}
_words = partial(words_in, marks="\t;,|", around=' "\ufeff')
_LENGTHS_S, _STEPS = (0.01, 10.0), (0.5, 300.0)
"""How long fixations last, in the middle of a list, and how far apart they begin, in such lengths."""


@file_format("fixations-csv")
class FixationsCsv:
    """A list of fixations; it may hold many participants and stimuli."""

    title = "List of fixations (CSV or TSV)"
    suffixes = (".csv", ".tsv", ".txt", ".xls")

    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether the header has columns of fixations and none of samples."""
        if head.lstrip().startswith((b"{", b"[{")):  # JSON
            return False
        lines = [line for line in head.decode("utf-8", errors="replace").splitlines() if _is_content(line)]
        if lines and parse_name(lines[0].strip("\ufeff[] ")).words in _PREAMBLES:
            return any(_follows_preamble(line) for line in lines)
        if not lines or "\0" in lines[0]:
            return False
        names = _words(lines[0])
        if any(_OF_SAMPLES.match(name) for name in names):
            return False
        vendor = vendor_of(names)
        if vendor.marks and "fpogx" in vendor.marks:
            return _GAZEPOINT_NAME.match(path.name.split(".", 1)[0]) is not None
        if vendor is not TABLE:
            return True
        has = {ours: bool(names & set(spellings)) for ours, spellings in FIXATION_SPELLINGS.items()}
        return has["x"] and has["y"] and (has["duration"] or (has["t"] and has["end"] and has["index"]))

    def read(self, path: Path, options: ReadOptions, report: ReadReport) -> Iterator[Chunk]:
        """Yield the lists, one for each participant, stimulus, session and trial."""
        preamble = lines_before(path, _follows_preamble, options.encoding)
        vendor = vendor_of(_words(_header(path, preamble)))
        non_rows = NonRowLines(re.compile(rb"(?m)^(?!%b).+$" % vendor.only.encode())) if vendor.only else None
        table = Table(
            path,
            options,
            report,
            delimiter=check_delimiter(options.delimiter),
            header=_numbered(path, options),
            comments=True,
            is_header=_follows_preamble if preamble else None,
            non_rows=non_rows,
        )
        options = _with_preamble(options, preamble)
        layout = _layout(table.columns, options, report)
        if layout.vendor.wearers == "folder" and options.observer is None and "observer" not in layout.text:
            options = replace(options, observer=observer_by_folder(path, report))
        runs = KeyRuns(path, trials_counted=layout.counts_trials)
        before = _Before()
        for number, batch in enumerate(table.batches(layout.text, layout.numbers)):
            if non_rows is not None:
                non_rows.taken()
            if not number:
                layout = layout.on_screen(path, batch.frame, options).without_odd_kinds(batch.frame)
            kept = _fixations_only(path, batch, layout, options, report, before)
            kept = _timed(table, _once(path, kept, layout, before), layout)
            if not len(kept.lines):
                continue
            fixations = _fixations(kept.frame, layout, options)
            before.check(path, fixations, layout, report)
            if layout.vendor.wearers == "download":
                labels = _wearers(path, kept, layout, options, report)
            else:
                labels = _labels(path, kept, fixations, layout, options, before)
            for run in runs.cut(labels, kept.lines):
                for piece in fixations[run.start : run.stop].iter_slices(options.chunk_rows):
                    yield Chunk(run.key, piece, layout.plane(path))
        if not before.fixations:
            raise FileFormatError(path, expected="fixations", found="none in the table")


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where in the list our columns are, and what they mean."""

    vendor: Vendor
    text: Mapping[str, str]
    numbers: Mapping[str, str]
    units: Mapping[str, str]
    units_known: bool
    unit: Unit | None
    geometry: Geometry | None
    counts_trials: bool

    def on_screen(self, path: Path, frame: pl.DataFrame, options: ReadOptions) -> _Layout:
        """Return the layout with the viewing plane of places, which columns of the first rows may state."""
        if self.unit is None:
            return self
        size: list[float | None] = [None, None]
        if {"screen_width", "screen_height"} <= set(frame.columns):
            first = frame.select("screen_width", "screen_height").drop_nulls().head(1).rows()
            size = list(first[0]) if first else size
        known = options.geometry
        if self.unit is Unit.PIXEL and size[0] is None:
            if self.vendor.wearers == "download":
                return replace(self, geometry=scene_plane(path, about_recording(path.parent), options))
            if known is None or known.width_px is None:
                return self
            size = [known.width_px, known.height_px]
        try:
            return replace(self, geometry=completed(Geometry(self.unit, *size), known))
        except GeometryError as error:
            raise FileFormatError(path, expected="a screen that can exist", found=error.message) from None

    def without_odd_kinds(self, frame: pl.DataFrame) -> _Layout:
        """Leave out a column that is called as kinds of eye movements often are, and holds something else."""
        name = self.text.get("kind")
        if name is None or parse_name(name).words in _SURELY_KINDS:
            return self
        if bool(is_one_of(frame["kind"].drop_nulls(), lambda word: _MOVEMENTS.search(word) is not None).all()):
            return self
        return replace(self, text={ours: theirs for ours, theirs in self.text.items() if ours != "kind"})

    def plane(self, path: Path) -> Geometry:
        """Return the viewing plane of places.

        Raises:
            FileFormatError: If neither the list nor the user says it.
        """
        if self.geometry is None:
            raise FileFormatError(
                path,
                expected="to know what x and y are",
                found="a list of fixations that does not say" + (" the screen's size" if self.unit else ""),
                hint="give the screen, for example --screen 1920x1080, or the unit with --unit deg",
            )
        return self.geometry


@dataclass(slots=True)
class _Before:
    """What earlier rows were like."""

    fixations: int = 0
    last: tuple[object, ...] | None = None
    eye: str = ""
    time: float = -np.inf
    shown: int = 0
    checked: bool = False

    def check(self, path: Path, rows: pl.DataFrame, layout: _Layout, report: ReadReport) -> None:
        """Look whether fixations last as long as fixations do: units that are wrong show here."""
        self.fixations += len(rows)
        if self.checked or not len(rows):
            return
        self.checked = True
        lasted = rows["duration"].drop_nulls().to_numpy()
        lasted = lasted[lasted > 0]
        if not lasted.size:
            return
        length = float(np.median(lasted))
        steps = np.diff(rows["t"].drop_nulls().to_numpy())
        steps = steps[steps > 0]
        apart = float(np.median(steps)) / length if steps.size else 1.0
        odd = ""
        if not _LENGTHS_S[0] <= length <= _LENGTHS_S[1]:
            odd = f"fixations last {length:.3g} s (median)"
        elif not _STEPS[0] <= apart <= _STEPS[1]:
            odd = f"fixations last {length:.3g} s and begin every {apart * length:.3g} s (medians)"
        if odd and not layout.units_known:
            raise FileFormatError(
                path,
                expected="units of time in which fixations last as long as fixations do",
                found=odd,
                hint="--time-unit is for starts and durations alike; state others with --column 'duration=NAME [ms]'",
            )
        if odd:
            report.remark(f"{odd}: are the units right?")


def _layout(columns: Columns, options: ReadOptions, report: ReadReport) -> _Layout:
    vendor = vendor_of(parse_name(name).words for name in columns.names)
    found, said = find_columns(columns, vendor, options)
    if "duration" in found:
        found.pop("end", None)
    elif "end" in found and "t" not in found:
        found.pop("end")
    ours = all(found.get(name) == name for name in (*schema.KEYS, *schema.REQUIRED, schema.DURATION))
    units: dict[str, str] = {}
    known = True
    for name in ("t", "end", "duration"):
        if name in found:
            chosen = replace(options, time_unit="s") if ours else options
            units[name], sure = time_unit(columns, found[name], name, vendor, said, chosen)
            known &= sure or ours
    if units.get("end", units.get("t")) != units.get("t"):
        raise columns.missing("of ends in the unit of starts")
    if "duration" not in found and "end" not in found:
        report.remark("the list does not say how long fixations lasted: each counts once")
    if "t" not in found:
        report.remark("the list does not say when fixations began: their order is that of the rows")
    if vendor is TABLE and options.columns.get("duration") is None and "duration" in found and not ours:
        report.remark(
            f"each row is read as a fixation, for its column {found['duration']!r}; --format csv reads samples"
        )
    return _Layout(
        vendor,
        {name: theirs for name, theirs in found.items() if name in _TEXT},
        {name: theirs for name, theirs in found.items() if name not in _TEXT},
        units,
        known,
        place_unit(found["x"], vendor, options),
        None,
        vendor.counts_trials and "trial" not in found,
    )


def _fixations_only(
    path: Path, batch: Batch, layout: _Layout, options: ReadOptions, report: ReadReport, before: _Before
) -> Batch:
    """Leave out other eye movements, and the other eye's fixations where one eye is asked for."""
    if "kind" in layout.text:
        is_fixation = is_one_of(batch.frame["kind"], lambda word: "fix" in word or word == "visual intake")
        mask = is_fixation.fill_null(False).to_numpy()
        if left_out := int((~mask).sum()):
            report.remark("rows of other eye movements were left out", left_out)
        batch = batch.take(mask)
    eyes = _eyes(batch.frame)
    if eyes is None:
        if options.eye != "both":
            raise FileFormatError(path, expected=f"the {options.eye} eye's own fixations", found="a list without eyes")
        return batch
    if options.eye != "both":
        return batch.take((eyes == options.eye).fill_null(False).to_numpy())
    for eye in eyes.drop_nulls().unique().to_list():
        if before.eye and eye != before.eye:
            raise FileFormatError(
                path,
                expected="the fixations of one eye",
                found="those of both, one after the other",
                hint="take one eye's: --eye left or --eye right",
            )
        before.eye = eye
    return batch


def _eyes(frame: pl.DataFrame) -> pl.Series | None:
    """Return whose fixation each row is, left or right, where the list says it."""
    if "eye" in frame.columns:
        named = frame["eye"]
    elif "kind" in frame.columns:  # SMI: Fixation L
        named = frame["kind"].str.extract(r"(?i)^fixation\s+(l|r|left|right)$")
    else:
        return None
    eyes = named.str.strip_chars().str.to_lowercase().replace_strict(_EYES, default=None, return_dtype=pl.String)
    return None if eyes.is_null().all() else eyes


def _timed(table: Table, batch: Batch, layout: _Layout) -> Batch:
    """Refuse fixations whose start or duration is missing, where others state it, and negative durations."""
    for name in layout.units:
        times = batch.frame[name]
        batch = table.reject(batch, times.is_null(), layout.numbers[name], "a number", times)
    if "end" in layout.units:
        batch = Batch(batch.frame.with_columns(duration=pl.col("end") - pl.col("t")), batch.lines)
    if schema.DURATION in batch.frame.columns:
        lasted = batch.frame[schema.DURATION]
        column = layout.numbers.get(schema.DURATION) or layout.numbers["end"]
        batch = table.reject(batch, lasted < 0, column, "a duration of 0 or more", lasted)
    return batch


def _once(path: Path, batch: Batch, layout: _Layout, before: _Before) -> Batch:
    """Take each fixation once: Tobii writes it on the row of every sample; elsewhere rows of one number are samples."""
    if "index" not in layout.text or not len(batch.lines):
        return batch
    names = [name for name in (*schema.KEYS, "eye", "index") if name in layout.text]
    frame = batch.frame.select(names)
    again = frame.select((pl.struct(names) == pl.struct(names).shift()).fill_null(False)).to_series().to_numpy().copy()
    again[0] = before.last == frame.row(0)
    again &= ~is_one_of(frame["index"].fill_null(""), MISSING.__contains__).to_numpy()
    before.last = frame.row(-1)
    if not again.any():
        return batch
    if not layout.vendor.repeats:
        at = int(np.flatnonzero(again)[0])
        raise FileFormatError(
            path,
            line=int(batch.lines[at]),
            column=layout.text["index"],
            expected="one row for each fixation",
            found=f"number {frame['index'][at]} on several",
            hint="is it a table of samples? read it without --format fixations-csv",
        )
    return batch.take(~again)


def _fixations(frame: pl.DataFrame, layout: _Layout, options: ReadOptions) -> pl.DataFrame:
    for name, unit in layout.units.items():
        frame = in_seconds(frame, PER_SECOND[unit], schema.DURATION if name == "end" else name)
    missing = [name for name in ("t", schema.DURATION) if name not in frame.columns]
    frame = frame.with_columns(pl.lit(None, pl.Float64).alias(name) for name in missing)
    if layout.vendor.y_up or options.y_up:
        span = 1.0 if layout.unit is Unit.FRACTION or layout.geometry is None else layout.geometry.y_span
        frame = frame.with_columns(y=span - pl.col("y"))
    if "valid" in layout.text:
        frame = frame.with_columns(is_one_of(frame["valid"], _TRUE.__contains__).alias("valid"))
    return combined(frame).select(*schema.REQUIRED, schema.DURATION)


def _labels(
    path: Path, batch: Batch, fixations: pl.DataFrame, layout: _Layout, options: ReadOptions, before: _Before
) -> pl.DataFrame:
    gazepoint = _GAZEPOINT_NAME.match(path.name.split(".", 1)[0]) if "fpogx" in layout.vendor.marks else None
    default = options.key(path, observer=options.observer or (gazepoint[1] if gazepoint else ""))._asdict()
    names = [name for name in schema.KEYS if name != "trial" or not layout.counts_trials]
    columns = []
    for name in names:
        if name not in layout.text:
            columns.append(pl.lit(default[name]).alias(name))
            continue
        empty = [token for token in batch.frame[name].unique().drop_nulls().to_list() if not a_name(token.strip(" -"))]
        said = pl.when(~pl.col(name).is_in(empty)).then(pl.col(name).str.strip_chars())
        columns.append(said.fill_null(default[name]).alias(name))
    labels = batch.frame.with_columns(columns)
    if not layout.counts_trials:
        return labels.select(names)
    return labels.select(*names, _shown(fixations["t"], before))


def _wearers(path: Path, batch: Batch, layout: _Layout, options: ReadOptions, report: ReadReport) -> pl.DataFrame:
    """Say whose each row is, as Pupil Cloud's other tables do."""
    recording = pl.col("session").fill_null("") if "session" in layout.text else pl.lit("", pl.String)
    about, wearers = about_recording(path.parent), wearers_in(path.parent / "sections.csv", options, report)
    rows = batch.frame.with_columns(recording=recording)
    return wearer_labels(rows, about, wearers, options, path, report)


def _shown(starts: pl.Series, before: _Before) -> pl.Series:
    """Number the stretches of rows in which time goes on: each time that a stimulus is shown it begins anew."""
    times = starts.to_numpy()
    known = np.flatnonzero(np.isfinite(times))
    back = np.zeros(len(times), dtype=np.int64)
    if len(known):
        back[known] = np.diff(times[known], prepend=before.time) < 0
        before.time = float(times[known[-1]])
    numbers = before.shown + np.cumsum(back)
    before.shown = int(numbers[-1]) if len(numbers) else before.shown
    return pl.Series("shown", numbers)


def _follows_preamble(line: str) -> bool:
    """Whether a line is the header of a list that Tobii Studio or SMI write after other lines."""
    names = _words(line)
    studio, smi = {"fixationindex", "timestamp", "fixationduration"}, {"eventtype", "locationx", "locationy"}
    return names >= studio or names >= smi


def _is_content(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip("\ufeff ").startswith("#")


def _header(path: Path, preamble: Sequence[str] = ()) -> str:
    """Return the line that names the columns: the first one, or the one after a preamble."""
    lines = read_head(path).decode("utf-8", errors="replace").splitlines()
    return next(filter(_follows_preamble if preamble else _is_content, lines), "")


def _numbered(path: Path, options: ReadOptions) -> list[str] | None:
    """Return column numbers as names for a list without a header; None if its first line is one.

    Raises:
        FileFormatError: If there is no header and the user does not say which column is which.
    """
    first = _header(path)
    mark = options.delimiter or max("\t;,|", key=first.count)
    fields = [field.strip(' "') for field in first.split(mark)]
    if len(fields) < 2 or not all(re.fullmatch(r"[-+]?[\d.]+(?:[eE][-+]?\d+)?", field) for field in fields):
        return None
    if not {"x", "y"} <= set(options.columns):
        raise FileFormatError(
            path,
            line=1,
            expected="a header line with the columns' names",
            found=f"numbers: {', '.join(fields[:6])}",
            hint="say which column is which by their numbers: --column x=2 --column y=3 --column 'duration=4 [ms]'",
        )
    return [str(place) for place in range(1, len(fields) + 1)]


def _with_preamble(options: ReadOptions, preamble: list[str]) -> ReadOptions:
    """Return the options completed with what Tobii Studio or SMI say before the list; what it says wins."""
    return replace(
        options,
        observer=stated(preamble, "Subject") or options.observer,
        stimulus=stated(preamble, "Stimulus") or options.stimulus,
        session=stated(preamble, "Recording") or options.session,
        geometry=stated_screen(preamble, "Screen resolution", options.geometry),
    )
