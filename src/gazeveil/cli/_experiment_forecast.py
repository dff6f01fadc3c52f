# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil judge experiment forecast``: forecasts compared with outcomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gazeveil.cli._experiment_common import Seed, numbers_in
from gazeveil.cli._experiment_trust import EVERY, pictured_by
from gazeveil.cli._output import AsJson, Progress, print_json, print_table, progress
from gazeveil.cli._screens import DistanceMm, ScreenPx, SizeMm, print_assumed, sizes_of
from gazeveil.errors import OptionError, closest

if TYPE_CHECKING:
    from gazeveil.aggregate.saliency import Saliency
    from gazeveil.lab.experiments.usefulness._heatmap_scenes import Gallery
    from gazeveil.lab.experiments.usefulness.joint_forecasts import JointOutcome

GalleryOf = Callable[[str, str, int, int, Progress, Mapping[str, float]], "Gallery"]

PRODUCTS = ("heatmap", "heatmaps", "movie", "features")
_COLUMNS = ("participants", "CC", "forecast", "forecast − CC", "9 of 10", "within")


def forecast_command(gallery_of: GalleryOf) -> Callable[..., None]:
    """Return the command; ``gallery_of`` finds scenes as the command beside it does."""

    def forecast(
        product: Annotated[str, typer.Option("--product", help="Which forecasts.")] = "heatmap",
        data: Annotated[
            str,
            typer.Option(
                "--data",
                help="`simulated`, `osie`, or any other name or folder that `experiment heatmap` takes. For features: "
                "`simulated`, the EyeTribe runs' Parquet file, or the folder of sessions in a headset.",
            ),
        ] = "simulated",
        observers: Annotated[
            str, typer.Option("--observers", help="Numbers of participants; by default as calibrated.")
        ] = "",
        epsilon: Annotated[str, typer.Option("--epsilon", metavar="NUMBER", help="ε of each release.")] = "",
        delta: Annotated[str, typer.Option("--delta", metavar="NUMBER", help="δ of each heatmap.")] = "1e-5",
        images: Annotated[int, typer.Option("--images", min=1, help="How many scenes at most.")] = 40,
        split: Annotated[str, typer.Option("--split", help="`test` or `tune`, as for heatmap.")] = "test",
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
        if sizes and (product == "features" or data in {"simulated", "osie"}):
            raise OptionError(f"the screen of {data} is known", hint="sizes are for a corpus of your own")
        if contents is not None and (product != "heatmap" or data == "simulated"):
            raise OptionError("--contents is for single heatmaps of scenes that have pictures")
        if product == "features":
            _features(data, seed, as_json)
            return
        usual = "6,10,15,20,25,30,40,60,100,200" if product == "heatmap" else "15,30,100"
        people = numbers_in(observers or usual, int, "--observers")
        if product == "movie" and data == "simulated":
            rows = _films(people, epsilon or "3", images, seed, as_json)
            title = f"simulated films {split}"
        else:
            with progress("gathering gaze", quiet=as_json) as tell:
                gallery = gallery_of(data, split, images if contents is None else EVERY, seed, tell, sizes)
            gallery, pictures = (gallery, {}) if contents is None else pictured_by(gallery, contents, images)[:2]
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
    from gazeveil.lab.experiments.usefulness.forecasts import outcomes
    from gazeveil.lab.experiments.usefulness.joint_forecasts import movie_outcome, osie_course, study_outcome

    with progress("making maps", quiet=quiet) as tell:
        if product == "heatmap":
            found = outcomes(
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
    from gazeveil.lab.experiments.usefulness import joint_forecasts as joint

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
    from gazeveil.lab.experiments.usefulness.feature_forecasts import held_out, outcomes

    if data != "simulated" and not Path(data).exists():
        raise OptionError(f"there is no {data}", hint="simulated, the EyeTribe runs, or sessions in a headset")
    with progress("simulating and extracting", quiet=as_json):
        cases = held_out(data)
    with progress("releasing", quiet=as_json) as tell:
        found = outcomes(cases, seed, tell)
    if as_json:
        print_json({"product": "features", "data": data, "rows": [asdict(row) for row in found]})
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
