# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How Pupil Labs' folders look when we write them: gaze, and beside it pupils and events in files of their own."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Mapping

import numpy as np
import polars as pl

from gazeveil.gaze.formats._event_files import Rows, as_tables, lengths_of
from gazeveil.gaze.formats._samples import PER_SECOND
from gazeveil.gaze.formats._table_files import constant, times_in, veiled_column
from gazeveil.gaze.formats._writing import Losses, Piece, TableFile
from gazeveil.gaze.formats._written_numbers import plain_numbers, scaled_times
from gazeveil.geometry import Unit

_MILLISECONDS = 1000.0


class PupilFolder(TableFile):
    """A table of gaze with tables beside it; what is found by its time stands beside."""

    takes_events = True

    def __init__(self, losses: Losses) -> None:
        super().__init__(losses)
        self._begun: set[str] = set()
        self._latest = -np.inf

    @abstractmethod
    def pupil_table(self, piece: Piece, right: pl.Series, left: pl.Series) -> tuple[str, pl.DataFrame]:
        """Return the name of the file with pupils, and the pupils as its columns."""

    @abstractmethod
    def event_tables(self, piece: Piece) -> Mapping[str, Rows]:
        """Return the tables of events by the names of their files."""

    def about(self, piece: Piece) -> Mapping[str, str]:
        """Return the files that describe the recording."""
        return {}

    def beside(self, piece: Piece, *, is_first: bool) -> Mapping[str, str]:
        """Return the rows of pupils and events, after their header if they are the first."""
        tables = dict(as_tables(self.event_tables(piece), piece.events, self.losses))
        if "pupil" in piece.samples.columns and piece.samples.height:
            name, table = self.pupil_table(piece, *self._pupils(piece))
            tables[name] = table
        texts = {}
        for name, table in tables.items():
            plain = table.select(plain_numbers(column) for column in table)
            texts[name] = plain.write_csv(include_header=name not in self._begun)
            self._begun.add(name)
        return {**(self.about(piece) if is_first else {}), **texts}

    def _pupils(self, piece: Piece) -> list[pl.Series]:
        """Return the pupils of the right and the left eye; that of both together where it is not their mean."""
        times = piece.column("t").to_numpy()
        latest = np.maximum.accumulate(np.concatenate(([-np.inf if piece.begins else self._latest], times)))
        self._latest = float(latest[-1])
        late = int((times <= latest[:-1]).sum())
        self.losses.add("which pupil is whose where the time repeats or goes back: they are found by their time", late)
        sizes = pl.DataFrame([piece.column(name) for name in ("pupil", "right_pupil", "left_pupil")])
        none = int((sizes["pupil"] <= 0).sum())
        self.losses.add("pupils of 0 or less, which stand for none", none)
        sizes = sizes.select(pl.when(pl.all() > 0).then(pl.all()))
        eyes = sizes.select("right_pupil", "left_pupil")
        if eyes.mean_horizontal().equals(sizes["pupil"], null_equal=True, check_names=False):
            return [eyes["right_pupil"], eyes["left_pupil"]]
        self.losses.add(
            "the pupils of single eyes, of which the pupil is not the mean", int(_any(eyes) and piece.begins)
        )
        return [sizes["pupil"], sizes["pupil"]]


def _any(eyes: pl.DataFrame) -> bool:
    return any(column.count() for column in eyes)


