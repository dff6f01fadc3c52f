# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What the network keeps in files: models and half-way states without pickle, and velocities to train on.

A file is a ``.npz`` of plain arrays; several files (other participants in each) load as one:

===============  ==============  ==================================================================
``velocity``     int16 (2, all)  all recordings one after another, in steps of ``quantum``; -32768 is missing
``quantum``      float64         deg/s per step
``lengths``      int64 (r,)      samples of each recording
``person``       int32 (r,)      whose it is: an index into ``names``
``session``      int32 (r,)      on which day
``names``        str (participants,)   everyone in the file
``rate_hz``      float64         the constant rate
``about``        str             how the data came about, as JSON
===============  ==============  ==================================================================

Needs numpy alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from gazeveil.errors import FileFormatError, InputError
from gazeveil.files import replacing
from gazeveil.lab.attacks.ekyt.windows import FASTEST, Floats, Scale, windows

Arrays = Mapping[str, NDArray[Any]]

FORMAT: Final = "gazeveil-ekyt"
VERSION: Final = 1
_ABOUT: Final = "about"


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """One trained embedder: its parameters by the names of `layers`, and the scale of its training set."""

    state: Arrays
    scale: Scale


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """One or more embedders that speak as one, and what they expect.

    Attributes:
        folds: The embedders; their embeddings are laid side by side (four give 512 numbers).
        rate_hz: The rate of the velocities they take.
        seconds: The windows they were trained on; they take others too.
        about: How they were trained: data, seed, recipe, curves, scores.
    """

    folds: tuple[Fold, ...]
    rate_hz: float
    seconds: float
    about: Mapping[str, Any]

    def save(self, path: Path, *, half: bool = False) -> None:
        """Write the model. With ``half`` the weights take 2 bytes each; norms and biases keep 4."""
        arrays = {}
        for number, fold in enumerate(self.folds):
            for name, values in fold.state.items():
                small = half and values.ndim > 1
                arrays[f"{number}/{name}"] = values.astype(np.float16) if small else values
        about = {
            "rate_hz": self.rate_hz,
            "seconds": self.seconds,
            "scales": [{"mean": fold.scale.mean, "sd": fold.scale.sd} for fold in self.folds],
            "about": dict(self.about),
        }
        save_arrays(path, arrays, {"kind": "model", **about})


def load_model(path: Path) -> Model:
    """Read a model.

    Raises:
        InputError: If there is no such file.
        FileFormatError: If it is not a model, or damaged.
    """
    arrays, about = load_arrays(path, "model")
    try:
        folds = tuple(
            Fold(
                {
                    name.partition("/")[2]: values.astype(np.float32) if values.dtype == np.float16 else values
                    for name, values in arrays.items()
                    if name.partition("/")[0] == str(number)
                },
                Scale(**scale),
            )
            for number, scale in enumerate(about["scales"])
        )
        model = Model(folds, float(about["rate_hz"]), float(about["seconds"]), dict(about["about"]))
    except (KeyError, TypeError, ValueError) as error:
        raise FileFormatError(path, expected="a model of EKYT", found=f"a faulty description ({error})") from error
    if not folds or not all(fold.state for fold in folds):
        raise FileFormatError(path, expected="a model of EKYT", found="a file without parameters")
    return model


def save_arrays(path: Path, arrays: Arrays, about: Mapping[str, Any]) -> None:
    """Write arrays and a note, whole or not at all."""
    note = json.dumps({"format": FORMAT, "version": VERSION, **about}, allow_nan=False)
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez(file, **{_ABOUT: np.array(note)}, **arrays)  # type: ignore[arg-type]


