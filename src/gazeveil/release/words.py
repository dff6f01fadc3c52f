# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Facts and guarantees in words, for the documents of a release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from gazeveil.exact import as_text, in_digits
from gazeveil.privacy.guarantee import ApproxDP, GazeStreamDP, Guarantee, PureDP, Unproven, ZeroConcentratedDP
from gazeveil.privacy.statement import StatedFact
from gazeveil.release.study import ASSUMED, Fact

_MOST_NAMES = 6


def stated_facts(facts: Iterable[Fact]) -> tuple[StatedFact, ...]:
    """Return facts in words, without those that say nothing and without neighbours, which have their own sentence."""
    found = (StatedFact(fact.name, _text(fact.name, fact.value), fact.declared) for fact in facts)
    return tuple(fact for fact in found if fact.text and fact.name != "neighbours")


def facts_from_record(values: Iterable[Mapping[str, Any]]) -> tuple[Fact, ...]:
    """Return the facts that `Fact.to_dict` wrote."""
    return tuple(
        Fact(
            str(each["name"]), each["value"], each["source"] in ("declared", ASSUMED), assumed=each["source"] == ASSUMED
        )
        for each in values
    )


def formal(guarantee: Guarantee) -> str:
    """Return a guarantee in the field's words, with its numbers."""
    if isinstance(guarantee, GazeStreamDP):
        window = f"any one window of {exactly(guarantee.window)} s and radius {exactly(guarantee.radius)}"
        head = "" if guarantee.head_radius is None else f", and {exactly(guarantee.head_radius)} deg for the head,"
        window = f"{window} {guarantee.radius_unit}{head}"
        return f"ε-differential privacy for {window} of a gaze stream with ε = {exactly(guarantee.epsilon)}"
    if isinstance(guarantee, PureDP) or (isinstance(guarantee, ApproxDP) and not guarantee.delta):
        return f"ε-differential privacy with ε = {exactly(guarantee.epsilon)}"
    if isinstance(guarantee, ApproxDP):
        return f"(ε, δ)-differential privacy with ε = {exactly(guarantee.epsilon)} and δ = {exactly(guarantee.delta)}"
    if isinstance(guarantee, ZeroConcentratedDP):
        return f"ρ-zero-concentrated differential privacy with ρ = {exactly(guarantee.rho)}"
    return f"no proven guarantee ({guarantee.reason if isinstance(guarantee, Unproven) else guarantee.kind})"


def exactly(number: Fraction) -> str:
    """Write a number as it is, or rounded up to six digits where it is too long to read."""
    text = as_text(number)
    return text if len(text) <= 12 else in_digits(number, 6)


def _text(name: str, value: Any) -> str:
    if name == "stimuli" and isinstance(value, list):
        return _stimuli(value)
    if name == "recordings" and isinstance(value, Mapping):
        return _recordings(value)
    return plain(value)


def plain(value: Any) -> str:
    """Return plain values as one short line."""
    if isinstance(value, Mapping):
        return ", ".join(f"{str(key).replace('_', ' ')} {plain(each)}" for key, each in value.items())
    if isinstance(value, list | tuple):
        more = [f"and {len(value) - _MOST_NAMES:,} more"] if len(value) > _MOST_NAMES else []
        return ", ".join([*(plain(each) for each in value[:_MOST_NAMES]), *more])
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    return "none" if value is None else str(value)


def _recordings(meant: Mapping[str, Any]) -> str:
    others = dict(meant)
    most = others.pop("per_stimulus", None)
    said = [] if most is None else [f"at most {most} per participant and stimulus"]
    if (rate := others.pop("rate_hz", None)) is not None:
        said.append(f"{rate:g} Hz")
    if (stated := others.pop("fixations", None)) is not None:
        counts = others.pop("each_fixation_counts", "once")
        states = f"state the {' and '.join(stated)} of each" if stated else "state places alone"
        said.append(f"lists of fixations that {states}, which counts {counts}")
    return ", ".join([*said, *([plain(others)] if others else [])])


def _stimuli(stimuli: list[Mapping[str, Any]]) -> str:
    """Name some stimuli, and say what else is declared about all of them."""
    names = plain([each.get("name", "") for each in stimuli])
    screens = {str(sorted(each["screen"].items())) for each in stimuli if "screen" in each}
    timed = sum("seconds" in each for each in stimuli)
    shown = f"{len(stimuli):,} ({names})" if len(stimuli) > 1 else names
    more = [f"on {len(screens):,} screen{'s' if len(screens) > 1 else ''}"] if screens else []
    if timed:
        more.append("with the time that each was shown" if timed == len(stimuli) else f"{timed:,} with their duration")
    files = {kind: sum(kind in each for each in stimuli) for kind in ("picture", "film", "areas")}
    more += [
        f"{kind} declared" + (f" for {count:,}" if len(stimuli) > 1 else "") for kind, count in files.items() if count
    ]
    return ", ".join([shown, *more])
