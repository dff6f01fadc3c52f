# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How the tables of each format look when we write them: its columns, in its order and units."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

import polars as pl

from gazeveil.errors import InputError
from gazeveil.gaze.formats._event_files import lengths_of
from gazeveil.gaze.formats._event_rows import AnnotatedFile, LabelledFile
from gazeveil.gaze.formats._naming import a_name
from gazeveil.gaze.formats._samples import PER_SECOND
from gazeveil.gaze.formats._writing import Losses, Piece, TableFile, cannot_hold
from gazeveil.gaze.formats._written_numbers import scaled_times
from gazeveil.gaze.recording import Key
from gazeveil.geometry import Geometry, Unit

_LETTERS = {"left": "L", "right": "R"}
_TIME, _WHO, _SESSION = "Recording timestamp [μs]", "Participant name", "Recording name"
_SHOWN, _VEILED = "Presented Stimulus name", "Veiled"


def times_in(piece: Piece, unit: str, losses: Losses) -> pl.Series:
    """Return the times of samples in another unit."""
    text, inexact = scaled_times(piece.column("t").to_numpy(), PER_SECOND[unit])
    losses.add(f"the last digit of times, which {unit} cannot tell", inexact)
    return text


def constant(piece: Piece, value: object) -> pl.Series:
    """Return a column that says the same on all rows."""
    text = None if value in {None, ""} else str(value)
    return pl.Series([text] * piece.samples.height, dtype=pl.String)


def _flags(known: pl.Series) -> pl.Series:
    return known.fill_null(False).cast(pl.Int64)


def veiled_column(piece: Piece) -> dict[str, pl.Series]:
    """Return the column by which tables without messages say that gaze is veiled."""
    return {} if piece.veiled is None else {"veiled": constant(piece, "true")}


class DelimitedFile(TableFile):
    """Our own CSV or TSV: `schema.KEYS` and `schema.SAMPLES`, time in seconds."""

    format_name = "csv"
    masks = False
    takes_lists = True

    def __init__(self, losses: Losses) -> None:
        super().__init__(losses)
        self._geometry: Geometry | None = None

    def begin(self, piece: Piece) -> str:
        """Refuse gaze on another viewing plane: the table has no place to say so."""
        self._geometry = self._geometry or piece.geometry
        if piece.geometry != self._geometry:
            raise InputError(
                f"one table holds gaze on one viewing plane, found {piece.geometry} after {self._geometry}",
                hint="convert the recordings one by one, or write Parquet",
            )
        return ""

    def columns(self, piece: Piece) -> Mapping[str, pl.Series]:
        """Return labels and samples as they are."""
        labels = {name: _text(piece, value) for name, value in piece.key._asdict().items()}
        return {**labels, **{name: piece.samples[name] for name in piece.samples.columns}, **veiled_column(piece)}


class TabFile(DelimitedFile):
    """The same with tabs."""

    delimiter = "\t"


def _text(piece: Piece, value: str) -> pl.Series:
    return pl.Series([value] * piece.samples.height, dtype=pl.String)


