# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil judge experiment``: how good our own releases are, measured so that anyone can repeat it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

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
from gazeveil.cli._experiment_scenes import gallery_of
from gazeveil.cli._experiment_trust import EVERY, TrustOptions, trust
from gazeveil.cli._output import AsJson, command_app, print_json, print_table, progress
from gazeveil.cli._screens import DistanceMm, ScreenPx, SizeMm, print_assumed, sizes_of
from gazeveil.errors import OptionError

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
            "--data",
            help="`simulated`; `osie`, `web-pages`, `eyetribe`, `rooms`, `museum` (found under data/ here or above); "
            "or a folder: OSIE, corpus, or pictures as for picture-model, with durations in ms.",
        ),
    ] = "simulated",
    observers: Annotated[str, typer.Option("--observers", help="Numbers of participants.")] = "15,30,50,100,300",
    epsilon: Annotated[str, typer.Option("--epsilon", help="ε of each map; comma-separated.")] = "1",
    delta: Annotated[float, typer.Option("--delta", help="δ of each map.")] = 1e-5,
    images: Annotated[int, typer.Option("--images", min=1, help="How many scenes at most.")] = 40,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Draws of participants and noise per scene.")] = 1,
    split: Annotated[
        str,
        typer.Option(
            "--split", help="Simulated and OSIE. `test`: scenes that no constant was tuned on; `tune`: the others."
        ),
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
    from gazeveil.lab.experiments.usefulness import _heatmap_report as report
    from gazeveil.lab.experiments.usefulness import heatmaps as usefulness

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
        gallery = gallery_of(data, split, some, seed, tell, sizes_of(screen, size_mm, distance_mm))
    if with_trust:
        asked = TrustOptions(pictures=pictures, contents=contents, images=images, viewers=viewers, methods=methods)
        trust(gallery, plan, gallery.split, asked, out, as_json)
        return
    with progress("making heatmaps", quiet=as_json) as tell:
        found = usefulness.compare(gallery, plan, split=gallery.split, tell=tell)
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


_COMMANDS = (
    ("run", _experiment_grid.experiment_run, "grid.toml --out runs/first"),
    ("compare", _experiment_grid.experiment_compare, "runs/first runs/second"),
    ("leaderboard", _experiment_grid.experiment_leaderboard, "runs/first --out leaderboard.md"),
    ("forecast", _experiment_forecast.forecast_command(gallery_of), "--data simulated --observers 15 --images 3"),
    ("features", _experiment_features.experiment_features, "--people 20 --seconds 120 --out usefulness"),
    ("veils", _experiment_veils.experiment_veils, "--presets lphu,gaussian-low --quick"),
    ("identify", _experiment_identify.experiment_identify, "--experiment vr --recognisers committee,lda"),
    ("heatmap-decoder", _experiment_decoder.experiment_heatmap_decoder, "sets --out learned_bumps.npz"),
    ("picture-model", _experiment_picture.experiment_picture_model, "sets --out readout.npz"),
    ("scanpaths", _experiment_scanpaths.experiment_scanpaths, "--veils none,mpmu --people 6 --scenes 2"),
    ("membership", _experiment_datasets.experiment_membership, "--products heatmap --releases 50"),
    ("reconstruction", _experiment_datasets.experiment_reconstruction, "--people 6 --no-movies"),
    ("attributes", _experiment_attributes.experiment_attributes, "--sets simulated --veils none,mpmu"),
    ("geometry", _experiment_attributes.experiment_geometry, "--data shared/data"),
    ("heads", _experiment_attributes.experiment_heads, "--data shared/data"),
    ("baselines", _experiment_peers.experiment_peers, "--sets readers --people 12 --out found"),
)
"""Names, commands and what their examples say."""
for _name, _command, _example in _COMMANDS:
    app.command(_name, epilog=f"Example: `gazeveil judge experiment {_name} {_example}`")(_command)
