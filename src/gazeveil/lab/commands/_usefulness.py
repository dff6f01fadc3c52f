# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil lab experiment``: how useful maps and features are, how far forecasts hold, networks behind them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gazeveil.errors import InputError, MissingExtra, OptionError, closest
from gazeveil.files import replacing, write_all
from gazeveil.lab.commands._shared import Seed, names_in, numbers_in
from gazeveil.terminal import NamesOf
from gazeveil.terminal.options import DistanceMm, ScreenPx, SizeMm, print_assumed, sizes_of
from gazeveil.terminal.printing import AsJson, Progress, print_json, print_table, progress

if TYPE_CHECKING:
    from gazeveil.aggregate.saliency import Saliency
    from gazeveil.arrays import FloatArray
    from gazeveil.lab.experiments.feature_usefulness import Cell
    from gazeveil.lab.experiments.forecasts import JointOutcome
    from gazeveil.lab.experiments.heatmap_scenes import Gallery
    from gazeveil.lab.experiments.heatmap_usefulness import Plan
    from gazeveil.lab.training.picture_model import Score


EVERY = 1_000_000
"""More scenes than there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustOptions:
    """What was asked for on the command line."""

    pictures: Path | None
    contents: Path | None
    scenes: int
    participants: str
    methods: str


def trust(gallery: Gallery, plan: Plan, split: str, options: TrustOptions, out: Path | None, as_json: bool) -> None:
    """Release with the right picture, a wrong one and none; print or write what came out."""
    from gazeveil.lab.experiments import heatmap_usefulness as report
    from gazeveil.lab.experiments import heatmap_usefulness as study
    from gazeveil.lab.experiments.heatmap_scenes import watched_by

    if len(plan.epsilons) > 1 or plan.repeats > 1:
        raise OptionError("with pictures or --trust there are one ε and one draw", hint="run it once for each")
    if options.participants:
        gallery = watched_by(gallery, *_first_and_last(options.participants))
    gallery, pictures, categories = _pictured(gallery, options)
    kinds = names_in(options.methods)
    with progress("making heatmaps", quiet=as_json) as tell:
        tried = study.trials(
            gallery,
            pictures,
            participants=plan.observers,
            epsilon=str(plan.epsilons[0]),
            delta=str(plan.delta),
            kinds=kinds,
            seed=plan.seed,
            tell=tell,
        )
    about = {
        "data": gallery.name,
        "split": split,
        "scenes": len(gallery.scenes),
        "viewers": gallery.viewers,
        "drawn_with_replacement": [count for count in plan.observers if count > gallery.viewers],
        "epsilon": plan.epsilons[0],
        "delta": plan.delta,
        "seed": plan.seed,
    }
    files = [] if out is None else report.write_trust(tried, about, categories, out)
    if as_json:
        print_json({**report.to_dict(tried, about, categories), "files": files})
        return
    for line in study.lines(tried):
        print_table(
            f"{report.PICTURES[line.picture]}, n = {line.participants}, {line.scenes} scenes (± is a 95 % bound)",
            ["measure", "value"],
            [[title, report.cell(getattr(line, name), name)] for name, title in report.TITLES.items()],
        )
    if categories:
        print(report.category_table(study.by_category(tried, categories)))
    if out is not None:
        print(f"wrote {', '.join(files)} to {out}")


def _pictured(gallery: Gallery, options: TrustOptions) -> tuple[Gallery, dict[str, Saliency], dict[str, str]]:
    """Return the scenes that have a picture which the picture model never saw, what it says, and their categories."""
    from gazeveil.lab.experiments import heatmap_scenes as stored
    from gazeveil.lab.experiments.heatmap_scenes import OSIE_NEVER_SEEN, only, spread

    if options.pictures is not None and options.contents is not None:
        raise OptionError("--pictures and --contents exclude each other", hint="give one of them")
    names = [scene.name for scene in gallery.scenes]
    if options.contents is not None:
        return pictured_by(gallery, options.contents, options.scenes)
    if options.pictures is not None:
        if gallery.name == "osie":
            names = [name for name in names if int(name) in OSIE_NEVER_SEEN]
        gallery = only(gallery, spread(names, options.scenes))
        return gallery, stored.from_pictures(options.pictures, [scene.name for scene in gallery.scenes]), {}
    return gallery, {}, {}


def pictured_by(gallery: Gallery, contents: Path, scenes: int) -> tuple[Gallery, dict[str, Saliency], dict[str, str]]:
    """Return at most this many of the scenes that a file has predicted maps of, these maps, and their categories."""
    from gazeveil.lab.experiments import heatmap_scenes as stored
    from gazeveil.lab.experiments.heatmap_scenes import only, spread

    maps, labels = stored.from_maps(contents, [scene.name for scene in gallery.scenes])
    gallery = only(gallery, spread(list(maps), scenes))
    return gallery, maps, {name: labels[name] for name in maps if name in labels}


def _first_and_last(text: str) -> tuple[int, int]:
    first, dash, last = text.partition("-")
    if not (dash and first.isdecimal() and last.isdecimal()):
        raise OptionError(f"--only-participants takes the first and the last, as 9-15, not {text!r}")
    return int(first), int(last)


# --- ``gazeveil lab experiment forecast``: forecasts compared with outcomes.


GalleryOf = Callable[[str, str, int, int, Progress, Mapping[str, float]], "Gallery"]

PRODUCTS = ("heatmap", "heatmaps", "movie", "feature-group")
_COLUMNS = ("participants", "CC", "forecast", "forecast − CC", "9 of 10", "within")


def forecast_command(gallery_of: GalleryOf) -> Callable[..., None]:
    """Return the command; ``gallery_of`` finds scenes as the command beside it does."""

    def forecast(
        product: Annotated[
            str, typer.Option("--product", metavar=NamesOf("forecast"), help="Which forecasts.")
        ] = "heatmap",
        data: Annotated[
            str,
            typer.Option(
                "--data",
                help="`simulated`, `osie`, or any other name or folder that `experiment heatmap` takes. For features: "
                "`simulated`, the EyeTribe runs' Parquet file, or the folder of sessions in a headset.",
            ),
        ] = "simulated",
        participants: Annotated[
            str, typer.Option("--participants", help="Numbers of participants; by default as calibrated.")
        ] = "",
        epsilon: Annotated[str, typer.Option("--epsilon", metavar="NUMBER", help="ε of each release.")] = "",
        delta: Annotated[str, typer.Option("--delta", metavar="NUMBER", help="δ of each heatmap.")] = "1e-5",
        scenes: Annotated[int, typer.Option("--scenes", min=1, help="How many scenes at most.")] = 40,
        split: Annotated[
            str, typer.Option("--split", metavar=NamesOf("split"), help="`test` or `tune`, as for heatmap.")
        ] = "test",
        contents: Annotated[
            Path | None,
            typer.Option("--contents", help="For heatmap: maps predicted from the scenes' pictures, an .npz file."),
        ] = None,
        seed: Seed = 0,
        screen: ScreenPx = None,
        size_mm: SizeMm = None,
        distance_mm: DistanceMm = None,
        as_json: AsJson = False,
    ) -> None:
        """How far forecasts are from what comes out."""
        if product not in PRODUCTS:
            raise OptionError(f"no forecast of {product!r} is measured", hint=closest(product, PRODUCTS))
        sizes, assumed = sizes_of(screen, size_mm, distance_mm), ""
        if sizes and (product == "feature-group" or data in {"simulated", "osie"}):
            raise OptionError(f"the screen of {data} is known", hint="sizes are for a corpus of your own")
        if contents is not None and (product != "heatmap" or data == "simulated"):
            raise OptionError("--contents is for single heatmaps of scenes that have pictures")
        if product == "feature-group":
            _features(data, seed, as_json)
            return
        usual = "6,10,15,20,25,30,40,60,100,200" if product == "heatmap" else "15,30,100"
        people = numbers_in(participants or usual, int, "--participants")
        if product == "movie" and data == "simulated":
            rows = _films(people, epsilon or "3", scenes, seed, as_json)
            title = f"simulated films {split}"
        else:
            with progress("gathering gaze", quiet=as_json) as tell:
                gallery = gallery_of(data, split, scenes if contents is None else EVERY, seed, tell, sizes)
            gallery, pictures = (gallery, {}) if contents is None else pictured_by(gallery, contents, scenes)[:2]
            assumed = gallery.assumed
            split = gallery.split
            title = f"{gallery.name} {split}".rstrip() + f", {len(gallery.scenes)} scenes"
            rows = _maps(product, gallery, pictures, people, epsilon, delta, seed, as_json)
        if as_json:
            print_json({"product": product, "data": data, "split": split, "rows": rows, "assumed": assumed})
            return
        print_assumed(assumed)
        shown = [
            [_cell(row[name]) for name in ("participants", "mean", "expected", "off", "interval", "covered")]
            for row in rows
        ]
        print_table(f"{product}: forecast and outcome, {title}", list(_COLUMNS), shown)

    return forecast


def _maps(
    product: str,
    gallery: Gallery,
    pictures: Mapping[str, Saliency],
    people: tuple[int, ...],
    epsilon: str,
    delta: str,
    seed: int,
    quiet: bool,
) -> list[dict[str, Any]]:
    from gazeveil.aggregate.movie import HeatmapMovie
    from gazeveil.lab.experiments.forecasts import heatmap_outcomes, movie_outcome, osie_course, study_outcome

    with progress("making maps", quiet=quiet) as tell:
        if product == "heatmap":
            found = heatmap_outcomes(
                gallery, pictures, participants=people, epsilon=epsilon or "1", delta=delta, seed=seed, tell=tell
            )
            return [
                _row(one.participants, one.cc, one.expected, one.low, one.high) | {"prior": list(one.prior)}
                for one in found
            ]
        rows = []
        for done, count in enumerate(people):
            if product == "heatmaps":
                made = [study_outcome(gallery, len(gallery.scenes), count, epsilon or "3", seed)]
            else:
                mechanism = HeatmapMovie(epsilon=epsilon or "3")
                courses = [osie_course(gallery, image, count, seed) for image in range(len(gallery.scenes))]
                made = [movie_outcome(course, mechanism, gallery.geometry, 3.0, seed) for course in courses]
            rows.append(_joint(made))
            tell(done + 1, len(people))
    return rows


def _films(people: tuple[int, ...], epsilon: str, films: int, seed: int, quiet: bool) -> list[dict[str, Any]]:
    from gazeveil.aggregate.movie import HeatmapMovie
    from gazeveil.lab.experiments import forecasts as joint

    rows = []
    with progress("making movies", quiet=quiet) as tell:
        courses = [joint.film_course(max(people), joint.TEST_FILM + seed + film) for film in range(min(films, 4))]
        for done, count in enumerate(people):
            made = [
                joint.movie_outcome(course[:count], HeatmapMovie(epsilon=epsilon), joint.FILM, joint.FILM_S, seed)
                for course in courses
            ]
            rows.append(_joint(made))
            tell(done + 1, len(people))
    return rows


def _joint(made: list[JointOutcome]) -> dict[str, Any]:
    first = made[0]
    cc = tuple(value for one in made for value in one.cc)
    return _row(first.participants, cc, first.forecast.expected, first.forecast.low, first.forecast.high)


def _row(participants: int, cc: tuple[float, ...], expected: float, low: float, high: float) -> dict[str, Any]:
    mean = sum(cc) / len(cc)
    covered = sum(low <= value <= high for value in cc) / len(cc)
    found = {"participants": participants, "cc": list(cc), "mean": mean, "expected": expected}
    return {**found, "off": expected - mean, "interval": [low, high], "covered": covered}


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return f"{value[0]:.2f} to {value[1]:.2f}"
    return value if isinstance(value, int) else f"{value:.3f}"


def _features(data: str, seed: int, as_json: bool) -> None:
    from gazeveil.lab.experiments.forecasts import feature_outcomes, held_out

    if data != "simulated" and not Path(data).exists():
        raise OptionError(f"there is no {data}", hint="simulated, the EyeTribe runs, or sessions in a headset")
    with progress("simulating and extracting", quiet=as_json):
        cases = held_out(data)
    with progress("releasing", quiet=as_json) as tell:
        found = feature_outcomes(cases, seed, tell)
    if as_json:
        print_json({"product": "feature-group", "data": data, "rows": [asdict(row) for row in found]})
        return
    print_table(
        "features: forecast over real error (geometric mean), and how many releases lay in the interval",
        ["product", "held out", "releases", "error", "without data", "within", "real / forecast, 9 of 10"],
        [
            [
                *(row.product, row.kind, row.releases, f"{row.error:.2f}", f"{row.without_data:.2f}"),
                *(f"{row.covered:.0%}", f"{row.low:.2f} to {row.high:.2f}"),
            ]
            for row in found
        ],
    )


# --- ``gazeveil lab experiment heatmap-decoder``: train a decoder of heatmaps.


_OFTEN = {"osie": 2.0}
"""Sets that are drawn from more often than others."""
STUDIES, SCENES, _SIMULATED = 6, 24, 4.0
"""Simulated studies and the scenes of each, and how often they are drawn from beside a set."""


def experiment_heatmap_decoder(
    folder: Annotated[Path, typer.Argument(help="One folder per set, each with `images` and `fixations.csv`.")],
    out: Annotated[Path, typer.Option("--out", help="File for the weights, such as learned_bumps.npz.")],
    decoder: Annotated[
        str,
        typer.Option(
            "--decoder",
            help="`bumps`, `bumps_coarse`, `modes`, `modes_coarse`, or `pictured` (`bumps` where a picture is known).",
        ),
    ] = "bumps",
    contents: Annotated[
        list[Path] | None,
        typer.Option(
            "--contents", help="For `pictured`: maps of pictures that a model never saw; may be given several times."
        ),
    ] = None,
    start: Annotated[
        Path | None, typer.Option("--start", help="Weights to continue training from, at half the learning rate.")
    ] = None,
    steps: Annotated[
        int | None, typer.Option("--steps", min=1, help="How many steps of training.", show_default="as shipped")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of everything random.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Train a decoder of heatmaps on public fixations and on simulated participants.

    It runs on a GPU where PyTorch finds one; on a processor it takes hours. Contents are what
    `gazeveil lab experiment picture-model --maps` writes.
    """
    try:
        import torch
    except ImportError as missing:
        raise MissingExtra("torch", "attacks", "training the decoder") from missing
    import numpy as np

    from gazeveil.lab.experiments.heatmap_scenes import read_arrays
    from gazeveil.lab.training.decoder_viewers import read_contents, read_looks, simulated_looks
    from gazeveil.lab.training.heatmap_decoder import COURSES, fits, stored, train

    if decoder not in COURSES:
        raise OptionError(f"there is no decoder {decoder!r}", hint=f"decoders: {', '.join(COURSES)}")
    course, files = COURSES[decoder], contents or []
    if course.mixture.pictured != bool(files):
        raise OptionError(
            f"--decoder {decoder} {'needs' if course.mixture.pictured else 'takes no'} --contents",
            hint="only the decoder `pictured` learns what pictures are worth",
        )

    begun = None if start is None else read_arrays(start, "the weights of a decoder", "this command writes such a file")
    if begun is not None and not fits(course, begun):
        raise OptionError(f"{start} does not hold the weights of --decoder {decoder}", hint="it has other layers")

    places = sorted(each for each in folder.iterdir() if each.is_dir()) if folder.is_dir() else []
    if not places:
        raise InputError(
            f"{folder} holds no sets of fixations", hint="one folder per set, with images and fixations.csv"
        )
    said = [read_contents(each) for each in files]
    sets = [read_looks(each, _OFTEN.get(each.name, 1.0), said) for each in places]
    with progress("training", quiet=as_json) as tell:
        everything = [*sets, simulated_looks(STUDIES, SCENES, _SIMULATED, len(said))]
        device = "cuda" if torch.cuda.is_available() else "cpu"
        network = train(course, everything, seed=seed, device=device, steps=steps, start=begun, tell=tell)
    with replacing(out) as part, part.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **stored(network))
    counts = {place.name: len(each.values) for place, each in zip(places, sets, strict=True)}
    if as_json:
        print_json({"decoder": decoder, "steps": steps or course.steps, "seed": seed, "pictures": counts, "out": out})
        return
    shown = ", ".join(f"{count} of {name}" for name, count in counts.items())
    typer.echo(f"trained {decoder} for {steps or course.steps} steps on pictures: {shown}; weights are in {out}")


