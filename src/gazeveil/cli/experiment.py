# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil judge experiment``: how good our own releases are, measured so that anyone can repeat it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated

import typer

from gazeveil.cli import (
    _experiment_attributes,
    _experiment_datasets,
    _experiment_decoder,
    _experiment_features,
    _experiment_forecast,
    _experiment_grid,
    _experiment_identify,
    _experiment_peers,
    _experiment_picture,
    _experiment_scanpaths,
    _experiment_veils,
)
from gazeveil.cli._experiment_common import Out, Seed, check_drawing, names_in, numbers_in
from gazeveil.cli._experiment_trust import EVERY, TrustOptions, trust
from gazeveil.cli._output import AsJson, Progress, command_app, print_json, print_table, progress
from gazeveil.cli._screens import DistanceMm, ScreenPx, SizeMm, print_assumed, sizes_of
from gazeveil.errors import InputError, OptionError, closest

if TYPE_CHECKING:
    from gazeveil.experiments.usefulness._heatmap_scenes import Gallery

app = command_app(no_args_is_help=True)


@app.callback()
def experiment() -> None:
    """Measure how useful releases are, beside other methods."""


@app.command(
    epilog="Example: `gazeveil judge experiment heatmap --data simulated --observers 15,50 --images 4 --out usefulness`"
)
def heatmap(
    data: Annotated[
        str,
        typer.Option(
            "--data", help="`simulated`, `osie` (found under data/ here or above), or a folder: OSIE, corpus."
        ),
    ] = "simulated",
    observers: Annotated[str, typer.Option("--observers", help="Numbers of participants.")] = "15,30,50,100,300",
    epsilon: Annotated[str, typer.Option("--epsilon", help="ε of each map; comma-separated.")] = "1",
    delta: Annotated[float, typer.Option("--delta", help="δ of each map.")] = 1e-5,
    images: Annotated[int, typer.Option("--images", min=1, help="How many scenes at most.")] = 40,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Draws of participants and noise per scene.")] = 1,
    split: Annotated[
        str, typer.Option("--split", help="`test`: scenes that no constant was tuned on; `tune`: the others.")
    ] = "test",
    methods: Annotated[
        str,
        typer.Option(
            "--methods", help="Methods to compare, comma-separated; all by default. With pictures: right, wrong, none."
        ),
    ] = "",
    pictures: Annotated[
        Path | None,
        typer.Option("--pictures", help="Folder of pictures by the scenes' names; of OSIE those never trained on."),
    ] = None,
    contents: Annotated[
        Path | None,
        typer.Option("--contents", help="Maps predicted from pictures by the scenes' names, as an .npz file."),
    ] = None,
    trusted: Annotated[
        bool,
        typer.Option("--trust", help="Compare releases with their priors, error bars and hot spots with the truth."),
    ] = False,
    viewers: Annotated[str, typer.Option("--viewers", help="With --trust: these viewers alone, as 9-15.")] = "",
    seed: Seed = 0,
    out: Out = None,
    screen: ScreenPx = None,
    size_mm: SizeMm = None,
    distance_mm: DistanceMm = None,
    as_json: AsJson = False,
) -> None:
    """Agreement of private heatmaps with the map of everyone, over the number of participants."""
    from gazeveil.experiments.usefulness import _heatmap_report as report
    from gazeveil.experiments.usefulness import heatmaps as usefulness

    pictured = pictures is not None or contents is not None
    with_trust = trusted or bool(viewers) or pictured
    if pictured and data == "simulated":
        raise OptionError("simulated scenes have no pictures", hint="use osie or a corpus of your own")
    plan = usefulness.Plan(
        observers=numbers_in(observers, int, "--observers"),
        epsilons=numbers_in(epsilon, float, "--epsilon"),
        delta=delta,
        methods=() if with_trust else names_in(methods),
        repeats=repeats,
        seed=seed,
    )
    check_drawing(out)
    with progress("gathering gaze", quiet=as_json) as tell:
        some = EVERY if pictured else images  # those that have pictures are picked afterwards
        gallery = _gallery(data, split, some, seed, tell, sizes_of(screen, size_mm, distance_mm))
    labelled = split if gallery.name in {"simulated", "osie"} else ""
    if with_trust:
        asked = TrustOptions(pictures=pictures, contents=contents, images=images, viewers=viewers, methods=methods)
        trust(gallery, plan, labelled, asked, out, as_json)
        return
    with progress("making heatmaps", quiet=as_json) as tell:
        found = usefulness.compare(gallery, plan, split=labelled, tell=tell)
    files = [] if out is None else report.write(found, out)
    if as_json:
        print_json({**found.to_dict(), "files": files})
        return
    print_assumed(gallery.assumed)
    chosen = plan.chosen()
    print_table(
        report.note(found),
        ["method", "ε", "participants", "CC", "±", "CC without prior", "±", "hot spots found", "±", "oracle's choice"],
        [
            [
                chosen[row.method].title.replace("`", ""),
                f"{row.epsilon:g}",
                row.observers,
                *(f"{value:.3f}" for score in (row.cc, row.residual, row.hits) for value in (score.mean, score.error)),
                row.variant,
            ]
            for row in found.rows
        ],
    )
    if {"ours", "recipe"} <= set(chosen):
        for value in plan.epsilons:
            for count in plan.observers:
                cc, residual, _ = found.gain("ours", "recipe", count, value)
                print(
                    f"ours over an earlier version at ε = {value:g}, n = {count}: CC {cc.mean:+.3f} ± {cc.error:.3f}, "
                    f"without prior {residual.mean:+.3f} ± {residual.error:.3f}"
                )
    if out is not None:
        print(f"wrote {', '.join(files)} to {out}")


