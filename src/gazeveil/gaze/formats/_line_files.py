# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How EyeLink's ASC looks when we write it."""

from __future__ import annotations

import re

import polars as pl

from gazeveil.errors import InputError
from gazeveil.gaze.fileio.messages import Rule
from gazeveil.gaze.fileio.numbers import milliseconds, plain_numbers
from gazeveil.gaze.formats._event_files import AmongRows, with_known_numbers
from gazeveil.gaze.formats._eyelink_lines import event_lines
from gazeveil.gaze.formats._writing import Losses, Piece, TextFile, cannot_hold
from gazeveil.gaze.recording import Key
from gazeveil.geometry import Unit

_IMAGE = Rule("TRIAL_VAR", "image")
_NAMES_A_PICTURE = re.compile(r"\.[A-Za-z0-9]{2,4}\b")
_PUPIL_WORDS = {"area": "AREA", "diameter": "DIAMETER"}


class EyeLinkFile(TextFile):
    """An ASC file for each participant; each recording is a block, its trial and stimulus are messages."""

    format_name = "eyelink-asc"
    ending = ".asc"
    units = (Unit.PIXEL,)
    labels = ("observer", "stimulus", "trial")
    eyes_only = True
    takes_events = True

    def __init__(self, losses: Losses) -> None:
        super().__init__(losses)
        self._begun = False
        self._last = "0"
        self._said: list[str] = []
        self._among = AmongRows()

    def begin(self, piece: Piece) -> str:
        """Return the messages that name the recording, and the head of its block."""
        names = [f"TRIALID {piece.key.trial}"]
        if piece.key.stimulus:
            names.append(f"!V TRIAL_VAR image {piece.key.stimulus}")
        self._check_names(piece.key, names)
        if not piece.samples.height:
            raise InputError(f"the recording {piece.key} has no samples", hint="leave it out")
        eyes = " ".join(side.upper() for side in self._eyes(piece))
        if not piece.sides:
            self.losses.add("that gaze is of both eyes together: it stands as the left eye's")
        start = self._times(piece)[0]
        width, height = piece.geometry.width_px or 1.0, piece.geometry.height_px or 1.0
        rate = "" if piece.rate_hz is None else f"\tRATE\t{piece.rate_hz:.17g}"
        pupil = _PUPIL_WORDS.get(piece.pupil_unit)
        self.losses.add(
            f"the unit of the pupil, {piece.pupil_unit}", int(pupil is None and bool(piece.pupil_unit) and _any(piece))
        )
        lines = [] if self._begun else ["** WRITTEN BY gazeveil IN THE FORM OF EYELINK ASC"]
        lines += [] if piece.veiled is None else [f"** {piece.veiled.sentence}"]
        lines += [f"MSG\t{start} {name}" for name in names]
        lines += [] if piece.veiled is None else [f"MSG\t{start} {piece.veiled.sentence}"]
        lines += [
            f"MSG\t{start} GAZE_COORDS 0.00 0.00 {width - 1:.17g} {height - 1:.17g}",
            f"START\t{start} \t{eyes}\tSAMPLES\tEVENTS",
            "PRESCALER\t1",
            "VPRESCALER\t1",
            *([f"PUPIL\t{pupil}"] if pupil else []),
            f"EVENTS\tGAZE\t{eyes.replace(' ', chr(9))}{rate}",
            f"SAMPLES\tGAZE\t{eyes.replace(' ', chr(9))}{rate}",
        ]
        self._begun = True
        self._said = [*names, *([] if piece.veiled is None else [piece.veiled.sentence])]
        return "\n".join(lines) + "\n"

    def rows(self, piece: Piece) -> str:
        """Return the sample lines with the events among them: dots where gaze is lost, with a pupil of 0."""
        eye, shown = self._eyes(piece)[0], piece.key.stimulus
        self._among.add(event_lines(with_known_numbers(piece.events), eye, self._said, shown, self.losses))
        if not piece.samples.height:
            return ""
        columns = [self._times(piece)]
        sides = self._eyes(piece)
        for side in sides:
            prefix = f"{side}_" if piece.sides else ""
            x, y = piece.column(f"{prefix}x"), piece.column(f"{prefix}y")
            pupil = piece.column(f"{prefix}pupil")
            lost = x.is_null() | y.is_null()
            self.losses.add("pupils while gaze is lost", int((lost & pupil.is_not_null()).sum()))
            columns += [plain_numbers(values).fill_null(".") for values in (x, y)]
            columns.append(
                pl.Series(["0.0"]).new_from_index(0, len(x)).zip_with(lost, plain_numbers(pupil).fill_null("."))
            )
        columns.append(pl.Series(["." * (5 if len(sides) == 2 else 3)]).new_from_index(0, piece.samples.height))
        self._last = columns[0][-1]
        frame = pl.DataFrame([column.alias(str(place)) for place, column in enumerate(columns)])
        text = frame.write_csv(include_header=False, separator="\t", quote_style="never")
        return self._among.put(text, piece.column("t").to_numpy())

    def end(self) -> str:
        """Return the end of the block, after the events that are left."""
        return self._among.rest() + f"END\t{self._last} \tSAMPLES\tEVENTS\n"

    def _eyes(self, piece: Piece) -> tuple[str, ...]:
        return piece.sides or ("left",)

    def _times(self, piece: Piece) -> pl.Series:
        times = piece.column("t").to_numpy()
        if (times < 0).any():
            raise InputError(
                f"the recording {piece.key} has times before 0, and an EyeLink's clock has none",
                hint="write Parquet, CSV or BIDS, which hold any time",
            )
        return milliseconds(times)

    def _check_names(self, key: Key, names: list[str]) -> None:
        if key.stimulus and _IMAGE.name_in(names[-1]) != key.stimulus:
            raise cannot_hold(self.format_name, "stimulus", key.stimulus)
        named_by_trial = not key.stimulus and _NAMES_A_PICTURE.search(key.trial) is not None
        if not key.trial or key.trial.strip(" \t:=") != key.trial or named_by_trial:
            raise cannot_hold(self.format_name, "trial", key.trial)


def _any(piece: Piece) -> bool:
    return any(name.endswith("pupil") and piece.samples[name].count() for name in piece.samples.columns)