class PupilCoreFile(PupilFolder):
    """Pupil Player's ``gaze_positions.csv`` and the files beside it, in a folder for each participant."""

    format_name = "pupil-core"
    ending = "/gaze_positions.csv"
    units = (Unit.FRACTION,)
    pupil_units = ("mm", "px")
    labels = ("observer",)

    def columns(self, piece: Piece) -> Mapping[str, pl.Series]:
        """Return Pupil Player's columns; its y begins at the bottom."""
        return {
            "gaze_timestamp": piece.column("t"),
            "confidence": piece.column("valid").fill_null(False).cast(pl.Float64),
            "norm_pos_x": piece.column("x"),
            "norm_pos_y": self._from_below(piece.column("y")),
            **veiled_column(piece),
        }

    def _from_below(self, y: pl.Series) -> pl.Series:
        turned = 1.0 - y
        inexact = int(((1.0 - turned) != y).fill_null(False).sum())
        self.losses.add("the last digit of y, which begins at the bottom", inexact)
        return turned

    def pupil_table(self, piece: Piece, right: pl.Series, left: pl.Series) -> tuple[str, pl.DataFrame]:
        """Return a row for each eye and sample; those that were lost have no confidence."""
        size = {"mm": "diameter_3d", "px": "diameter"}[piece.pupil_unit]
        eyes = [
            pl.DataFrame(
                {
                    "pupil_timestamp": piece.column("t"),
                    "eye_id": constant(piece, eye),
                    "confidence": sizes.is_not_null().cast(pl.Float64),
                    "diameter": pl.Series([None] * len(sizes), dtype=pl.Float64),
                    size: sizes,
                }
            )
            for eye, sizes in ((0, right), (1, left))
        ]
        rows = np.arange(2 * piece.samples.height).reshape(2, -1).T.ravel()
        return "pupil_positions.csv", pl.concat(eyes)[rows]

    def event_tables(self, piece: Piece) -> Mapping[str, Rows]:
        """Return fixations, blinks and annotations."""
        return {
            "fixations.csv": Rows("fixation", ("x", "y"), self._fixations),
            "blinks.csv": Rows("blink", (), self._blinks),
            "annotations.csv": Rows("message", ("text",), self._annotations),
        }

    def _fixations(self, events: pl.DataFrame) -> dict[str, pl.Series]:
        place = {"norm_pos_x": events["x"], "norm_pos_y": self._from_below(events["y"])}
        return {"start_timestamp": events["onset"], "duration": self._lengths(events, _MILLISECONDS), **place}

    def _blinks(self, events: pl.DataFrame) -> dict[str, pl.Series]:
        return {"start_timestamp": events["onset"], "duration": self._lengths(events, 1.0)}

    def _annotations(self, events: pl.DataFrame) -> dict[str, pl.Series]:
        return {"timestamp": events["onset"], "label": events["text"], "duration": self._lengths(events, 1.0)}

    def _lengths(self, events: pl.DataFrame, per_second: float) -> pl.Series:
        """Return how long events last; starts and lengths give back their ends."""
        return pl.Series(lengths_of(events["onset"].to_numpy(), events["offset"].to_numpy(), per_second, self.losses))


class PupilCloudFile(PupilFolder):
    """Pupil Cloud's ``gaze.csv`` and the files beside it, in a folder for each participant; sessions are recordings."""

    format_name = "pupil-cloud"
    ending = "/gaze.csv"
    units = (Unit.PIXEL,)
    pupil_units = ("mm",)
    labels = ("observer", "session")

    def columns(self, piece: Piece) -> Mapping[str, pl.Series]:
        """Return Pupil Cloud's columns."""
        return {
            "recording id": constant(piece, piece.key.session),
            "timestamp [ns]": times_in(piece, "ns", self.losses),
            "gaze x [px]": piece.column("x"),
            "gaze y [px]": piece.column("y"),
            **veiled_column(piece),
        }

    def about(self, piece: Piece) -> Mapping[str, str]:
        """Return the description: who wore the device, and the viewing plane that gaze lies on."""
        plane = piece.geometry
        size = {} if plane.width_px is None else {"scene_camera_resolution": [plane.width_px, plane.height_px]}
        note = {} if piece.veiled is None else {"veiled": piece.veiled.sentence}
        about = {"wearer_id": piece.key.observer, **size, **note}
        return {"info.json": json.dumps(about, indent=2, ensure_ascii=False) + "\n"}

    def pupil_table(self, piece: Piece, right: pl.Series, left: pl.Series) -> tuple[str, pl.DataFrame]:
        """Return a row for each sample."""
        return "3d_eye_states.csv", pl.DataFrame(
            {
                "recording id": constant(piece, piece.key.session),
                "timestamp [ns]": times_in(piece, "ns", Losses(())),
                "pupil diameter left [mm]": left,
                "pupil diameter right [mm]": right,
            }
        )

    def event_tables(self, piece: Piece) -> Mapping[str, Rows]:
        """Return fixations, saccades, blinks and events."""

        def spans(events: pl.DataFrame) -> dict[str, pl.Series]:
            times = {f"{name} timestamp [ns]": self._time(events[ours]) for name, ours in _SPANS.items()}
            return {"recording id": pl.Series([piece.key.session] * events.height, dtype=pl.String), **times}

        def fixations(events: pl.DataFrame) -> dict[str, pl.Series]:
            return {**spans(events), "fixation x [px]": events["x"], "fixation y [px]": events["y"]}

        def saccades(events: pl.DataFrame) -> dict[str, pl.Series]:
            return {**spans(events), "amplitude [deg]": events["amplitude"]}

        def messages(events: pl.DataFrame) -> dict[str, pl.Series]:
            recording = pl.Series([piece.key.session] * events.height, dtype=pl.String)
            return {"recording id": recording, "timestamp [ns]": self._time(events["onset"]), "name": events["text"]}

        return {
            "fixations.csv": Rows("fixation", ("x", "y"), fixations),
            "saccades.csv": Rows("saccade", ("amplitude",), saccades),
            "blinks.csv": Rows("blink", (), spans),
            "events.csv": Rows("message", ("text",), messages),
        }

    def _time(self, seconds: pl.Series) -> pl.Series:
        text, inexact = scaled_times(seconds.to_numpy(), PER_SECOND["ns"])
        self.losses.add("the last digit of the times of events, which ns cannot tell", inexact)
        return text


_SPANS = {"start": "onset", "end": "offset"}
