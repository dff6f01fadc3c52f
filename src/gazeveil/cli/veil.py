# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil veil``: recordings protected by a stream mechanism (a veil), with their guarantee."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from gazeveil.cli._program import product_settings
from gazeveil.cli._releasing import ReleaseRequest, check_apart, releases
from gazeveil.errors import OptionError, OutputError
from gazeveil.files import replacing
from gazeveil.terminal import NamesOf
from gazeveil.terminal.options import GazeSource, Inputs, reads_gaze, setting_option, width_and_height
from gazeveil.terminal.printing import check_free, command_app

if TYPE_CHECKING:
    from gazeveil.release.release import Release
    from gazeveil.samples.veiled_recordings import Eyes, VeiledRecordings

app = command_app()

_SET = product_settings("veil")

PREVIEW = 3000
"""How many samples of the first recording a picture shows."""


@app.command(
    epilog="Example: `gazeveil veil gaze.csv --mechanism clock --epsilon 3 --window 0.5 --radius 60px --out veiled "
    "--no-ledger`"
)
@releases
@reads_gaze
def veil(
    request: ReleaseRequest,
    inputs: Inputs,
    source: GazeSource,
    mechanism: Annotated[str | None, setting_option(_SET["--mechanism"])] = None,
    preset: Annotated[str | None, setting_option(_SET["--preset"])] = None,
    recipe: Annotated[Path | None, typer.Option("--recipe", help="A mechanism as JSON or TOML, for chains.")] = None,
    epsilon: Annotated[str | None, setting_option(_SET["--epsilon"])] = None,
    window: Annotated[str | None, setting_option(_SET["--window"])] = None,
    radius: Annotated[str | None, setting_option(_SET["--radius"])] = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="Any other parameter; repeatable.", metavar="KEY=VALUE")
    ] = None,
    field: Annotated[str | None, setting_option(_SET["--field"])] = None,
    edge: Annotated[str | None, setting_option(_SET["--edge"])] = None,
    eyes: Annotated[str, setting_option(_SET["--eyes"])] = _SET["--eyes"].default,
    to: Annotated[
        str,
        typer.Option(
            "--to", metavar=NamesOf("veiled format"), help="Format of the files; parquet makes a corpus folder."
        ),
    ] = "parquet",
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Draw the first recording before and after: shows raw gaze.")
    ] = None,
) -> None:
    """Release recordings with protected gaze, sample by sample.

    Every sample gets a noisy (veiled) point, every other channel is dropped.
    """
    from gazeveil.release.data import CorpusInMemory, GazeFiles
    from gazeveil.samples.recipes import read_recipe
    from gazeveil.samples.veiled_recordings import VeiledRecordings

    given = {"epsilon": epsilon, "window": window, "radius": radius}
    texts = {name: text for name, text in given.items() if text is not None} | _settings(setting or [])
    how = VeiledRecordings(
        mechanism=mechanism,
        preset=preset,
        recipe=None if recipe is None else read_recipe(recipe),
        parameters=veil_parameters(mechanism, preset, texts),
        field=field_of(field),
        edge=edge,
        eyes=cast("Eyes", eyes),
    )
    if plot is not None:
        _check_plot(plot, request)
    if request.study_file is not None:
        study = request.study()
        request = request.with_source(GazeFiles(tuple(inputs), source.on(study.stimuli).one_of(inputs)))
    else:  # the facts are read from the data, so the data are read now
        files = GazeFiles(tuple(inputs), source.one_of(inputs), strict=True)
        files.check()
        remarks: list[str] = []
        request = request.with_source(CorpusInMemory(files.open(remarks), tuple(remarks)))
        study = request.study()
    release = request.release(study, how, to=to)
    if plot is not None and release is not None:
        _draw(release, how, plot)
        if not request.as_json:
            print(f"plot      {plot} shows raw gaze: not for release")


def veil_parameters(mechanism: str | None, preset: str | None, texts: dict[str, str]) -> dict[str, object]:
    """Return the parameters as their types; what can be refused without gaze is refused now."""
    from gazeveil.samples.recipes import find_preset, parameters

    if mechanism is not None and preset is None:
        return parameters(mechanism, texts)
    if preset is not None and mechanism is None:
        return parameters(find_preset(preset).mechanism, texts, complete=False)
    return dict(texts)


def field_of(text: str | None) -> tuple[float, float] | None:
    """Return the field that directions lie in, if one is given."""
    across, down = width_and_height(text, "--field", "100x80")
    return None if across is None or down is None else (across, down)


def _settings(pairs: list[str]) -> dict[str, str]:
    settings = {}
    for text in pairs:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise OptionError(f"--set must be KEY=VALUE, not {text!r}", hint="for example --set sigma=3deg")
        settings[key] = value
    return settings


def _check_plot(plot: Path, request: ReleaseRequest) -> None:
    """Find out before anything is spent whether a picture of raw gaze can be drawn, and apart from the release."""
    from gazeveil.display import canvas
    from gazeveil.release.record import private_report_path

    canvas()  # says what is missing
    place = plot.resolve()
    for path in request.inputs:
        check_apart(plot, path, request.ledger)
    if request.out is not None:
        release = request.out.resolve()
        if place in (release, private_report_path(release)) or release in place.parents:
            raise OutputError(
                f"{plot} would be part of the release, and it shows raw gaze", hint="draw it to another place"
            )
    check_free(plot, overwrite=request.overwrite)


def _draw(release: Release, how: VeiledRecordings, plot: Path) -> None:
    """Draw the first recording before and after."""
    from gazeveil.release.data import BoundCorpus
    from gazeveil.release.visual_report import before_and_after

    raw = next(release.private.corpus.recordings(), None) if isinstance(release.private, BoundCorpus) else None
    if raw is None:
        return
    shown = next(release.value.select(**raw.key._asdict()).recordings())
    columns = [column[:PREVIEW] for column in (raw.t, raw.x, raw.y, shown.x, shown.y)]
    with replacing(plot) as file:
        file.write_bytes(before_and_after(columns, raw.geometry, how.on(raw.geometry).in_words()))
