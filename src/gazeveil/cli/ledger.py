# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil ledger``: keep privacy budgets, and see what was spent."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gazeveil.errors import FileFormatError, LedgerError, OptionError
from gazeveil.files import replacing
from gazeveil.privacy.protection import Neighbours, Observer, OneRecording
from gazeveil.terminal import NamesOf
from gazeveil.terminal.options import with_fields_of
from gazeveil.terminal.printing import AsJson, command_app, print_json, print_table

if TYPE_CHECKING:
    from gazeveil.privacy.guarantee import Guarantee
    from gazeveil.privacy.ledger import Account, Ledger, LedgerEvent
    from gazeveil.privacy.ledger.store import StoredEvent


app = command_app()
DEFAULT = "ledger.sqlite"
_SQLITE = b"SQLite format 3"


class Unit(StrEnum):
    """Unit of privacy of a budget."""

    OBSERVER = "observer"
    RECORDING = "recording"


Dataset = Annotated[str, typer.Argument(metavar="DATASET", help="The data set's name.")]
AnyDataset = Annotated[
    str | None, typer.Argument(metavar="[DATASET]", help="Only this data set; or a ledger, as with --ledger.")
]
Place = Annotated[str | None, typer.Argument(metavar="[LEDGER]", help="The ledger, as with --ledger.")]
Person = Annotated[
    str, typer.Option("--participant", help="One participant of it, for streams; without: the data set.")
]
AnyPerson = Annotated[str | None, typer.Option("--participant", help="Only this participant.")]
Where = Annotated[
    str,
    typer.Option("--ledger", envvar="GAZEVEIL_LEDGER", help="A file, or postgresql://user@host/database for a team."),
]
Note = Annotated[str, typer.Option("--note", help="A remark for the record.")]
# Numbers are read as text, because 0.1 is to be one tenth and not the float next to it.
Epsilon = Annotated[str | None, typer.Option("--epsilon", metavar="NUMBER", help="ε: odds change by at most e^ε.")]
Delta = Annotated[str | None, typer.Option("--delta", metavar="NUMBER", help="δ of the guarantee, for example 1e-6.")]
Rho = Annotated[str | None, typer.Option("--rho", metavar="NUMBER", help="ρ: zero-concentrated, instead of ε.")]
Window = Annotated[str | None, typer.Option("--window", metavar="SECONDS", help="For streams: the protected window.")]
Radius = Annotated[
    str | None, typer.Option("--radius", metavar="LENGTH", help="For streams: the protected radius, 60px or 2deg.")
]
RadiusUnit = Annotated[
    str | None,
    typer.Option(
        "--radius-unit", metavar=NamesOf("radius unit"), help="Unit of --radius, where it does not say; px by default."
    ),
]
UnitOption = Annotated[Unit, typer.Option("--unit", help="Unit of privacy.")]
Relation = Annotated[Neighbours, typer.Option("--neighbours", help="How neighbouring data sets differ.")]


@dataclass(frozen=True, slots=True)
class GuaranteeOptions:
    """A guarantee as options describe it."""

    epsilon: Epsilon = None
    delta: Delta = None
    rho: Rho = None
    window: Window = None
    radius: Radius = None
    radius_unit: RadiusUnit = None
    unit: UnitOption = Unit.OBSERVER
    neighbours: Relation = Neighbours.REPLACE_ONE

    def guarantee(self) -> Guarantee:
        """Return the guarantee that the options describe."""
        from gazeveil.privacy.guarantee import ApproxDP, GazeStreamDP, PureDP, ZeroConcentratedDP
        from gazeveil.samples.space import Length

        ground: dict[str, Any] = {
            "unit": Observer() if self.unit is Unit.OBSERVER else OneRecording(),
            "neighbours": self.neighbours,
        }
        if (self.epsilon is None) == (self.rho is None):
            raise OptionError("give --epsilon, --epsilon with --delta, or --rho")
        if self.rho is not None:
            if self.delta is not None or self.window is not None or self.radius is not None:
                raise OptionError("--rho stands alone, without --delta, --window and --radius")
            return ZeroConcentratedDP(self.rho, **ground)
        if self.epsilon is None:
            raise OptionError("give --epsilon, --epsilon with --delta, or --rho")
        if self.window is not None or self.radius is not None:
            if self.window is None or self.radius is None or self.delta is not None:
                raise OptionError("a stream needs --epsilon, --window and --radius, and no --delta")
            if self.unit is not Unit.OBSERVER or self.neighbours is not Neighbours.REPLACE_ONE:
                raise OptionError("--window and --radius say what is protected; leave out --unit and --neighbours")
            length = Length.of(self.radius)
            if length.unit == "%":
                raise OptionError(f"a ledger knows no screen to take {length} of", hint="give 60px, 2deg or 0.05norm")
            if self.radius_unit is not None and length.unit not in ("", self.radius_unit):
                raise OptionError(
                    f"--radius is {length}, but --radius-unit is {self.radius_unit}", hint="leave out --radius-unit"
                )
            return GazeStreamDP(self.epsilon, self.window, length.number, length.unit or self.radius_unit or "px")
        if self.delta is not None:
            return ApproxDP(self.epsilon, self.delta, **ground)
        return PureDP(self.epsilon, **ground)


