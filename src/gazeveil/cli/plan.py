# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil plan``: guarantee, cost and expected quality before any data are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gazeveil.cli._program import product_settings
from gazeveil.errors import OptionError, closest
from gazeveil.files import replacing
from gazeveil.privacy.protection import IN_SHORT
from gazeveil.terminal import NamesOf
from gazeveil.terminal.options import DistanceMm, FovDeg, ScreenPx, SizeMm, setting_option, sizes_of, with_fields_of
from gazeveil.terminal.printing import AsJson, command_app, print_json, print_line, show_preview

if TYPE_CHECKING:
    from gazeveil.release.forecast import Forecast
    from gazeveil.release.plan import Plan
    from gazeveil.release.sample_size import SampleSize
    from gazeveil.release.study import Study

app = command_app()

_MAP, _MOVIE, _VEILED = (product_settings(product) for product in ("heatmap", "movie", "veil"))
_MAPS, _AOI, _SERIES, _VEIL = "Heatmaps and movies", "Areas of interest", "Feature series", "Veiled recordings"


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """What the command line says about the release; None where it says nothing."""

    product: Annotated[str, typer.Option("--product", metavar=NamesOf("product"), help="What is to be released.")] = (
        "heatmap"
    )
    epsilon: Annotated[str | None, setting_option(_MAP["--epsilon"], more=f", 1 by default: {IN_SHORT}")] = None
    delta: Annotated[str | None, setting_option(_MAP["--delta"])] = None
    want: Annotated[
        str | None,
        typer.Option("--want", metavar="MEASURE=VALUE", help="The quality you need, for example cc=.8 or error=.05."),
    ] = None
    participants: Annotated[
        int | None, typer.Option("--participants", help="Plan for N participants instead of the study's.")
    ] = None
    stimulus: Annotated[
        list[str] | None,
        typer.Option("--stimulus", help="Which stimulus; repeatable for heatmaps and aoi.", rich_help_panel=_MAPS),
    ] = None
    bin_seconds: Annotated[float, setting_option(_MOVIE["--bin-seconds"], panel=_MAPS)] = _MOVIE[
        "--bin-seconds"
    ].default
    duration: Annotated[float | None, setting_option(_MOVIE["--duration"], panel=_MAPS)] = None
    statistic: Annotated[
        list[str] | None,
        typer.Option(
            "--statistic",
            metavar=NamesOf("statistic"),
            help="Which statistic; repeatable, by default dwell.",
            rich_help_panel=_AOI,
        ),
    ] = None
    design: Annotated[
        Path | None, typer.Option("--design", help="The public design, for feature-group.", rich_help_panel=_SERIES)
    ] = None
    task: Annotated[
        str | None, typer.Option("--task", help="Which task, for feature-group.", rich_help_panel=_SERIES)
    ] = None
    mechanism: Annotated[str | None, setting_option(_VEILED["--mechanism"], panel=_VEIL)] = None
    preset: Annotated[str | None, setting_option(_VEILED["--preset"], panel=_VEIL)] = None
    window: Annotated[str | None, setting_option(_VEILED["--window"], panel=_VEIL)] = None
    radius: Annotated[str | None, setting_option(_VEILED["--radius"], panel=_VEIL)] = None
    field: Annotated[str | None, setting_option(_VEILED["--field"], panel=_VEIL)] = None

    @property
    def amount(self) -> str:
        """The ε, 1 where none is given."""
        return self.epsilon or "1"

    @property
    def only_stimulus(self) -> str | None:
        """The one stimulus that is asked about, if one is."""
        if len(self.stimulus or ()) > 1:
            raise OptionError("this product is of one stimulus", hint="give --stimulus once")
        return self.stimulus[0] if self.stimulus else None


@app.command(epilog="Example: `gazeveil plan study.toml --stimulus scene-01 --epsilon 1 --want cc=.8 --out plan.png`")
@with_fields_of("asked", PlanOptions)
def plan(
    study_file: Annotated[Path, typer.Argument(metavar="study.toml", help="The declared study.")],
    asked: PlanOptions,
    screen: ScreenPx = None,
    size_mm: SizeMm = None,
    distance_mm: DistanceMm = None,
    fov_deg: FovDeg = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="plan.png", help="Draw the forecast here.")] = None,
    as_json: AsJson = False,
) -> None:
    """Forecast a release before any data are read; spends nothing.

    It shows guarantee, cost and expected quality; with --want, how many participants or which ε are enough.
    """
    from gazeveil.release.sample_size import sample_size_for
    from gazeveil.release.study import Study

    study = Study.open(study_file).on_screen(**sizes_of(screen, size_mm, distance_mm, fov_deg))
    if asked.product not in PLANNERS:
        raise OptionError(f"no product is called {asked.product!r}", hint=closest(asked.product, PLANNERS))
    made = PLANNERS[asked.product](study, asked)
    if asked.participants is not None:
        made = made.at(participants=asked.participants)
    found = made.forecast
    answer = None if asked.want is None else sample_size_for(made, _wanted(asked.want, found))
    if out is not None:
        if found is None:
            raise OptionError(f"there is no forecast to draw for {asked.product}")
        with replacing(out) as file:
            file.write_bytes((answer or sample_size_for(made, found.floor)).plot().png)
    if as_json:
        print_json({**made.to_dict(), **({} if answer is None else answer.to_dict()), "picture": out})
    else:
        _show(made, found, answer, out)