# --- ``gazeveil lab experiment picture-model``: train and judge the model that predicts gaze from a picture.


def experiment_picture_model(
    folder: Annotated[Path, typer.Argument(help="One folder per set, each with `images` and `fixations.csv`.")],
    out: Annotated[Path | None, typer.Option("--out", help="File for the readout, such as readout.npz.")] = None,
    maps: Annotated[
        Path | None,
        typer.Option("--maps", help="File for the predicted maps of the tested pictures."),
    ] = None,
    folds: Annotated[
        int,
        typer.Option(
            "--folds",
            min=0,
            help="Test all pictures that are trained on: N parts, each by readouts of the other parts; 0 is off.",
        ),
    ] = 0,
    without: Annotated[
        str, typer.Option("--without", help="Sets that are tested but not trained on; with --folds, neither.")
    ] = "",
    held_out: Annotated[
        float,
        typer.Option(
            "--held-out", min=0.0, max=0.9, help="Share of pictures for testing; held_out.txt takes precedence."
        ),
    ] = 0.17,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="How many readouts are averaged.")] = 3,
    epochs: Annotated[int, typer.Option("--epochs", min=1, help="How often each picture is seen.")] = 16,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Train the picture model on public pictures and fixations, and test it on pictures that were held out.

    With --folds it is tested on all other pictures instead: a part at a time, by readouts of the other parts.
    It runs on a GPU where PyTorch finds one; on a processor it takes hours.
    """
    try:
        import torch
    except ImportError as missing:
        raise MissingExtra("torch", "attacks", "training the picture model") from missing
    import numpy as np

    from gazeveil.gaze.picture_model import backbone
    from gazeveil.lab.training import picture_sets
    from gazeveil.lab.training.picture_model import Frozen, contents, judge, mean_score, stored, train_readouts

    _check_folds(folds, out, maps)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    places, left_out = _sets_in(folder, without)
    with progress("training", quiet=as_json) as tell:
        sets = [picture_sets.read_set(each, held_share=held_out, seed=seed) for each in places]
        trained = [each for each in sets if each.name not in left_out]
        if not trained:
            raise OptionError("--without leaves no set to train on")
        # sets that are judged, and sets that are trained on for it
        rounds = [(part, part) for part in picture_sets.folds(trained, folds, seed)] if folds else [(sets, trained)]
        frozen = Frozen(backbone(), device)
        channels = [int(each.shape[1]) for each in frozen(torch.zeros(1, 3, 64, 64, device=device))]
        judged: list[list[Score]] = []
        content: dict[str, FloatArray] = {}
        for which, (tested, seen) in enumerate(rounds):

            def step(share: float, before: int = which) -> None:
                tell(before + share, len(rounds))

            readouts = train_readouts(
                frozen, channels, seen, count=seeds, seed=seed, device=device, epochs=epochs, tell=step
            )
            judged.append([judge(frozen, readouts, each, seen, device) for each in tested])
            if maps is not None:
                for each in tested:
                    content |= contents(frozen, readouts, each, seen, device)
        scores = [mean_score(parts) for parts in zip(*judged, strict=True)]
    for place, arrays in ((out, stored(readouts)), (maps, content)):
        if place is not None:
            with replacing(place) as part, part.open("wb") as file:
                np.savez_compressed(file, **arrays)
    if as_json:
        told = {"seeds": seeds, "epochs": epochs, "folds": folds, "scores": [each.to_dict() for each in scores]}
        print_json({**told, "out": out})
        return
    _print_scores(scores)


def _check_folds(folds: int, out: Path | None, maps: Path | None) -> None:
    if folds == 1:
        raise OptionError("--folds 1 leaves nothing to train on", hint="at least 2; 0 is off")
    if folds and out is not None:
        raise OptionError("--folds takes no --out", hint="each part has readouts of its own, and none is kept")
    if folds and maps is None:
        raise OptionError("--folds needs --maps", hint="--maps FILE keeps the predicted maps")


def _sets_in(folder: Path, without: str) -> tuple[list[Path], set[str]]:
    """Return the folders of the sets, and the names of those that are not trained on."""
    places = sorted(each for each in folder.iterdir() if each.is_dir()) if folder.is_dir() else []
    if not places:
        raise InputError(
            f"{folder} holds no sets of pictures", hint="one folder per set, with images and fixations.csv"
        )
    left_out = set(names_in(without))
    if unknown := left_out - {each.name for each in places}:
        raise OptionError(f"there is no set called {min(unknown)!r}", hint=f"sets: {', '.join(p.name for p in places)}")
    return places, left_out


def _print_scores(scores: Sequence[Score]) -> None:
    print_table(
        "correlation with where participants looked, pictures that were not trained on",
        ("set", "pictures", "trained on", "its centre", "content", "with the common centre", "with its own"),
        [
            (
                each.set,
                each.pictures,
                "yes" if each.seen else "no",
                *(f"{value:.3f}" for value in (each.centre, each.content, each.common, each.own)),
            )
            for each in scores
        ],
    )


# --- ``gazeveil lab experiment features`` and ``gazeveil lab reproduce bozkir``: feature series judged.


Out = Annotated[Path | None, typer.Option("--out", help="Folder for the numbers and pictures.")]


def experiment_features(
    data: Annotated[str, typer.Option("--data", help="`simulated`, or the EyeTribe runs' Parquet file.")] = "simulated",
    people: Annotated[int, typer.Option("--participants", min=6, help="Simulated private readers.")] = 100,
    seconds: Annotated[float, typer.Option("--seconds", min=60, help="How long each document is read.")] = 300.0,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Draws of noise.")] = 5,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the noise.")] = 1,
    epsilons: Annotated[str, typer.Option("--epsilons", help="ε, comma-separated.")] = "0.5,1,3,10,48",
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Errors of private feature series, product by product, beside the paper's mechanisms and the public mean."""
    from gazeveil.lab.experiments import feature_usefulness
    from gazeveil.lab.experiments.feature_series import eyetribe_people, readers
    from gazeveil.lab.experiments.feature_usefulness import measure_usefulness, most_telling, picture

    chosen = _numbers(epsilons)
    with progress("simulating and extracting", quiet=as_json):
        if data == "simulated":
            who = readers(private=people, public=max(6, people * 2 // 5), seconds=seconds)
            few = max(6, people * 2 // 5)
            binned = feature_usefulness.reader_bins(few, max(4, few // 2), seconds)
        else:
            who, binned = eyetribe_people(Path(data)), feature_usefulness.eyetribe_bins(Path(data))
    with progress("releasing", quiet=as_json) as tell:
        cells = measure_usefulness(who, epsilons=chosen, repeats=repeats, seed=seed, tell=tell)
    with progress("protecting raw gaze", quiet=as_json) as tell:
        raw = feature_usefulness.compare_promises(binned, epsilons=chosen, repeats=repeats, seed=seed, tell=tell)
    sizes = [size for size in (20, 50, 100) if size <= min(len(series) for series in who.private.values())]
    seen = picture(who, most_telling(who), sizes=sizes, seed=seed) if len(who.private) > 1 and sizes else None
    told: dict[str, Any] = {"data": who.name, "cells": [asdict(cell) for cell in cells]}
    told["raw_gaze"] = [asdict(cell) for cell in raw]
    if data != "simulated":
        from gazeveil.lab.experiments.feature_usefulness import recognise

        with progress("recognising participants", quiet=as_json) as tell:
            told["recognised"] = recognise(Path(data), epsilons=chosen, seed=seed, tell=tell)
    if seen is not None:
        told["visible_differences"] = seen.pairs
        told["signs_right"] = [{"people": n, "epsilon": e, "share": share} for (n, e), share in seen.signs.items()]
    if out is not None:
        from gazeveil.lab.experiments import plots

        files = {"usefulness.png": plots.usefulness(cells), "raw-gaze.png": plots.usefulness(raw)}
        if seen is not None:
            files["group-series.png"] = plots.groups(seen.truths, seen.released, seen.feature, 0.5)
        told["files"] = _write(out, files, told)
    if as_json:
        print_json(told)
        return
    _print_cells(f"{who.name}: error as a part of the declared range (in brackets: the forecast)", cells)
    _print_cells(f"{who.name}: means over 30 s with a guarantee about raw gaze, error as a part of the range", raw)
    if "recognised" in told:
        print_table(
            "participants recognised in a run that was left out, by majority vote (and from single windows)",
            ["series", "ε", "nearest", "svm", "forest", "chance"],
            [
                [row["method"], row["epsilon"] or "–",
                 *(f"{row[how]['voted']:.2f} ({row[how]['windows']:.2f})" for how in ("nearest", "svm", "forest")),
                 f"{row['svm']['chance']:.2f}"]
                for row in told["recognised"]
            ],
        )  # fmt: skip
    for row in told.get("signs_right", []):
        print(
            f"{row['people']} participants, ε = {row['epsilon']:g}: the sign of {row['share']:.0%} of the visible "
            "differences between documents is right"
        )


def _print_cells(title: str, cells: list[Cell]) -> None:
    epsilons = sorted({cell.epsilon for cell in cells})
    by_row: dict[tuple[str, str], dict[float, str]] = {}
    for cell in cells:
        expected = "" if cell.expected is None else f" ({cell.expected:.3f})"
        by_row.setdefault((cell.product, cell.method), {})[cell.epsilon] = f"{cell.error:.3f}{expected}"
    print_table(
        title,
        ["product", "method", *(f"ε = {epsilon:g}" for epsilon in epsilons)],
        [[product, method, *(row[e] for e in epsilons)] for (product, method), row in by_row.items()],
    )


def _numbers(text: str) -> tuple[float, ...]:
    try:
        found = tuple(float(part) for part in text.split(","))
    except ValueError:
        found = ()
    if not found or not all(math.isfinite(number) and number > 0 for number in found):
        raise OptionError(f"--epsilons takes numbers above 0 with commas between, not {text!r}", hint="for example 1,3")
    return found


def bozkir(
    people: Annotated[int, typer.Option("--participants", min=4, help="How many simulated readers.")] = 20,
    seconds: Annotated[float, typer.Option("--seconds", min=90, help="How long each document is read.")] = 600.0,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Repeats with noise in the search for bins.")] = 5,
    every: Annotated[int, typer.Option("--every", min=1, help="Classifiers use every N-th window.")] = 10,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the noise.")] = 1,
    epsilons: Annotated[
        str, typer.Option("--epsilons", help="ε of one feature, comma-separated.")
    ] = "0.01,0.05,0.1,0.5,1",
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Private eye-movement features of readers (Bozkir et al. 2020): figures 1 to 4 on simulated readers."""
    from gazeveil.lab.reproduction.bozkir_figures import AUTHORS, run

    chosen = _numbers(epsilons)
    with progress("noising and classifying", quiet=as_json) as tell:
        figures = run(people=people, seconds=seconds, runs=repeats, every=every, seed=seed, epsilons=chosen, tell=tell)
    told = figures.to_dict()
    if out is not None:
        from gazeveil.lab.experiments import plots

        files = {
            "figure-1.png": plots.correlations(figures),
            "figure-2.png": plots.errors(figures),
            "figure-3.png": plots.accuracies(figures, voted=True),
            "figure-4.png": plots.accuracies(figures, voted=False),
        }
        told["files"] = _write(out, files, told)
    if as_json:
        print_json({"paper": "Bozkir et al. 2020", **told})
        return
    print_table(
        "figure 2: error at the ε that is stated, and its true value per participant for declared ranges (comic)",
        ["method", "stated ε", "true ε", "NMSE", "error of range"],
        [
            [row["method"], row["stated_epsilon"], row["true_epsilon"] or "none", f"{row['nmse']:.2g}",
             f"{row['range_error']:.3f}"]
            for row in figures.errors
            if row["document"] == "comic"
        ],
    )  # fmt: skip
    print_table(
        "what the authors published for their readers of a comic: NMSE at an ε of .01, .1 and 1 a feature",
        ["method", ".48", "4.8", "48"],
        [[name, *(f"{value:.1e}" for value in values)] for name, values in AUTHORS.items()],
    )
    print_table(
        "which mechanism is best, as published, for the comic",
        ["stated ε", "authors, NMSE", "ours, NMSE", "ours, error of range"],
        [
            [f"{row['stated_epsilon']:g}",
             *(" < ".join(row[what]) for what in ("authors", "ours_by_nmse", "ours_by_range_error"))]
            for row in told["orderings"]
        ],
    )  # fmt: skip
    print_table(
        "figures 3 and 4: classified by majority vote (and from single windows)",
        ["method", "stated ε", "document", "group", "participant: nearest", "svm", "forest"],
        [
            [row["method"], row["epsilon"] or "–",
             *(f"{row[what]['voted']:.2f} ({row[what]['windows']:.2f})"
               for what in ("document", "group", "participant, nearest", "participant, svm", "participant, forest"))]
            for row in figures.accuracies
        ],
    )  # fmt: skip
    for name, (series, rises) in figures.factors.items():
        print(f"{name}: ε′/ε is {series:.1f} for the series and {rises:.1f} for its differences")
    print("simulated readers, not the paper's: levels differ, orderings may be compared")


def _write(out: Path, pictures: dict[str, bytes], told: dict[str, Any]) -> list[str]:
    import json

    if out.exists() and not out.is_dir():
        raise OptionError(f"{out} is not a folder")
    numbers = json.dumps(told, indent=1, default=str) + "\n"
    return write_all(out, {**pictures, "numbers.json": numbers.encode()})
