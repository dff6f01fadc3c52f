# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How close attacks get to the raw gaze: the table of docs/reference/attacks.md.

Error is the root of the mean squared distance to raw gaze, in degrees, over all samples of a record that were tracked;
then the mean over participants. Attacks that learn from exemplars get those of the other participants. `NOBODY` is what
someone is off who guesses the same place all the time: the participant's own mean, which no attacker knows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from gazeveil.errors import InputError
from gazeveil.lab.attacks.contract import ATTACKS, Exemplar, Knowledge, Trial
from gazeveil.lab.experiments.identification import IdentitySet, simulated_people, vr_people
from gazeveil.lab.reproduction.wilson_tables import like, promised
from gazeveil.noise import NoiseSource
from gazeveil.samples.mechanism import SampleMechanism
from gazeveil.samples.space import Space, space_of

NOBODY: Final = "own mean"
RESTORING: Final = (
    "wavelet",
    "fixation-average",
    "exemplars",
    "exemplar-filter",
    "inverse-smoothing",
    "wiener",
    "kalman",
    "saccade-model",
    "spatial-dither",
)
"""Attacks that guess raw gaze. `white-box` and `retrained` compare veiled gaze; the others use one of these."""


VEILS: Final[dict[str, Callable[[Space], SampleMechanism]]] = {
    **{
        name: promised(name)
        for name in (
            "gaussian-low",
            "gaussian-high",
            "spatial-low",
            "spatial-high",
            "temporal-high",
            "smoothing-low",
            "smoothing-high",
            "lphu",
            "mpmu",
            "hplu",
        )
    },
    "kaleido, mpmu": like("kaleido", "mpmu"),
    "absorption, mpmu": like("absorption", "mpmu"),
}
"""Wilson's settings, Kaleido's guarantees kept by `clock`, and one of them kept by others of the family."""


@dataclass(frozen=True, slots=True)
class Recovered:
    """What one attack got out of one mechanism.

    Attributes:
        people: Which set.
        veil: Which mechanism.
        attack: Which attack; empty for the veiled gaze itself.
        error_deg: How far the guess is off.
    """

    people: str
    veil: str
    attack: str
    error_deg: float


def measure(
    people: IdentitySet,
    veils: Sequence[str] = tuple(VEILS),
    attacks: Sequence[str] = RESTORING,
    *,
    seed: int = 1,
    tell: Callable[[Recovered], None] | None = None,
) -> list[Recovered]:
    """Return how far each attack that fits a mechanism is off, after how far the veiled gaze itself is.

    Raises:
        InputError: If there are fewer than two participants.
    """
    names = sorted({trial.person for trial in people.trials})
    if len(names) < 2:
        raise InputError(f"recovery needs two participants at least, not {len(names)}", hint="exemplars are of others")
    space, rows = space_of(people.plane), []
    for veil in veils:
        mechanism = VEILS[veil](space)
        pairs = {
            half: [_veiled(mechanism, one, seed) for one in people.trials if one.person in names[half::2]]
            for half in (0, 1)
        }
        asked = list({pair.raw.person: pair for pair in reversed(pairs[0])}.values())  # everybody's first record
        for name in ("", *attacks):
            if name and not ATTACKS[name]().fits(mechanism):
                continue
            knowledge = Knowledge(mechanism, tuple(pairs[1]))
            ready = ATTACKS[name]().prepare(knowledge, seed + 1) if name else None
            guesses = [pair.veiled if ready is None else ready.query(pair.veiled) for pair in asked]
            off = [error(guess, pair.raw) for guess, pair in zip(guesses, asked, strict=True)]
            rows.append(Recovered(people.name, veil, name, float(np.mean(off))))
            if tell is not None:
                tell(rows[-1])
    return rows


def error(guess: Trial, raw: Trial) -> float:
    """Return the root mean squared distance in degrees, where both are there."""
    squares = (guess.x - raw.x) ** 2 + (guess.y - raw.y) ** 2
    return float(np.sqrt(np.mean(squares[np.isfinite(squares)])))


def own_mean(people: IdentitySet) -> float:
    """Return how far gaze is from its own mean: what a guess is worth that follows nothing."""
    names = sorted({trial.person for trial in people.trials})[::2]
    firsts = {trial.person: trial for trial in reversed(people.trials) if trial.person in names}
    return float(np.mean([np.hypot(np.nanstd(one.x), np.nanstd(one.y)) for one in firsts.values()]))


def table(rows: Sequence[Recovered]) -> list[str]:
    """Return the rows as a Markdown table, one line per mechanism."""
    attacks = list(dict.fromkeys(row.attack for row in rows))
    lines = [
        "| mechanism | " + " | ".join(name or "veiled" for name in attacks) + " |",
        "|---" * (len(attacks) + 1) + "|",
    ]
    for veil in dict.fromkeys(row.veil for row in rows):
        found = {row.attack: row.error_deg for row in rows if row.veil == veil}
        best = min(found.values())
        cells = [_cell(found[name], best) if name in found else "" for name in attacks]
        lines.append(f"| {veil} | {' | '.join(cells)} |")
    return lines


def _cell(value: float, best: float) -> str:
    shown = f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 0.005 else f"{value:.0e}"
    return f"**{shown}**" if value == best else shown


def _veiled(mechanism: SampleMechanism, raw: Trial, seed: int) -> Exemplar:
    noise = NoiseSource.seeded(seed).spawn(f"{raw.person}/{raw.session}/{raw.name}")
    return Exemplar(raw, raw.with_gaze(*mechanism.start(noise).run(raw.t, raw.x, raw.y)))


def _told(row: Recovered) -> None:
    sys.stderr.write(f"{row.people}: {row.veil}, {row.attack or 'veiled'}: {row.error_deg:.3g}\n")


def main(folder: Path | None, *, quick: bool = False) -> None:
    """Print the tables: simulated participants, and those in the headset if their folder is given."""
    sets = [simulated_people(4, 1, 15.0) if quick else simulated_people(24, 2, 60.0)]
    if folder is not None:
        sets.append(vr_people(folder, 60.0))
    attacks = tuple(name for name in RESTORING if not (quick and name == "exemplars"))
    for people in sets:
        sys.stdout.write(f"\n{people.title}; {NOBODY}: {own_mean(people):.2f} degrees\n\n")
        rows = measure(people, attacks=attacks, tell=_told)
        sys.stdout.write("\n".join(table(rows)) + "\n")


if __name__ == "__main__":
    given = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    main(Path(given[0]) if given else None, quick="--quick" in sys.argv[1:])
