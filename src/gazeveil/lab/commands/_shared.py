# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What commands of experiments share: options, lists of names and numbers, scenes, what is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from gazeveil.errors import InputError, OptionError, closest
from gazeveil.files import write_all
from gazeveil.terminal.printing import Progress, json_text, print_json, print_table, progress

if TYPE_CHECKING:
    from gazeveil.lab.experiments.heatmap_scenes import Gallery


MostPeople = Annotated[int, typer.Option("--participants", min=2, help="Maximum number of participants.")]
NoiseSeed = Annotated[int, typer.Option("--seed", min=0, help="Seed of all noise.")]
Out = Annotated[Path | None, typer.Option("--out", help="Folder for the numbers and a picture.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of everything random.")]
Veils = Annotated[
    str,
    typer.Option("--veils", help="Mechanisms, comma-separated: none, presets, kaleido-lphu …; by default fifteen."),
]


def data_with(sets: str) -> Any:
    """Return the option for the folder that holds data sets."""
    return typer.Option("--data", help=f"Folder that holds {sets}; found here or above.")


Number = TypeVar("Number", int, float)
Table = tuple[str, Sequence[str], Sequence[Sequence[object]]]
"""Title, columns and rows."""


def names_in(text: str, mark: str = ",") -> tuple[str, ...]:
    """Return the names of a list with commas, or other marks, between."""
    return tuple(name.strip() for name in text.split(mark) if name.strip())


def numbers_in(text: str, kind: Callable[[str], Number], option: str) -> tuple[Number, ...]:
    """Return the numbers of a list with commas between.

    Raises:
        OptionError: If one of them is none.
    """
    try:
        return tuple(kind(part) for part in text.split(","))
    except ValueError:
        raise OptionError(f"{option} takes numbers with commas between them, not {text!r}") from None


def check_drawing(out: Path | None) -> None:
    """Say at once, not after the work, that what draws is not installed."""
    from gazeveil.display import canvas

    if out is not None:
        canvas()


def run_experiment(name: str, options: Mapping[str, Any], out: Path | None, *, as_json: bool) -> None:
    """Run an experiment of the table, and show its rows."""
    from gazeveil.lab.bench.experiment import experiment

    check_drawing(out)
    one = experiment(name)
    with progress("measuring", quiet=as_json) as tell:
        rows = one.run(options, tell=tell)
    plain = {key: value for key, value in options.items() if not isinstance(value, Path | None)}
    told = {**plain, "rows": [row.to_dict() for row in rows]}
    show_found(out, name, told, one.picture and partial(one.picture, rows), one.tables(rows), as_json=as_json)


def show_found(
    out: Path | None,
    name: str,
    told: Mapping[str, Any],
    draw: Callable[[], bytes] | None,
    tables: Iterable[Table],
    *,
    as_json: bool,
) -> None:
    """Write ``NAME.json`` and ``NAME.png`` if there is a folder for them, and print the numbers as JSON or tables."""
    files: dict[str, bytes] = {}
    if out is not None:
        files = {f"{name}.json": (json_text(told, indent=1) + "\n").encode()}
        if draw is not None:
            files[f"{name}.png"] = draw()
        write_all(out, files)
    if as_json:
        print_json({**told, "files": list(files)})
        return
    for title, columns, rows in tables:
        print_table(title, columns, rows)
    if files:
        print(f"wrote {', '.join(files)} to {out}")


# --- `--data` of `gazeveil lab experiment heatmap` and `forecast`: sets of scenes by their names, or a folder.


def gallery_of(
    data: str, split: str, count: int, seed: int, tell: Progress, sizes: Mapping[str, float] = MappingProxyType({})
) -> Gallery:
    """Return the scenes of a set by its name, or of a folder.

    Args:
        data: The name or the folder.
        split: Which scenes of a set that has splits.
        count: How many scenes at most.
        seed: What is simulated or made follows from it.
        tell: Hears how far the work is.
        sizes: What is known about the screen of a corpus.

    Raises:
        OptionError: If nothing has this name, or the screen is known.
        InputError: If the files of a set are not found.
    """
    from gazeveil.lab.datasets import EDVAM_FILE, EYETRIBE_FILE, OSIE_FILE, VR_FOLDER
    from gazeveil.lab.experiments import heatmap_scenes as others
    from gazeveil.lab.experiments import heatmap_scenes as scenes

    if split not in tuple(scenes.Split):
        raise OptionError(f"no split is called {split!r}", hint=closest(split, scenes.Split))
    which = scenes.Split(split)
    named: dict[str, Callable[[], Gallery]] = {
        "simulated": lambda: scenes.simulated(which, count, seed, tell=tell),
        "osie": lambda: scenes.osie(_folder("osie") / OSIE_FILE, which, count),
        "web-pages": lambda: others.web_pages(_folder("osie") / OSIE_FILE, count, seed),
        "eyetribe": lambda: others.eyetribe(_folder(EYETRIBE_FILE.parts[0]) / EYETRIBE_FILE.name, count),
        "rooms": lambda: others.rooms(_folder(VR_FOLDER), count),
        "museum": lambda: others.museum(_folder(EDVAM_FILE.parts[0]) / EDVAM_FILE.name, count),
    }
    folder = Path(data)
    if data not in named and not folder.exists():
        raise OptionError(
            f"no set of scenes is called {data!r}, and no folder", hint=f"{closest(data, named)}; or give a folder"
        )
    is_osie, is_pictures = (folder / OSIE_FILE).is_file(), (folder / "fixations.csv").is_file()
    if sizes and (data in named or is_osie or is_pictures):
        raise OptionError(f"the screen of {data} is known", hint="sizes are for a corpus of your own")
    if data in named:
        return named[data]()
    if is_osie:
        return scenes.osie(folder / OSIE_FILE, which, count)
    return others.of_fixations(folder, count) if is_pictures else scenes.of_corpus(folder, count, sizes)


def _folder(name: str) -> Path:
    from gazeveil.lab.datasets import found_above

    folder = found_above(name)
    if folder is None:
        hint = "say where it is with --data FOLDER" if name == "osie" else f"put the data set into data/{name}"
        raise InputError(f"no folder data/{name} here or above", hint=hint)
    return folder