@app.callback()
def ledger() -> None:
    """Keep privacy budgets, and see what was spent."""


@app.command(epilog="Example: `gazeveil ledger init study-7 --epsilon 3 --delta 1e-6`")
@with_fields_of("described", GuaranteeOptions)
def init(
    dataset: Dataset,
    described: GuaranteeOptions,
    person: Person = "",
    note: Note = "",
    where: Where = DEFAULT,
    as_json: AsJson = False,
) -> None:
    """Open an account with its first budget; makes the ledger if there is none."""
    from gazeveil.privacy.ledger import Ledger
    from gazeveil.privacy.ledger.account import account_label

    budget = described.guarantee()
    with Ledger.open(where, create=True) as book:
        account = book.grant(dataset, budget, person=person, note=note, first=True)
        _print_account(
            account, f"opened the account of {account_label(dataset, person)} in {book.store.where}", as_json=as_json
        )


@app.command(epilog="Example: `gazeveil ledger grant study-7 --epsilon 1 --delta 1e-7 --note 'second wave'`")
@with_fields_of("described", GuaranteeOptions)
def grant(
    dataset: Dataset,
    described: GuaranteeOptions,
    person: Person = "",
    note: Note = "",
    where: Where = DEFAULT,
    as_json: AsJson = False,
) -> None:
    """Add to a budget, or open another account in a ledger that is there."""
    from gazeveil.privacy.ledger import Ledger
    from gazeveil.privacy.ledger.account import account_label

    budget = described.guarantee()
    with Ledger.open(where) as book:
        account = book.grant(dataset, budget, person=person, note=note)
    _print_account(account, f"granted {budget} to {account_label(dataset, person)}", as_json=as_json)


@app.command(epilog="Example: `gazeveil ledger charge study-7 --epsilon 0.5 --id map-12 --note 'heatmap of page 3'`")
@with_fields_of("described", GuaranteeOptions)
def charge(
    dataset: Dataset,
    described: GuaranteeOptions,
    person: Person = "",
    note: Note = "",
    charge_id: Annotated[str, typer.Option("--id", help="Your name for it; the same id is charged once.")] = "",
    where: Where = DEFAULT,
    as_json: AsJson = False,
) -> None:
    """Pay for a release that another program makes; it may leave only if this succeeds."""
    from gazeveil.privacy.ledger import Ledger

    guarantee = described.guarantee()
    with Ledger.open(where) as book:
        receipt = book.charge(dataset, guarantee, person=person, note=note, charge_id=charge_id)
    if as_json:
        print_json({**receipt.to_dict(), "repeated": receipt.repeated, "account": receipt.account.to_dict()})
        return
    done = "had been charged before" if receipt.repeated else "charged"
    _print_account(receipt.account, f"{done}: {guarantee}", as_json=False)


@app.command(epilog="Example: `gazeveil ledger show study-7 --json`")
def show(dataset: AnyDataset = None, person: AnyPerson = None, where: Where = DEFAULT, as_json: AsJson = False) -> None:
    """Show what was granted, spent and is left."""
    from gazeveil.privacy.ledger import Ledger

    dataset, where = _dataset_or_ledger(dataset, where)
    with Ledger.open(where) as book:
        accounts = [book.account(dataset, person)] if dataset and person is not None else book.accounts()
        if dataset and person is None:
            accounts = [each for each in accounts if each.dataset == dataset] or [book.account(dataset)]
    if as_json:
        print_json({"ledger": book.store.where, "accounts": [account.to_dict() for account in accounts]})
        return
    columns = ("data set", "participant", "budget", "spent", "left", "comes back next", "charges", "state")
    _print(f"accounts in {book.store.where}", columns, [_row(account) for account in accounts])