def _gallery(
    data: str, split: str, images: int, seed: int, tell: Progress, sizes: Mapping[str, float] = MappingProxyType({})
) -> Gallery:
    from gazeveil.experiments.usefulness import _heatmap_scenes as scenes

    if split not in tuple(scenes.Split):
        raise OptionError(f"no split is called {split!r}", hint=closest(split, scenes.Split))
    which = scenes.Split(split)
    folder = _osie_folder() if data == "osie" else Path(data)
    is_corpus = data not in {"simulated", "osie"} and not (folder / "fixations.parquet").is_file()
    if sizes and not is_corpus:
        raise OptionError(f"the screen of {data} is known", hint="sizes are for a corpus of your own")
    if data == "simulated":
        return scenes.simulated(which, images, seed, tell=tell)
    if not is_corpus:
        return scenes.osie(folder / "fixations.parquet", which, images)
    return scenes.of_corpus(folder, images, sizes)


def _osie_folder() -> Path:
    from gazeveil.datasets.folder import found_above

    folder = found_above("osie")
    if folder is None:
        raise InputError("no folder data/osie here or above", hint="say where it is with --data FOLDER")
    return folder


app.command("run", epilog="Example: `gazeveil judge experiment run grid.toml --out runs/first`")(
    _experiment_grid.experiment_run
)
app.command("compare", epilog="Example: `gazeveil judge experiment compare runs/first runs/second`")(
    _experiment_grid.experiment_compare
)
app.command("leaderboard", epilog="Example: `gazeveil judge experiment leaderboard runs/first --out leaderboard.md`")(
    _experiment_grid.experiment_leaderboard
)
app.command(
    "forecast", epilog="Example: `gazeveil judge experiment forecast --data simulated --observers 15 --images 3`"
)(_experiment_forecast.forecast_command(_gallery))
app.command(
    "features", epilog="Example: `gazeveil judge experiment features --people 20 --seconds 120 --out usefulness`"
)(_experiment_features.experiment_features)
app.command("veils", epilog="Example: `gazeveil judge experiment veils --presets lphu,gaussian-low --quick`")(
    _experiment_veils.experiment_veils
)
app.command(
    "identify", epilog="Example: `gazeveil judge experiment identify --experiment vr --recognisers committee,lda`"
)(_experiment_identify.experiment_identify)
app.command("heatmap-decoder", epilog="Example: `gazeveil judge experiment heatmap-decoder sets --out learned.npz`")(
    _experiment_decoder.experiment_heatmap_decoder
)
app.command("picture-model", epilog="Example: `gazeveil judge experiment picture-model sets --out readout.npz`")(
    _experiment_picture.experiment_picture_model
)
app.command(
    "scanpaths", epilog="Example: `gazeveil judge experiment scanpaths --veils none,mpmu --people 6 --scenes 2`"
)(_experiment_scanpaths.experiment_scanpaths)
app.command("membership", epilog="Example: `gazeveil judge experiment membership --products heatmap --releases 50`")(
    _experiment_datasets.experiment_membership
)
app.command("reconstruction", epilog="Example: `gazeveil judge experiment reconstruction --people 6 --no-movies`")(
    _experiment_datasets.experiment_reconstruction
)
app.command("attributes", epilog="Example: `gazeveil judge experiment attributes --sets simulated --veils none,mpmu`")(
    _experiment_attributes.experiment_attributes
)
app.command("geometry", epilog="Example: `gazeveil judge experiment geometry --data shared/data`")(
    _experiment_attributes.experiment_geometry
)
app.command("heads", epilog="Example: `gazeveil judge experiment heads --data shared/data`")(
    _experiment_attributes.experiment_heads
)
for _name in ("baselines", "peers"):  # the second is the name of earlier versions
    app.command(
        _name,
        hidden=_name == "peers",
        epilog="Example: `gazeveil judge experiment baselines --sets readers --people 12 --out found`",
    )(_experiment_peers.experiment_peers)
