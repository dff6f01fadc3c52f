# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil calibrate``: how much noise does a guarantee need?"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated, Any

import typer

from gazeveil.exact import exact
from gazeveil.terminal.printing import AsJson, command_app, print_json, print_table

app = command_app()

# Numbers are read as text, because 0.1 is to be one tenth and not the float next to it.
Epsilon = Annotated[str, typer.Option("--epsilon", metavar="NUMBER", help="ε: odds change by at most e^ε.")]
Delta = Annotated[str, typer.Option("--delta", metavar="NUMBER", help="δ of the guarantee, for example 1e-6.")]
L1 = Annotated[str, typer.Option("--sensitivity", metavar="NUMBER", help="How far one unit moves the result, in ℓ1.")]
L2 = Annotated[str, typer.Option("--sensitivity", metavar="NUMBER", help="How far one unit moves the result, in ℓ2.")]


@app.callback()
def calibrate() -> None:
    """Compute how much noise a privacy guarantee needs.

    Every answer is rounded to the safe side.
    """


@app.command(epilog="Example: `gazeveil calibrate gaussian --epsilon 1 --delta 1e-6 --sensitivity 1 --json`")
def gaussian(epsilon: Epsilon, delta: Delta, sensitivity: L2 = "1", as_json: AsJson = False) -> None:
    """Gaussian noise for (ε, δ): the smallest standard deviation that is enough."""
    from gazeveil.privacy.calibration import gaussian_sigma
    from gazeveil.privacy.conversion import gaussian_zcdp

    sigma = gaussian_sigma(epsilon, delta, sensitivity)
    _print_answer(
        "gaussian",
        {
            "sigma": sigma,
            **_floats(epsilon=epsilon, delta=delta, sensitivity=sensitivity),
            "multiplier": float(Fraction(sigma) / exact(sensitivity)),
            "rho": float(gaussian_zcdp(sigma, sensitivity)),
        },
        f"Add Gaussian noise of standard deviation {sigma} to every coordinate.",
        as_json=as_json,
    )


@app.command(epilog="Example: `gazeveil calibrate laplace --epsilon 0.5 --sensitivity 2`")
def laplace(epsilon: Epsilon, sensitivity: L1 = "1", as_json: AsJson = False) -> None:
    """Laplace noise for pure ε: the smallest scale that is enough."""
    from gazeveil.privacy.calibration import laplace_scale

    scale = laplace_scale(epsilon, sensitivity)
    _print_answer(
        "laplace",
        {
            "scale": scale,
            "sd": math.sqrt(2) * scale,
            **_floats(epsilon=epsilon, delta="0", sensitivity=sensitivity),
        },
        f"Add Laplace noise of scale {scale} to every coordinate.",
        as_json=as_json,
    )


@app.command(epilog="Example: `gazeveil calibrate radial --epsilon 1 --sensitivity 60 --dimensions 2`")
def radial(
    epsilon: Epsilon,
    sensitivity: L2 = "1",
    dimensions: Annotated[int, typer.Option("--dimensions", help="How many coordinates move together.")] = 2,
    as_json: AsJson = False,
) -> None:
    """Radial noise for pure ε: a random direction, a radius from Gamma(d, scale); planar Laplace if d is 2."""
    from gazeveil.privacy.calibration import expected_radius, radial_scale

    scale = radial_scale(epsilon, sensitivity)
    mean = expected_radius(scale, dimensions)
    _print_answer(
        "radial",
        {
            "scale": scale,
            "dimensions": dimensions,
            "mean_radius": mean,
            "sd": math.sqrt(dimensions + 1) * scale,
            **_floats(epsilon=epsilon, delta="0", sensitivity=sensitivity),
        },
        f"Move each point by {mean:.6g} on average, in a random direction.",
        as_json=as_json,
    )


@app.command(epilog="Example: `gazeveil calibrate liu --participants 1000 --pixels 1 --cap 1 --epsilon 1`")
def liu(
    participants: Annotated[int, typer.Option("--participants", help="How many participants; public.")],
    pixels: Annotated[int, typer.Option("--pixels", help="How many pixels the gaze map has.")],
    epsilon: Epsilon,
    cap: Annotated[
        str, typer.Option("--cap", metavar="NUMBER", help="The most one participant adds to a pixel.")
    ] = "1",
    delta: Annotated[
        str | None, typer.Option("--delta", metavar="NUMBER", help="The claimed δ; participants^(-3/2) if left out.")
    ] = None,
    samples: Annotated[
        int | None,
        typer.Option(
            "--samples",
            help="The most gaze samples of one participant, if enforced: the noise that is enough is then smaller.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """The noise that Liu et al. 2019 publish for gaze maps, and whether it keeps what is claimed."""
    from gazeveil.privacy.calibration import LiuNoise

    noise = LiuNoise(observers=participants, pixels=pixels, epsilon=epsilon, cap=cap, delta=delta)
    claimed, true = float(noise.delta), noise.true_delta()
    verdict = (
        "The published Gaussian noise keeps the claim, though its proof does not (errata L1 to L3)."
        if noise.sound
        else f"The published Gaussian noise breaks the claim: δ is {true / claimed:.2g} times as large (erratum L3)."
    )
    _print_answer(
        "liu",
        {
            "sigma_gaussian": noise.sigma_gaussian(),
            "sigma_laplace": noise.sigma_laplace(),
            "claimed_delta": claimed,
            "true_delta": true,
            "sound": noise.sound,
            "sigma_sound": noise.sigma_sound(samples),
            "sensitivity": float(noise.sensitivity(samples)),
            "participants": participants,
            "pixels": pixels,
            **_floats(cap=cap, epsilon=epsilon),
        },
        verdict,
        as_json=as_json,
    )


def _floats(**numbers: str) -> dict[str, float]:
    return {name: float(exact(number, name)) for name, number in numbers.items()}


def _print_answer(mechanism: str, values: dict[str, Any], sentence: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"mechanism": mechanism, **values})
        return
    print_table(mechanism, ["", ""], [[_WORDS.get(name, name), _shown(name, value)] for name, value in values.items()])
    print(sentence)


def _shown(name: str, value: object) -> object:
    if not isinstance(value, float):
        return value
    return str(value) if name in _COPIED else f"{value:.6g}"


_COPIED = {"sigma", "scale", "sigma_sound"}
"""Shown in full: rounded to fewer digits they might no longer be enough."""
_WORDS = {
    "sigma": "σ, standard deviation",
    "scale": "scale",
    "sd": "standard deviation a coordinate",
    "epsilon": "ε",
    "delta": "δ",
    "multiplier": "σ over sensitivity",
    "rho": "ρ (zCDP)",
    "mean_radius": "mean radius",
    "sigma_gaussian": "σ as published, Gaussian (theorem 3.4)",
    "sigma_laplace": "σ as published, Laplace (theorem 3.5)",
    "claimed_delta": "δ as claimed",
    "true_delta": "true δ of the Gaussian",
    "sound": "the claim holds",
    "sigma_sound": "σ that is enough, Gaussian",
    "cap": "cap of one observer at a pixel",
}
