# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The options of every command that releases, declared once, and the steps that all of them share.

A command decorated with `releases` takes a parameter ``request`` (a `ReleaseRequest`), which is filled from the command
line. It makes a mechanism of its own options and hands it to `ReleaseRequest.release`, which plans, shows the forecast,
charges, releases and writes the record. A command that reads more than a corpus folder takes ``inputs`` instead of the
corpus, and gives the source with `ReleaseRequest.with_source`.
"""

from __future__ import annotations

import functools
import inspect
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gazeveil.cli._program import product_settings
from gazeveil.errors import OptionError, OutputError
from gazeveil.privacy.protection import IN_SHORT, Neighbours
from gazeveil.terminal.options import (
    DistanceMm,
    FovDeg,
    ScreenPx,
    SizeMm,
    option,
    sizes_of,
    with_parameters,
    with_settings,
)
from gazeveil.terminal.printing import AsJson, print_json, print_line, progress, show_preview

if TYPE_CHECKING:
    import polars as pl

    from gazeveil.release.data import Source
    from gazeveil.release.release import PrintedLine, Release
    from gazeveil.release.study import Study

VARIABLE = "GAZEVEIL_LEDGER"

_FACTS = "Public facts"
_PAYING = "Privacy budget"
_RUNNING = "How it runs"

Out = Annotated[Path | None, typer.Option("--out", metavar="FOLDER", help="The folder to write the release to.")]
LedgerAt = Annotated[
    str | None,
    typer.Option(
        "--ledger", envvar=VARIABLE, help="The ledger to charge: a file or postgresql://…", rich_help_panel=_PAYING
    ),
]
Account = Annotated[
    str,
    typer.Option("--account", help="The data set's name in the ledger.", rich_help_panel=_PAYING),
]
NoLedger = Annotated[
    bool, typer.Option("--no-ledger", help="Keep no account of this release.", rich_help_panel=_PAYING)
]


@dataclass(frozen=True, slots=True)
class _ReleaseOptions:
    """The options that every releasing command has."""

    corpus: Annotated[Path, typer.Argument(help="A corpus folder, as `gazeveil convert` makes it.")]
    study_file: Annotated[
        Path | None, option("--study", text="The declared study, a TOML file.", panel=_FACTS, metavar="study.toml")
    ] = None
    participants: Annotated[
        int | None,
        option("--participants", text="Number of participants, if that is public.", panel=_FACTS),
    ] = None
    neighbours: Annotated[
        Neighbours,
        option("--neighbours", text="add-remove keeps the number of participants secret.", panel=_FACTS),
    ] = Neighbours.REPLACE_ONE
    screen: ScreenPx = None
    size_mm: SizeMm = None
    distance_mm: DistanceMm = None
    fov_deg: FovDeg = None
    out: Out = None
    ledger: LedgerAt = None
    account: Account = ""
    no_ledger: NoLedger = False
    dry_run: Annotated[
        bool, option("--dry-run", text="Show guarantee, cost and forecast only; spend nothing.", panel=_RUNNING)
    ] = False
    anyway: Annotated[
        bool, option("--anyway", text="Release even if the forecast says it is not worth it.", panel=_RUNNING)
    ] = False
    engine: Annotated[str, option("--engine", text="local, or a Spark master.", panel=_RUNNING)] = "local"
    seed: Annotated[
        int | None, option("--seed", text="Seed for repeatable noise, for tests only: not private.", panel=_RUNNING)
    ] = None
    sign_with: Annotated[
        Path | None, option("--sign", text="Sign the record with this Ed25519 key (PEM).", panel=_RUNNING)
    ] = None
    overwrite: Annotated[bool, option("--overwrite", text="Replace an earlier release.", panel=_RUNNING)] = False
    as_json: AsJson = False

    @property
    def sizes(self) -> dict[str, float]:
        """What the options say about the screen."""
        return sizes_of(self.screen, self.size_mm, self.distance_mm, self.fov_deg)

    def __post_init__(self) -> None:
        _ = self.sizes  # refuses a wrong size before any work


@dataclass(frozen=True, slots=True)
class ReleaseRequest(_ReleaseOptions):
    """The common options of a releasing command, and where its recordings come from."""

    source: Source | None = None
    inputs: tuple[Path, ...] = ()

    @property
    def secret(self) -> bool:
        """Whether the number of participants is kept secret."""
        return self.neighbours is Neighbours.ADD_REMOVE

    def with_source(self, source: Source) -> ReleaseRequest:
        """Return the request with recordings from another source than a corpus folder."""
        return replace(self, source=source)

    def study(self, observed: Callable[..., Study] | None = None) -> Study:
        """Return the declared study; without a declaration, the facts as ``observed`` reads them off the data."""
        from gazeveil.gaze.corpus import Corpus
        from gazeveil.release.study import Study

        if self.study_file is not None:
            if self.participants is not None or self.secret:
                raise OptionError(
                    "the study declares who takes part: --participants and --neighbours go without --study"
                )
            return Study.open(self.study_file).on_screen(**self.sizes)
        if observed is not None:
            return observed(self.corpus, number=self.participants, secret=self.secret).on_screen(**self.sizes)
        whole = Corpus.open(self.corpus) if self.source is None else self.source.open([])
        return Study.observed_in(whole, number=self.participants, secret=self.secret).on_screen(**self.sizes)

    def release(self, study: Study, mechanism: Any, **which: Any) -> Release | None:
        """Plan, show, charge, release and write, in the same steps for every product; return None for a dry run."""
        from gazeveil.noise import NoiseSource
        from gazeveil.release.record import NAME, private_report_path

        if self.dry_run:
            plan = study.plan(mechanism, **which)
            self._show(plan.in_words(), plan.measurement.preview(), plan.warnings)
            if self.as_json:
                print_json({**plan.to_dict(), "spent": False})
            else:
                print("Nothing was spent: this was a dry run.")
            return None
        ledger, account = self._payer(study)
        out = self._place(ledger)
        plan = study.plan(mechanism, **which)
        self._show(plan.in_words(), plan.measurement.preview(), plan.warnings)
        with progress("reading gaze", quiet=self.as_json, shares=False) as tell:
            release = plan.release(
                self.source or self.corpus,
                ledger=ledger,
                account=account,
                noise=None if self.seed is None else NoiseSource.seeded(self.seed),
                engine=self.engine,
                anyway=self.anyway,
                tell=tell,
            )
        with progress("writing", quiet=self.as_json, shares=False) as tell:
            release.save(out, overwrite=self.overwrite, sign_with=self.sign_with, tell=tell)
        shares = release.measurement.shares(release.value)
        warnings = (*plan.warnings, *(() if shares is None else shares.warnings()))
        if self.as_json:
            record = json.loads((out / NAME).read_text(encoding="utf-8"))
            about = {"out": out, "private_report": private_report_path(out), "charged": release.receipt is not None}
            print_json({**about, "warnings": warnings, **record})
        else:
            _report(release.in_words(), out, ledger)
            for warning in warnings[len(plan.warnings) :]:
                print(f"warning: {warning}", file=sys.stderr)
        return release

    def _show(self, lines: Iterable[PrintedLine], preview: pl.DataFrame | None, warnings: Iterable[str]) -> None:
        """Show what is known before anything is spent."""
        if self.as_json:
            return
        for line in lines:
            print_line(*line)
        show_preview(preview)
        for warning in warnings:
            print(f"warning: {warning}", file=sys.stderr)

    def _place(self, ledger: str | None) -> Path:
        from gazeveil.release.record import check_place

        if self.out is None:
            raise OptionError("give --out for the folder to write, or --dry-run to see the forecast only")
        if self.out.suffix.lower() in {".csv", ".parquet", ".json", ".npz", ".png", ".tsv"}:
            raise OptionError(
                f"a release is a folder with its record, not a file such as {self.out.name!r}",
                hint=f"write --out {self.out.with_suffix('')}; the values are files in that folder",
            )
        for path in self.inputs or (self.corpus,):
            check_apart(self.out, path, ledger)
        check_place(self.out, overwrite=self.overwrite)
        return self.out

    def _payer(self, study: Study) -> tuple[str | None, str]:
        declared = study.budget
        declared_one = "" if self.no_ledger else declared.ledger  # the option wins over the declaration
        ledger = ledger_to_charge(self.ledger or declared_one or None, no_ledger=self.no_ledger)
        account = self.account or declared.account
        if ledger is not None and not account:
            raise OptionError(
                "--ledger needs --account, the data set's name in it",
                hint=f"`gazeveil ledger show --ledger {ledger}` lists the accounts",
            )
        return ledger, account


def ledger_to_charge(ledger: str | None, *, no_ledger: bool) -> str | None:
    """Check that a ledger is given to charge, or declined; return the ledger to charge.

    Raises:
        OptionError: If neither a ledger nor ``--no-ledger`` is given, or both.
    """
    if no_ledger and ledger == os.environ.get(VARIABLE):  # the option wins over the environment
        ledger = None
    if (ledger is None) != no_ledger:
        raise OptionError(
            "give --ledger and --account to charge a ledger, or --no-ledger to keep no account",
            hint="make one with `gazeveil ledger init ACCOUNT --epsilon 3 --delta 1e-4`",
        )
    return ledger


def check_apart(out: Path, corpus: Path, ledger: str | None) -> None:
    """Check that the release overwrites nothing that is needed, and lies apart from raw gaze.

    Raises:
        OutputError: If it is, holds or lies in the corpus, or is or holds the ledger or the folder one works in.
    """
    place, gaze = out.resolve(), corpus.resolve()
    if gaze == place or place in gaze.parents or gaze in place.parents:
        raise OutputError(
            f"{out} and the raw gaze in {corpus} are not apart", hint="write releases to a place without raw gaze"
        )
    kept = {"the folder that you work in": Path.cwd()}
    if ledger is not None and "://" not in ledger:
        kept["the ledger"] = Path(ledger).resolve()
    for name, path in kept.items():
        if path == place or place in path.parents:
            raise OutputError(f"{out} would take the place of {name}", hint="choose another name")


def takes_settings(product: str, panels: Mapping[str, str] = MappingProxyType({})) -> Callable[..., Any]:
    """Give a command the settings of a product's mechanism as options, and pass them as ``settings``."""
    return with_settings("settings", product_settings(product).values(), panels=panels, more=f": {IN_SHORT}")