class TobiiTsvFile(LabelledFile):
    """Tobii Pro Lab's export; gaze in pixels or fractions of the screen. Messages are rows without a sensor."""

    format_name = "tobii-tsv"
    units = (Unit.PIXEL, Unit.FRACTION)
    pupil_units = ("mm",)
    delimiter = "\t"
    time_unit = "us"
    kinds: ClassVar[Mapping[str, tuple[str, ...]]] = {"fixation": ("x", "y"), "saccade": ()}
    numbered = True

    def __init__(self, losses: Losses) -> None:
        super().__init__(losses)
        self._shown: Counter[Key] = Counter()
        self._last: Key | None = None
        self._unit: Unit | None = None
        self._key = Key("", "", "", "")

    def is_read_back(self, text: str) -> bool:
        """Any text is, of which there is some."""
        return text != ""

    def message(self, time: str, text: str) -> str:
        """Return a row of the recording that says something."""
        known = {_TIME: time, _WHO: self._key.observer, _SESSION: self._key.session, _SHOWN: self._key.stimulus}
        said = {**known, "Event": text}
        row = pl.DataFrame({name: pl.Series([said.get(name) or None], dtype=pl.String) for name in self._header})
        return row.write_csv(include_header=False, separator=self.delimiter).removesuffix("\n")

    def begin(self, piece: Piece) -> str:
        """Count presentations, as reading does: a trial is one of them."""
        person = piece.key._replace(trial="")
        if person == self._last:
            raise InputError(
                f"a Tobii export distinguishes trials by what is shown between them, and {piece.key} follows another "
                "trial of the same stimulus",
                hint="write Parquet, CSV or BIDS, or give the recordings in the order in which they were made",
            )
        self._last = person
        self._shown[person] += 1
        self.losses.add("the names of trials: they are counted", int(piece.key.trial != str(self._shown[person])))
        self._unit = self._unit or piece.geometry.unit
        if piece.geometry.unit is not self._unit:
            raise InputError(
                f"one export holds gaze in one unit, found {piece.geometry} after gaze in {self._unit}",
                hint="convert the recordings one by one, or write Parquet",
            )
        self._key = piece.key
        self.said = set() if piece.veiled is None else {f"{_VEILED}: {piece.veiled.sentence}"}
        if self._header:
            return ""
        self._header = list(self.columns(replace(piece, samples=piece.samples.clear(), begins=False)))
        return self.delimiter.join(self._header) + "\n"

    def columns(self, piece: Piece) -> Mapping[str, pl.Series]:
        """Return Pro Lab's columns."""
        tag = "DACS px" if piece.geometry.unit is Unit.PIXEL else "DACS norm"
        said = piece.said()
        found = {
            _TIME: times_in(piece, "us", self.losses),
            "Sensor": constant(piece, "Eye Tracker"),
            _WHO: constant(piece, piece.key.observer),
            _SESSION: constant(piece, piece.key.session),
            "Recording resolution width [px]": _size(piece, piece.geometry.width_px),
            "Recording resolution height [px]": _size(piece, piece.geometry.height_px),
            _SHOWN: constant(piece, piece.key.stimulus),
            "Event": pl.Series([_VEILED if text else None for text in said], dtype=pl.String),
            "Event value": said,
            f"Gaze point X [{tag}]": piece.column("x"),
            f"Gaze point Y [{tag}]": piece.column("y"),
        }
        for side in piece.sides:
            found |= {f"Gaze point {side} {axis.upper()} [{tag}]": piece.column(f"{side}_{axis}") for axis in "xy"}
        found |= {f"Pupil diameter {side} [mm]": values for side, values in piece.pupils().items()}
        for side in piece.sides:
            # no code where gaze is known and the eye is not: two lost eyes would take the gaze along
            valid = piece.column(f"{side}_valid").fill_null(False)
            unsaid = ~valid & piece.column("x").is_not_null()
            found[f"Validity {side}"] = (
                pl.DataFrame({"valid": valid, "unsaid": unsaid})
                .select(pl.when("valid").then(pl.lit("Valid")).when(~pl.col("unsaid")).then(pl.lit("Invalid")))
                .to_series()
            )
        movements = self.movements if piece.samples.height else self.movements.clear()
        found["Eye movement type"] = movements["kind"].str.to_titlecase()
        found["Eye movement type index"] = movements["number"]
        return found | {f"Fixation point {axis.upper()} [{tag}]": movements[axis] for axis in "xy"}


def _size(piece: Piece, value: float | None) -> pl.Series:
    return constant(piece, None if value is None else f"{value:.17g}")


class TobiiSdkFile(TableFile):
    """What scripts save of Tobii's SDK: pairs in brackets, fractions of the screen."""

    format_name = "tobii-sdk"
    ending = ".csv"
    units = (Unit.FRACTION,)
    pupil_units = ("mm",)
    labels = ("observer",)
    eyes_only = True

    def columns(self, piece: Piece) -> Mapping[str, pl.Series]:
        """Return the SDK's columns; gaze of both eyes together stands in the columns of each."""
        found = {"device_time_stamp": times_in(piece, "us", self.losses)}
        sides = piece.sides or ("left", "right")
        if not piece.sides:
            self.losses.add("that gaze is of both eyes together: it stands in the columns of each", int(piece.begins))
        pupils = piece.pupils()
        for side in sides:
            x, y = (piece.column(f"{side}_{axis}" if piece.sides else axis) for axis in "xy")
            pairs = [(a, b) if a is not None and b is not None else None for a, b in zip(x, y, strict=True)]
            found[f"{side}_gaze_point_on_display_area"] = pl.Series(
                [f"({pair[0]!r}, {pair[1]!r})" if pair else "(nan, nan)" for pair in pairs], dtype=pl.String
            )
            found[f"{side}_gaze_point_validity"] = pl.Series([int(pair is not None) for pair in pairs], dtype=pl.Int64)
            if side in pupils:
                found[f"{side}_pupil_diameter"] = pupils[side]
                found[f"{side}_pupil_validity"] = _flags(pupils[side].is_not_null())
        return found | veiled_column(piece)


