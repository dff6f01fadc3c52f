# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil plan``: guarantee, cost and expected quality before any data are read; how many participants, which ε."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from gazeveil.cli._output import AsJson, command_app, print_json
from gazeveil.errors import OptionError
from gazeveil.files import replacing
from gazeveil.privacy.scale import IN_SHORT
from gazeveil.release.plan import Plan
from gazeveil.release.study import Study

app = command_app()


@app.command(epilog="Example: `gazeveil plan study.toml --stimulus scene-01 --epsilon 1 --want cc=.8 --out plan.png`")
def plan(
    study_file: Annotated[Path, typer.Argument(metavar="study.toml", help="The declared study.")],
    product: Annotated[
        str, typer.Option("--product", help="heatmap, heatmaps, movie, aoi or group-series.")
    ] = "heatmap",
    epsilon: Annotated[str, typer.Option("--epsilon", metavar="NUMBER", help=f"The ε to spend; {IN_SHORT}.")] = "1",
    delta: Annotated[
        str | None, typer.Option("--delta", metavar="NUMBER", help="The δ; by default the study's.")
    ] = None,
    stimulus: Annotated[str | None, typer.Option("--stimulus", help="Which stimulus, for heatmap and movie.")] = None,
    design: Annotated[Path | None, typer.Option("--design", help="The public design, for group-series.")] = None,
    want: Annotated[
        str | None, typer.Option("--want", metavar="MEASURE=VALUE", help="A quality, for example cc=.8 or error=.05.")
    ] = None,
    participants: Annotated[
        int | None, typer.Option("--participants", help="Plan for so many instead of the study's.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="plan.png", help="Draw the forecast here.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show guarantee, cost and forecast of a release; with --want, how many participants or which ε are enough."""
    from gazeveil.release.wanting import enough  # noqa: PLC0415

    study = Study.open(study_file)
    if product not in _PLANNERS:
        raise OptionError(f"no product is called {product!r}", hint=f"known: {', '.join(_PLANNERS)}")
    made = _PLANNERS[product](study, epsilon, delta, stimulus, design)
    if participants is not None:
        made = made.at(participants=participants)
    found = made.forecast
    answer = None if want is None else enough(made, _wanted(want, "" if found is None else found.measure))
    if out is not None:
        if found is None:
            raise OptionError(f"there is no forecast to draw for {product}")
        with replacing(out) as file:
            file.write_bytes((answer or enough(made, found.expected)).plot().png)
    if as_json:
        print_json({**made.to_dict(), **({} if answer is None else answer.to_dict()), "picture": out})
        return
    print(f"guarantee {made.guarantee}")
    print(f"scale     ε {IN_SHORT}")
    if answer is not None:
        for line in answer.in_words():
            print(f"answer    {line}")
    elif found is not None:
        print(f"expected  {found.in_words()}")
    if found is not None:
        print(f"worth it  {'yes' if found.worth_it else 'no: a release would be refused without --anyway'}")
        print(f"basis     {found.basis}")
    for warning in made.measurement.warnings():
        print(f"warning   {warning}")
    if out is not None:
        print(f"wrote     {out}")


def _wanted(text: str, measure: str) -> float:
    name, equals, value = text.partition("=")
    try:
        if name != measure or not equals:
            raise ValueError
        return float(value)
    except ValueError:
        example = f"{measure}=.8" if measure == "cc" else f"{measure}=.05"
        raise OptionError(f"--want must be {measure or 'MEASURE'}=VALUE here, not {text!r}", hint=example) from None


def _heatmap(study: Study, epsilon: str, delta: str | None, stimulus: str | None, design: Path | None) -> Plan:
    from gazeveil.aggregate.heatmap import PrivateHeatmap  # noqa: PLC0415

    name = stimulus or study.stimuli[0].name
    return study.plan(PrivateHeatmap(epsilon=epsilon, delta=delta), stimulus=name)


_PLANNERS: dict[str, Callable[..., Any]] = {"heatmap": _heatmap}