def releases(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of a release and pass them as ``request``, a `ReleaseRequest`."""
    own = inspect.signature(command, eval_str=True)
    extra = dict(inspect.signature(_ReleaseOptions, eval_str=True).parameters)
    corpus = [] if "inputs" in own.parameters else [extra["corpus"]]
    del extra["corpus"]
    shared = extra.keys() & own.parameters.keys()  # options of both: how large the screen is

    @functools.wraps(command)
    def run(**arguments: Any) -> Any:
        inputs = tuple(arguments["inputs"]) if "inputs" in arguments else (arguments.pop("corpus"),)
        said = {name: arguments[name] if name in shared else arguments.pop(name) for name in extra}
        return command(**arguments, request=ReleaseRequest(inputs[0], **said, inputs=inputs))

    parameters = [parameter for name, parameter in own.parameters.items() if name != "request"]
    first = [*corpus, *parameters, *(item for name, item in extra.items() if name not in shared)]
    return with_parameters(run, first)


def _report(lines: Iterable[PrintedLine], out: Path, ledger: str | None) -> None:
    """Show what was released, where it is, and what to do next."""
    from gazeveil.privacy.statement import PAGE
    from gazeveil.release import visual_report
    from gazeveil.release.documents import EVIDENCE, METHODS
    from gazeveil.release.record import NAME, private_report_path

    print_line("wrote", f"{out}, with its record in {out / NAME}")
    for line in lines:
        print_line(*line)
    print_line("read", f"in {out}: {PAGE} for participants, {METHODS} for your paper, {EVIDENCE} for reviewers")
    if not visual_report.available():
        print_line("pictures", "none were drawn: install gazeveil[plots] before the next release")
    print_line("private", f"{private_report_path(out)} is for you: keep it with the raw data, and do not publish it")
    charged = "" if ledger is None else f" --ledger {ledger}"
    print_line("next", f"gazeveil verify {out}{charged}")