class GazepointFile(AnnotatedFile):
    """Gazepoint Analysis' export of all gaze: one file for each participant, one media for each recording."""

    format_name = "gazepoint-csv"
    ending = "_all_gaze.csv"
    units = (Unit.FRACTION,)
    pupil_units = ("mm", "px")
    labels = ("observer", "stimulus", "trial")
    kinds: ClassVar[Mapping[str, tuple[str, ...]]] = {"fixation": ("x", "y"), "blink": ()}
    numbered = True

    def is_read_back(self, text: str) -> bool:
        """User data of 0 is none."""
        return text not in {"", "0"}

    def __init__(self, losses: Losses) -> None:
        super().__init__(losses)
        self._shown: Counter[str] = Counter()
        self._media = -1
        self._pupil_unit: str | None = None

    def begin(self, piece: Piece) -> str:
        """Number the media; each is a recording."""
        self._media += 1
        self._shown[piece.key.stimulus] += 1
        if self._media and not all(self._shown):
            raise InputError(
                f"a Gazepoint file distinguishes recordings by their media, and {piece.key.observer} has several "
                "recordings, not all with one",
                hint="name the stimuli (--stimulus), or write Parquet, CSV or BIDS",
            )
        count = self._shown[piece.key.stimulus]
        self.losses.add("the names of trials: they are counted", int(piece.key.trial != str(count)))
        self._pupil_unit = self._pupil_unit or piece.pupil_unit
        return ""

    def columns(self, piece: Piece) -> Mapping[str, pl.Series]:
        """Return Gazepoint's columns."""
        media = {"MEDIA_ID": constant(piece, self._media), "MEDIA_NAME": constant(piece, piece.key.stimulus)}
        found = {
            **(media if piece.key.stimulus else {}),
            "TIME(s)": piece.column("t"),
            "BPOGX": piece.column("x"),
            "BPOGY": piece.column("y"),
            "BPOGV": _flags(piece.column("valid")),
        }
        for side in piece.sides:
            letter = _LETTERS[side]
            found |= {f"{letter}POG{axis.upper()}": piece.column(f"{side}_{axis}") for axis in "xy"}
            found[f"{letter}POGV"] = _flags(piece.column(f"{side}_valid"))
        value, valid = ("PMM", "PMMV") if piece.pupil_unit == "mm" else ("PD", "PV")
        for side, sizes in piece.pupils().items():
            found |= {_LETTERS[side] + value: sizes, _LETTERS[side] + valid: _flags(sizes.is_not_null())}
        return {**found, **self._events(piece.samples.height)}

    def _events(self, rows: int) -> dict[str, pl.Series]:
        events, spoken = (self.movements, self.spoken) if rows else (self.movements.clear(), self.spoken.clear())
        is_fixation, is_blink = ((events["kind"] == kind).fill_null(False) for kind in ("fixation", "blink"))
        only = events.with_columns(
            pl.when(is_fixation).then(pl.col(name)).alias(name) for name in ("number", "onset", "offset", "x", "y")
        )
        lengths = lengths_of(only["onset"].to_numpy(), only["offset"].to_numpy(), 1.0, self.losses)
        return {
            **{f"FPOG{axis.upper()}": only[axis] for axis in "xy"},
            "FPOGS": only["onset"],
            "FPOGD": pl.Series(lengths, nan_to_null=True),
            "FPOGID": only["number"],
            "FPOGV": is_fixation.cast(pl.Int64),
            "BKID": events["number"].zip_with(is_blink, pl.Series([0]).new_from_index(0, len(is_blink))),
            "USER": spoken,
        }


class SrReportFile(AnnotatedFile):
    """A sample report as SR Research's Data Viewer writes it."""

    format_name = "sr-report"
    units = (Unit.PIXEL,)
    labels = ("observer", "stimulus", "trial")
    delimiter = "\t"
    missing = "."
    eyes_only = True
    kinds: ClassVar[Mapping[str, tuple[str, ...]]] = {"saccade": (), "blink": ()}

    def is_read_back(self, text: str) -> bool:
        """A dot stands for nothing."""
        return text.strip() == text and text not in {"", "."}

    def begin(self, piece: Piece) -> str:
        """Refuse labels that stand for none in such reports."""
        for what in ("observer", "stimulus", "trial"):
            label = getattr(piece.key, what)
            if a_name(label) != label or (not label and what != "stimulus"):
                raise cannot_hold(self.format_name, what, label)
        return ""

    def columns(self, piece: Piece) -> Mapping[str, pl.Series]:
        """Return Data Viewer's columns; AVERAGE where there are not two eyes."""
        found = {
            "RECORDING_SESSION_LABEL": constant(piece, piece.key.observer),
            "TRIAL_INDEX": constant(piece, piece.key.trial),
            "image": constant(piece, piece.key.stimulus),
            "TIMESTAMP": times_in(piece, "ms", self.losses),
        }
        eyes = {side: f"{side}_" for side in piece.sides}
        for name, prefix in (eyes if len(eyes) == 2 else {"average": "", **eyes}).items():
            found |= {f"{name.upper()}_GAZE_{axis.upper()}": piece.column(f"{prefix}{axis}") for axis in "xy"}
            if f"{prefix}pupil" in piece.samples.columns:
                found[f"{name.upper()}_PUPIL_SIZE"] = piece.column(f"{prefix}pupil")
        kinds, spoken = self.movements["kind"], self.spoken
        if not piece.samples.height:
            kinds, spoken = kinds.clear(), spoken.clear()
        eye = piece.sides[0] if len(piece.sides) == 2 else "average"
        for kind in self.kinds:
            found[f"{eye.upper()}_IN_{kind.upper()}"] = _flags(kinds == kind)
        return {**found, "SAMPLE_MESSAGE": spoken}