@app.command(epilog="Example: `gazeveil ledger history study-7`")
def history(
    dataset: AnyDataset = None, person: AnyPerson = None, where: Where = DEFAULT, as_json: AsJson = False
) -> None:
    """Show every grant and charge, from the first."""
    from gazeveil.privacy.ledger import Ledger

    dataset, where = _dataset_or_ledger(dataset, where)
    with Ledger.open(where) as book:
        if dataset:
            book.account(dataset, person or "") if person is not None else _check_known(book, dataset)
        events = list(book.history(dataset, person))
    if as_json:
        print_json({"ledger": book.store.where, "events": [event.to_dict() for event in events]})
        return
    columns = ("time (UTC)", "data set", "participant", "number", "what", "guarantee", "recipe", "id", "note")
    _print(f"history in {book.store.where}", columns, [_event_row(event) for event in events])


@app.command(epilog="Example: `gazeveil ledger export --out ledger-2026-03.jsonl`")
def export(
    dataset: AnyDataset = None,
    person: AnyPerson = None,
    out: Annotated[Path | None, typer.Option("--out", help="The file to write; without: standard output.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if it is there.")] = False,
    where: Where = DEFAULT,
    as_json: AsJson = False,
) -> None:
    """Write every event as one line of JSON, with its digest: for archives, and for `verify --against`."""
    from gazeveil.privacy.ledger import Ledger

    dataset, where = _dataset_or_ledger(dataset, where)
    with Ledger.open(where) as book:
        lines = book.lines(dataset, person)
        if out is None:
            if as_json:
                print_json({"ledger": book.store.where, "events": [_exported(line) for line in lines]})
            else:
                for line in lines:
                    print(json.dumps(_exported(line), ensure_ascii=False))
            return
        count = 0
        with (
            replacing(out, overwrite=overwrite) as temporary,
            temporary.open("w", encoding="utf-8", newline="\n") as file,
        ):
            for line in lines:
                file.write(json.dumps(_exported(line), ensure_ascii=False) + "\n")
                count += 1
    if as_json:
        print_json({"ledger": book.store.where, "out": out, "events": count})
    else:
        print(f"wrote {count:,} events to {out}")


@app.command(epilog="Example: `gazeveil ledger verify --release maps --against ledger-2026-03.jsonl`")
def verify(
    place: Place = None,
    against: Annotated[
        Path | None, typer.Option("--against", help="An earlier export; all of its events must still be there.")
    ] = None,
    release: Annotated[
        list[Path] | None, typer.Option("--release", help="A release whose charge must be there; may be repeated.")
    ] = None,
    where: Where = DEFAULT,
    as_json: AsJson = False,
) -> None:
    """Replay every event: is the chain whole, do totals and budgets hold, is it no old copy? Exit code 1 if not."""
    from gazeveil.privacy.ledger import Ledger

    exported = [] if against is None else list(exported_digests(against))
    with Ledger.open(place or where) as book:
        found = book.verify(exported)
        found = replace(found, faults=(*found.faults, *release_faults(book, release or [])))
    if as_json:
        print_json({"ledger": book.store.where, **found.to_dict()})
    else:
        print(f"replayed {found.events:,} events of {found.accounts:,} accounts in {book.store.where}")
        for fault in found.faults:
            print(f"  fault: {fault}")
        print("valid" if found.sound else "NOT VALID: do not release anything from this ledger")
    if not found.sound:
        raise typer.Exit(1)


@app.command(epilog="Example: `gazeveil ledger restore --confirm --note 'the disk failed; backup of 3 March'`")
def restore(
    place: Place = None,
    confirm: Annotated[bool, typer.Option("--confirm", help="Go on without what is lost.")] = False,
    note: Annotated[str, typer.Option("--note", help="The reason, for the record; needed with --confirm.")] = "",
    where: Where = DEFAULT,
    as_json: AsJson = False,
) -> None:
    """Go on with an old copy of a ledger on purpose; without --confirm: show what would be lost."""
    from gazeveil.privacy.ledger import Ledger

    with Ledger.open(place or where) as book:
        loss = book.restore(note) if confirm else book.lost()
        lost = loss.in_words()
        if as_json:
            print_json({"ledger": book.store.where, "lost": lost, "restored": bool(loss) and confirm})
            return
        if not loss:
            print(f"{book.store.where} holds everything that its anchor names: there is nothing to restore")
            return
        print(f"{'lost' if confirm else 'would be lost'} in {book.store.where}:")
        for line in lost:
            print(f"  {line}")
        if confirm:
            print("recorded. These accounts have no guarantee in total any more: lost charges are not counted")
        else:
            print("To go on without them: gazeveil ledger restore --confirm --note REASON")


