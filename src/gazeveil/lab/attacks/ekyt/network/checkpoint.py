# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Files of arrays with a note: half-way states of training, and models. No pickle, so opening one runs no code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from gazeveil.errors import FileFormatError, InputError
from gazeveil.files import replacing
from gazeveil.lab.attacks.ekyt.network.preprocess import Scale

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