def _show(made: Plan, found: Forecast | None, answer: SampleSize | None, out: Path | None) -> None:
    print_line("guarantee", str(made.guarantee))
    print_line("scale", f"ε {IN_SHORT}")
    if answer is not None:
        for line in answer.in_words():
            print_line("answer", line)
    elif found is not None:
        print_line("expected", found.in_words())
    if found is None:
        print_line("expected", "there is no forecast for this release")
    else:
        print_line("worth it", "yes" if found.worth_it else "no: a release would be refused without --anyway")
        print_line("basis", found.basis)
    show_preview(made.measurement.preview())
    if (identified := made.measurement.identification()) is not None:
        print_line("identity", identified.warning())
    for warning in made.warnings:
        print_line("warning", warning)
    if out is not None:
        print_line("wrote", str(out))


def _wanted(text: str, found: Forecast | None) -> float:
    measure = "MEASURE" if found is None else found.measure
    name, equals, value = text.partition("=")
    try:
        if name != measure or not equals:
            raise ValueError
        return float(value)
    except ValueError:
        example = f"{measure}=.8" if measure == "cc" else f"{measure}=.05"
        raise OptionError(f"--want must be {measure}=VALUE here, not {text!r}", hint=f"for example {example}") from None


def _heatmap(study: Study, asked: PlanOptions) -> Plan:
    from gazeveil.aggregate.heatmap import PrivateHeatmap

    name = asked.only_stimulus or study.stimuli[0].name
    return study.plan(PrivateHeatmap(epsilon=asked.amount, delta=asked.delta), stimulus=name)


def _heatmaps(study: Study, asked: PlanOptions) -> Plan:
    from gazeveil.aggregate.study_heatmaps import PrivateHeatmaps

    return study.plan(PrivateHeatmaps(epsilon=asked.amount, delta=asked.delta), stimuli=asked.stimulus or None)


def _movie(study: Study, asked: PlanOptions) -> Plan:
    from gazeveil.aggregate.movie import HeatmapMovie

    name = asked.only_stimulus or study.stimuli[0].name
    how = HeatmapMovie(epsilon=asked.amount, delta=asked.delta, bin_seconds=asked.bin_seconds, duration=asked.duration)
    return study.plan(how, stimulus=name)


def _aoi(study: Study, asked: PlanOptions) -> Plan:
    from gazeveil.aggregate.aoi.mechanism import AoiStatistics
    from gazeveil.aggregate.aoi.statistics import STATISTICS

    statistics = tuple(STATISTICS[name]() for name in asked.statistic or ["dwell"])
    how = AoiStatistics(statistics=statistics, epsilon=asked.amount, delta=asked.delta)
    return study.plan(how, stimuli=asked.stimulus or None)


def _group_series(study: Study, asked: PlanOptions) -> Plan:
    from gazeveil.features.design import Design
    from gazeveil.features.group_series import GroupSeries

    if asked.design is None:
        raise OptionError("a group's series need a public design", hint="give one with --design design.json")
    delta = study.delta if asked.delta is None else asked.delta
    how = GroupSeries(epsilon=asked.amount, delta=delta, design=Design.load(asked.design))
    return study.plan(how, task=asked.task)


def _veil(study: Study, asked: PlanOptions) -> Plan:
    from gazeveil.cli.veil import field_of, veil_parameters
    from gazeveil.samples.veiled_recordings import VeiledRecordings

    given = {"epsilon": asked.epsilon, "window": asked.window, "radius": asked.radius}
    texts = {name: text for name, text in given.items() if text is not None}
    parameters = veil_parameters(asked.mechanism, asked.preset, texts)
    how = VeiledRecordings(
        mechanism=asked.mechanism, preset=asked.preset, parameters=parameters, field=field_of(asked.field)
    )
    return study.plan(how)


PLANNERS: dict[str, Callable[[Study, PlanOptions], Plan]] = {
    "heatmap": _heatmap,
    "heatmaps": _heatmaps,
    "movie": _movie,
    "aoi": _aoi,
    "feature-group": _group_series,
    "veil": _veil,
}
