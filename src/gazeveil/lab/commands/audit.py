# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil lab audit``: does a mechanism keep what it claims?"""

from __future__ import annotations

import importlib
import os
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gazeveil.errors import OptionError
from gazeveil.exact import as_text
from gazeveil.terminal import NamesOf
from gazeveil.terminal.printing import EXIT_FINDING, AsJson, command_app, print_json, print_table, progress

if TYPE_CHECKING:
    from gazeveil.privacy.audit import AuditResult, Finding
    from gazeveil.privacy.audit.subject import Subject

app = command_app()


@app.command(
    epilog="Example: `gazeveil lab audit half-scale-laplace --trials 100000` or `gazeveil lab audit --list`. "
    "Exit code 1 means that the claim is violated."
)
def audit(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="What to audit; see --list.")] = None,
    trials: Annotated[int, typer.Option("--trials", help="Runs on each of the two inputs.")] = 1_000_000,
    confidence: Annotated[float, typer.Option("--confidence", help="Confidence of the bounds.")] = 0.99,
    method: Annotated[
        str,
        typer.Option(
            "--method", metavar=NamesOf("audit method"), help="How ε is bounded; auto is exact where that is possible."
        ),
    ] = "auto",
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="OPTION=VALUE", help="An option of the subject; repeatable.")
    ] = None,
    events: Annotated[
        list[str] | None, typer.Option("--events", metavar="FAMILY", help="Only this event family; repeatable.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Same seed, same result, with any number of workers.")
    ] = None,
    workers: Annotated[int | None, typer.Option("--workers", help="Processes; by default one a core.")] = None,
    list_all: Annotated[bool, typer.Option("--list", help="Show what can be audited.")] = False,
    as_json: AsJson = False,
) -> None:
    """Test a mechanism's guarantee: look for a violation.

    The mechanism runs on two neighbouring inputs; ε and δ are bounded from below.
    """
    from gazeveil.privacy.audit import audit as run_audit

    importlib.import_module("gazeveil.lab.audited")  # enters the subjects of the lab
    if list_all:
        _list(as_json=as_json)
        return
    if name is None:
        raise typer.BadParameter("give a subject to audit, or list them with --list", param_hint="NAME")
    subject = _subject(name, dict(_setting(text) for text in settings or []))
    with progress(f"auditing {name}", quiet=as_json) as tell:
        result = run_audit(
            subject,
            trials=trials,
            confidence=confidence,
            method=method,
            families=events,
            seed=seed,
            workers=(os.cpu_count() or 1) if workers is None else workers,
            tell=tell,
        )
    if as_json:
        print_json({"subject": name, **result.to_dict()})
    else:
        _show(name, result)
    if result.violated:
        raise typer.Exit(EXIT_FINDING)


def _subject(name: str, options: dict[str, str]) -> Subject:
    """Build a subject; a radius may have its unit, if it is that of what is audited."""
    from gazeveil.privacy.audit.subject import build
    from gazeveil.samples.space import Length

    length = Length.of(options["radius"]) if "radius" in options else Length(Fraction(0))
    subject = build(name, options | ({"radius": as_text(length.number)} if length.unit else {}))
    unit = getattr(subject.claim, "radius_unit", "")
    if length.unit not in ("", unit):
        raise OptionError(f"radius is {length}, but {name} is audited in {unit or 'no unit'}")
    return subject


def _setting(text: str) -> tuple[str, str]:
    option, equals, value = text.partition("=")
    if not equals:
        raise OptionError(f"a setting reads OPTION=VALUE, not {text!r}", hint="for example --set epsilon=2")
    return option, value


def _list(*, as_json: bool) -> None:
    from gazeveil.privacy.audit.subject import SUBJECTS, about, options_of

    subjects: list[dict[str, Any]] = [
        {"name": name, "about": about(SUBJECTS[name]), "options": options_of(SUBJECTS[name])}
        for name in SUBJECTS.names()
    ]
    if as_json:
        print_json({"subjects": subjects})
        return
    rows = [
        [item["name"], item["about"], ", ".join(f"{option}={value:g}" for option, value in item["options"].items())]
        for item in subjects
    ]
    print_table("what can be audited", ["name", "what it is", "options for --set"], rows)


def _show(name: str, result: AuditResult) -> None:
    rows: list[list[object]] = [
        ["verdict", str(result.verdict)],
        ["claimed", str(result.claim)],
        ["ε at least", f"{result.epsilon_lower_bound:.4g}{_at('δ', result.claimed_delta)}"],
    ]
    if result.delta_lower_bound is not None and result.claimed_epsilon is not None:
        rows.append(["δ at least", f"{result.delta_lower_bound:.4g}{_at('ε', result.claimed_epsilon)}"])
    rows.append(["seen in", result.event])
    if result.findings:
        rows.append(["counted", _counted(result.findings[0])])
        rows.append(["runs", f"{result.trials:,} on each input, {result.findings[0].runs:,} of them counted"])
    if result.smallest_caught is not None:
        rows.append(["power", result.power().strip()])
    rows.append(["noise", result.noise])
    print_table(name, ["", ""], rows)
    print(result.in_words())


def _at(letter: str, value: float) -> str:
    return f" at {letter} = {value:.4g}" if value else ""


def _counted(finding: Finding) -> str:
    share, other = (count / finding.runs for count in (finding.seen, finding.seen_on_neighbour))
    return f"in {share:.4%} of runs on the {finding.likelier_on} input, {other:.4%} on its neighbour: {finding.pair}"