def load_arrays(path: Path, kind: str) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Read what `save_arrays` wrote."""
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            about = json.loads(str(file[_ABOUT]))
            arrays = {name: file[name] for name in file.files if name != _ABOUT}
    except FileNotFoundError:
        raise InputError(f"there is no file {path}", hint="check the path") from None
    except (BadZipFile, KeyError, EOFError, AttributeError, OSError, ValueError) as error:
        raise FileFormatError(path, expected=f"a {kind} of EKYT (.npz)", found=str(error) or "damaged") from error
    said = (about.get("format"), about.get("version"), about.get("kind")) if isinstance(about, dict) else about
    if said != (FORMAT, VERSION, kind):
        raise FileFormatError(path, expected=f"a {kind} of EKYT, version {VERSION}", found=repr(said))
    return arrays, about


# --- Gaze of many participants as training takes it: velocities in a compact file, and windows with labels in memory.


QUANTUM: Final = FASTEST / 32000.0
MISSING: Final = np.iinfo(np.int16).min


@dataclass(frozen=True, slots=True, eq=False)
class Velocities:
    """Recordings of many participants at one rate.

    Attributes:
        recordings: One (2, samples) array each, int16 in steps of ``quantum`` deg/s; -32768 is missing.
        person: Index into ``names`` of each recording's participant.
        session: Session of each recording.
        names: Everyone.
        rate_hz: The constant rate.
        about: How the data came about.
        quantum: deg/s per step.
    """

    recordings: tuple[NDArray[np.int16], ...]
    person: NDArray[np.int32]
    session: NDArray[np.int32]
    names: tuple[str, ...]
    rate_hz: float
    about: dict[str, Any]
    quantum: float = QUANTUM

    def __post_init__(self) -> None:
        if not len(self.recordings) == len(self.person) == len(self.session):
            raise InputError("every recording needs a participant and a session")
        if len(self.person) and not 0 <= int(self.person.min()) <= int(self.person.max()) < len(self.names):
            raise InputError("a recording belongs to a participant without a name")

    def __len__(self) -> int:
        return len(self.recordings)

    def __iter__(self) -> Iterator[NDArray[np.float32]]:
        """Yield each recording's velocities in deg/s, NaN where missing."""
        return (unpacked(recording, self.quantum) for recording in self.recordings)

    def windows(self, samples: int, step: int | None = None) -> Windows:
        """Return all windows that are at least half there; by default they do not overlap."""
        cut = [windows(velocity, samples, step or samples).astype(np.float16) for velocity in self]
        counts = [len(some) for some in cut]
        everything = np.concatenate(cut) if cut else np.empty((0, 2, samples), dtype=np.float16)
        return Windows(
            everything, np.repeat(self.person.astype(np.int64), counts), np.repeat(self.session, counts), self.rate_hz
        )

    def save(self, path: Path) -> None:
        """Write the file, whole or not at all."""
        with replacing(path) as temporary, temporary.open("wb") as file:
            np.savez_compressed(
                file,
                velocity=np.concatenate([*self.recordings, np.empty((2, 0), dtype=np.int16)], axis=1),
                quantum=np.float64(self.quantum),
                lengths=np.array([recording.shape[1] for recording in self.recordings], dtype=np.int64),
                person=self.person,
                session=self.session,
                names=np.array(self.names),
                rate_hz=np.float64(self.rate_hz),
                about=np.array(json.dumps(self.about)),
            )


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """What training takes: windows of raw velocity and whose they are.

    Attributes:
        velocity: (n, 2, samples) float16 or float32 in deg/s, clamped to ±1000, not yet scaled; NaN where missing.
        labels: (n,) integers, one number per participant.
        session: (n,) session of each window; training does not look at it.
        rate_hz: The rate.
    """

    velocity: Floats
    labels: NDArray[np.int64]
    session: NDArray[np.int32]
    rate_hz: float

    def __post_init__(self) -> None:
        if self.velocity.ndim != 3 or self.velocity.shape[1] != 2:
            raise InputError(f"windows have the shape (n, 2, samples), not {self.velocity.shape}")
        if not len(self.velocity) == len(self.labels) == len(self.session):
            raise InputError("every window needs a label and a session")

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def samples(self) -> int:
        """Samples of a window."""
        return int(self.velocity.shape[2])

    @property
    def seconds(self) -> float:
        """Length of a window."""
        return self.samples / self.rate_hz

    def of(self, people: Iterable[int]) -> Windows:
        """Return the windows of these participants only."""
        kept = np.isin(self.labels, np.array(sorted(people), dtype=np.int64))
        return Windows(self.velocity[kept], self.labels[kept], self.session[kept], self.rate_hz)


def packed(velocity: Floats) -> NDArray[np.int16]:
    """Return velocities in deg/s as whole numbers of steps; missing ones as -32768."""
    missing = ~np.isfinite(velocity)
    steps = np.round(np.clip(np.where(missing, 0.0, velocity), -FASTEST, FASTEST) / QUANTUM).astype(np.int16)
    steps[missing] = MISSING
    return steps


def unpacked(steps: NDArray[np.int16], quantum: float = QUANTUM) -> NDArray[np.float32]:
    """Return deg/s, NaN where missing."""
    velocity = steps.astype(np.float32) * np.float32(quantum)
    velocity[steps == MISSING] = np.nan
    return velocity


def load(paths: Sequence[Path]) -> Velocities:
    """Read one or more files of velocities; the same name in two files is the same participant."""
    if not paths:
        raise InputError("no file of velocities was given")
    parts = [_load(Path(path)) for path in paths]
    rates = {part.rate_hz for part in parts}
    if len(rates) > 1 or len({part.quantum for part in parts}) > 1:
        raise InputError(f"the files differ in rate or step: {', '.join(f'{rate:g} Hz' for rate in sorted(rates))}")
    names = tuple(dict.fromkeys(name for part in parts for name in part.names))
    index = {name: number for number, name in enumerate(names)}
    person = [np.array([index[part.names[number]] for number in part.person], dtype=np.int32) for part in parts]
    return Velocities(
        tuple(recording for part in parts for recording in part.recordings),
        np.concatenate(person),
        np.concatenate([part.session for part in parts]),
        names,
        parts[0].rate_hz,
        parts[0].about,
        parts[0].quantum,
    )


def _load(path: Path) -> Velocities:
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            ends = np.cumsum(file["lengths"])
            flat = file["velocity"]
            if flat.dtype != np.int16 or flat.ndim != 2 or flat.shape != (2, int(ends[-1]) if len(ends) else 0):
                raise FileFormatError(path, expected="int16 velocities of the stated lengths", found=str(flat.shape))
            return Velocities(
                tuple(np.split(flat, ends[:-1], axis=1)) if len(ends) else (),
                file["person"],
                file["session"],
                tuple(str(name) for name in file["names"]),
                float(file["rate_hz"]),
                json.loads(str(file["about"])),
                float(file["quantum"]),
            )
    except FileNotFoundError:
        raise InputError(f"there is no file {path}", hint="check the path") from None
    except (BadZipFile, KeyError, EOFError, json.JSONDecodeError, OSError, ValueError) as error:
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(path, expected="a file of velocities (.npz)", found=str(error) or "damaged") from error