def exported_digests(path: Path) -> Iterator[str]:
    """Yield the digests in an export."""
    expected = "one exported event a line"
    try:
        with path.open(encoding="utf-8") as file:
            for number, text in enumerate(file, start=1):
                try:
                    values = json.loads(text)
                    yield str(values["digest"])
                except (ValueError, KeyError, TypeError):
                    raise FileFormatError(path, line=number, expected=expected, found=text[:60]) from None
    except (OSError, UnicodeDecodeError) as error:
        raise FileFormatError(path, expected=expected, found=str(error)) from None


def release_faults(ledger: Ledger, releases: Iterable[Path]) -> list[str]:
    """Return the charges that the records of releases name and the ledger does not hold."""
    from gazeveil.privacy.ledger import check_anchor
    from gazeveil.release.verify import record_of

    held = {line.digest for line in ledger.lines()}
    faults = []
    for record in map(record_of, releases):
        receipt = _receipt(record)
        if receipt.get("anchor") is not None:
            try:
                check_anchor(ledger, receipt["anchor"])
            except LedgerError as error:
                faults.append(f"{record}: {error.message}")
        digest = receipt.get("digest")
        if digest not in held:
            faults.append(f"{record}: its charge with the digest {digest} is gone")
    return faults


def _receipt(record: Path) -> Mapping[str, Any]:
    """Return the receipt in a record."""
    try:
        found = json.loads(record.read_text(encoding="utf-8")).get("receipt")
    except (OSError, ValueError, AttributeError) as error:
        raise FileFormatError(record, expected="the record of a release", found=str(error)) from None
    if not isinstance(found, Mapping):
        raise FileFormatError(record, expected="a receipt", found="none: the release was not charged to a ledger")
    return found


def _dataset_or_ledger(named: str | None, where: str) -> tuple[str | None, str]:
    """Return the data set and the ledger; the name that was given may be either."""
    if named is None:
        return None, where
    path = Path(named)
    try:
        with path.open("rb") as file:
            is_ledger = file.read(len(_SQLITE)) == _SQLITE
    except (OSError, ValueError):
        is_ledger = named.startswith(("postgresql://", "postgres://"))
    return (None, named) if is_ledger else (named, where)


def _check_known(book: Ledger, dataset: str) -> None:
    """Refuse a data set without any account."""
    if not any(account.dataset == dataset for account in book.accounts()):
        book.account(dataset)


def _print_account(account: Account, done: str, *, as_json: bool) -> None:
    from gazeveil.privacy.ledger.account import in_letters, restoration_time

    if as_json:
        print_json(account.to_dict())
        return
    print(done)
    print(f"  spent  {in_letters(account.spent)}")
    print(f"  left   {in_letters(account.remaining, up=False)}")
    if back := restoration_time(account):
        print(f"  back   {back}")


def _print(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table without the columns that are empty in every row."""
    kept = [place for place in range(len(columns)) if not rows or any(row[place] not in ("", "–") for row in rows)]
    print_table(title, [columns[place] for place in kept], [[row[place] for place in kept] for row in rows])


def _row(account: Account) -> tuple[object, ...]:
    from gazeveil.privacy.ledger.account import in_letters, restoration_time

    state = "closed" if account.totals.closed else "open"
    if account.totals.unproven:
        state += f", guarantee void: {'; '.join(account.totals.unproven)}"
    budget = "none" if account.budget is None else str(account.budget)
    left = in_letters(account.remaining, up=False)
    return (
        account.dataset,
        account.person or "–",
        budget,
        in_letters(account.spent),
        left,
        restoration_time(account) or "–",
        account.totals.charges,
        state,
    )


def _event_row(event: LedgerEvent) -> tuple[object, ...]:
    from gazeveil.privacy.guarantee import guarantee_from_dict

    guarantee = str(guarantee_from_dict(event.guarantee)) if event.guarantee else "–"
    when = event.time[:19].replace("T", " ")
    whose = event.dataset, event.person or "–", event.number
    return when, *whose, event.kind, guarantee, event.recipe[:12] or "–", event.id or "–", event.note


def _exported(line: StoredEvent) -> dict[str, Any]:
    # The text itself, not what it parses to: the digest is of the text.
    return {"digest": line.digest, "event": line.text}
