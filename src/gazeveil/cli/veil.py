# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil veil``: recordings behind a veil, with the promise that was kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from gazeveil import __version__
from gazeveil.cli._output import AsJson, Progress, command_app, print_json, progress
from gazeveil.cli._reading import GazeSource, Inputs, follow, reads_gaze
from gazeveil.cli._spending import check_apart
from gazeveil.cli.convert import _format_of as format_of
from gazeveil.errors import InputError, OptionError, OutputError
from gazeveil.files import replacing
from gazeveil.gaze.formats.base import FORMATS, Chunk, WritableFormat
from gazeveil.gaze.geometry import Geometry
from gazeveil.gaze.reading import ChunkStream
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import Guarantee
from gazeveil.privacy.ledger import Ledger, Receipt
from gazeveil.privacy.ledger.account import in_letters
from gazeveil.privacy.release import sidecar_of
from gazeveil.privacy.statement import statement
from gazeveil.samples.batch import Batch
from gazeveil.samples.channels import Eyes
from gazeveil.samples.mechanism import MECHANISMS, SampleMechanism
from gazeveil.samples.mechanisms.edge import RULES
from gazeveil.samples.output import processed
from gazeveil.samples.presets import find_preset
from gazeveil.samples.recipe import from_recipe, parameters, read_recipe
from gazeveil.samples.space import space_of

app = command_app()

Make = Callable[[Geometry], SampleMechanism]


@app.command(
    epilog="Example: `gazeveil veil gaze.csv --mechanism clock --epsilon 3 --window 0.5 --radius 60 --out veiled.csv`"
)
@reads_gaze
def veil(
    inputs: Inputs,
    source: GazeSource,
    out: Annotated[Path, typer.Option("--out", help="File or folder to write.")],
    mechanism: Annotated[str | None, typer.Option("--mechanism", help="Which veil; clock keeps a promise.")] = None,
    preset_name: Annotated[
        str | None, typer.Option("--preset", help="A setting of the papers: lphu, mpmu, hplu, gaussian-low, …")
    ] = None,
    recipe: Annotated[Path | None, typer.Option("--recipe", help="A mechanism as JSON or TOML, for chains.")] = None,
    epsilon: Annotated[str | None, typer.Option("--epsilon", help="How much a window may lose.")] = None,
    window: Annotated[str | None, typer.Option("--window", help="Seconds of a window; samples for smoothing.")] = None,
    radius: Annotated[str | None, typer.Option("--radius", help="How far gaze is hidden, in its own unit.")] = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="Any other parameter; repeat it.", metavar="KEY=VALUE")
    ] = None,
    edge: Annotated[str | None, typer.Option("--edge", help="Beyond the edges: clamp or reflect.")] = None,
    eyes: Annotated[str, typer.Option("--eyes", help="Single eyes: drop, or same for the one veiled point.")] = "drop",
    to: Annotated[str | None, typer.Option("--to", help="Format to write; by default from the name.")] = None,
    picture: Annotated[
        Path | None, typer.Option("--picture", help="Draw the first recording before and after: shows raw gaze.")
    ] = None,
    ledger: Annotated[
        str | None, typer.Option("--ledger", help="The ledger to charge: a file or postgresql://…")
    ] = None,
    dataset: Annotated[str, typer.Option("--dataset", help="The data set's name in the ledger.")] = "",
    seed: Annotated[int | None, typer.Option("--seed", help="Repeatable noise, for trying out: not private.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Veil gaze files: every sample gets a veiled point, every other channel is dropped."""
    given = {"epsilon": epsilon, "window": window, "radius": radius}
    texts = {name: text for name, text in given.items() if text is not None} | _settings(setting or [])
    make = _maker(mechanism, preset_name, recipe, texts)
    if edge is not None:
        make = _with_edge(make, edge)
    writer = _writer(out, to)
    for target in (out, sidecar_of(out), *([picture] if picture else [])):
        if target.exists() and not overwrite:
            raise OutputError(f"{target} exists already", hint="choose another name, or add --overwrite")
        for path in inputs:
            check_apart(target, path, ledger)
    if picture is not None:
        _check_picture(picture, out)
        from gazeveil.release.plots import canvas  # noqa: PLC0415

        canvas()  # says what is missing before anything is written
    noise = NoiseSource.secure() if seed is None else NoiseSource.seeded(seed)
    streams = source.streams(inputs)
    with ExitStack() as stack:
        payment = Payment(None if ledger is None else stack.enter_context(Ledger.open(ledger)), dataset)
        batch = Batch(make, noise, eyes=_eyes(eyes), before=payment.charge)
        tell = stack.enter_context(progress("veiling", quiet=as_json))
        _write(writer, batch, payment, _chunks(streams, tell), out)
    if picture is not None:
        _draw(batch, picture)
    _tell(batch, payment, out, picture, as_json=as_json)


class Payment:
    """What a batch costs. A window of gaze lies in one recording, so a promise is paid once for all of them."""

    def __init__(self, book: Ledger | None, dataset: str) -> None:
        if (book is None) != (not dataset):
            raise OptionError("--ledger and --dataset go together", hint="say which account of which ledger pays")
        self._book, self._dataset = book, dataset
        self.receipts: list[Receipt] = []

    def charge(self, mechanism: SampleMechanism, guarantee: Guarantee) -> None:
        """Pay before the first sample; every geometry with another promise is paid for, which is never too little."""
        if self._book is None or any(receipt.guarantee == guarantee for receipt in self.receipts):
            return
        self.receipts.append(self._book.charge(self._dataset, guarantee, recipe=mechanism.to_dict(), note="veil"))


def _maker(mechanism: str | None, preset_name: str | None, recipe: Path | None, texts: dict[str, str]) -> Make:
    """Return what makes the mechanism for a geometry; what can be refused without gaze is refused now."""
    if sum(choice is not None for choice in (mechanism, preset_name, recipe)) != 1:
        raise OptionError(
            "say which veil: --mechanism, --preset or --recipe, one of them",
            hint="for example --preset lphu, or --mechanism clock --epsilon 3 --window 0.5 --radius 60",
        )
    if recipe is not None:
        if texts:
            raise OptionError(f"a recipe holds all parameters; {', '.join(texts)} cannot be given besides")
        values = read_recipe(recipe)
        return lambda geometry: from_recipe(values, space_of(geometry))
    if preset_name is not None:
        chosen = find_preset(preset_name)
        changes = parameters(chosen.mechanism, texts, complete=False)
        return lambda geometry: chosen.mechanism_in(space_of(geometry), **changes)
    name = str(mechanism)
    given = parameters(name, texts)
    return lambda geometry: MECHANISMS[name](space_of(geometry), **given)


def _with_edge(make: Make, edge: str) -> Make:
    if edge not in RULES:
        raise OptionError(f"--edge must be {' or '.join(RULES)}, not {edge!r}")
    return lambda geometry: processed(make(geometry), edge=edge)


def _settings(pairs: list[str]) -> dict[str, str]:
    settings = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not key or not equals:
            raise OptionError(f"--set must be KEY=VALUE, not {pair!r}", hint="for example --set sigma=3")
        settings[key] = value
    return settings


def _eyes(text: str) -> Eyes:
    if text not in ("drop", "same"):
        raise OptionError(f"--eyes must be drop or same, not {text!r}")
    return "same" if text == "same" else "drop"


def _writer(out: Path, to: str | None) -> WritableFormat:
    name = to or format_of(out)
    writer = FORMATS[name]
    if not isinstance(writer, WritableFormat):
        writable = ", ".join(name for name in FORMATS.names() if isinstance(FORMATS[name], WritableFormat))
        raise InputError(f"{name} can be read but not written", hint=f"write one of: {writable}")
    return writer


def _chunks(streams: list[ChunkStream], tell: Progress) -> Iterator[Chunk]:
    for index, stream in enumerate(streams):
        yield from follow(stream, tell, index, len(streams))


def _write(writer: WritableFormat, batch: Batch, payment: Payment, chunks: Iterator[Chunk], out: Path) -> None:
    """Write what is veiled; its promise is in place before it is, and goes again if writing fails."""
    sidecar = sidecar_of(out)
    before = sidecar.read_bytes() if sidecar.exists() else None

    def promised() -> Iterator[Chunk]:
        yield from batch.veil(chunks)
        with replacing(sidecar) as file:
            told = json.dumps(_promise(batch, payment, out), indent=2, ensure_ascii=False)
            file.write_text(told + "\n", encoding="utf-8")

    try:
        writer.write(promised(), out)
    except BaseException:
        if before is None:
            sidecar.unlink(missing_ok=True)
        else:
            sidecar.write_bytes(before)
        raise


def _promise(batch: Batch, payment: Payment, out: Path) -> dict[str, Any]:
    """Return what goes with the release: nothing in it is computed from gaze."""
    return {
        "format": "gazeveil-veiled",
        "version": 1,
        "gazeveil": __version__,
        "file": out.name,
        "guarantee": [guarantee.to_dict() for guarantee in batch.guarantees],
        "statement": _statements(batch),
        "delay_s": _delay(batch),
        "recipe": [mechanism.to_dict() for mechanism in batch.mechanisms.values()],
        "receipts": [receipt.to_dict() for receipt in payment.receipts],
        "recordings": batch.recordings,
        "samples": batch.samples,
    }


def _check_picture(picture: Path, out: Path) -> None:
    place, release = picture.resolve(), out.resolve()
    if place in (release, sidecar_of(out).resolve()) or release in place.parents:
        raise OutputError(
            f"{picture} would be part of the release, and it shows raw gaze", hint="draw it to another place"
        )


def _statements(batch: Batch) -> list[str]:
    late = _delay(batch)
    told = f" What was released runs late: each point is about where gaze was {late:g} s before." if late else ""
    return [statement(guarantee).paragraph() + told for guarantee in batch.guarantees]


def _delay(batch: Batch) -> float:
    return max((mechanism.delay for mechanism in batch.mechanisms.values()), default=0.0)


def _draw(batch: Batch, picture: Path) -> None:
    from gazeveil.release.veil_plots import before_and_after  # noqa: PLC0415  (loads the plotting parts)

    if not batch.preview:
        return
    geometry, mechanism = next(iter(batch.mechanisms.items()))
    with replacing(picture) as file:
        file.write_bytes(before_and_after(batch.preview, geometry, mechanism.in_words()))


def _tell(batch: Batch, payment: Payment, out: Path, picture: Path | None, *, as_json: bool) -> None:
    names = [mechanism.in_words() for mechanism in batch.mechanisms.values()]
    if as_json:
        promise = _promise(batch, payment, out)
        about = ("guarantee", "statement", "delay_s", "recipe", "receipts", "recordings", "samples")
        shown = {key: promise[key] for key in about}
        odd = {"faults": batch.faults._asdict(), "moved": batch.moved, "dropped": batch.dropped}
        print_json({"out": out, "sidecar": sidecar_of(out), "picture": picture, **shown, **odd})
        return
    unit = ", ".join(dict.fromkeys(str(geometry.unit) for geometry in batch.mechanisms))
    print(f"veiled {batch.samples:,} samples of {batch.recordings:,} recordings with {'; '.join(names) or 'nothing'}")
    for paragraph in _statements(batch):
        print(f"promise   {paragraph}")
    for receipt in payment.receipts:
        spent, left = in_letters(receipt.account.spent), in_letters(receipt.account.remaining, up=False)
        print(f"budget    charged to {receipt.account.dataset}: {spent} spent, {left} left")
    print(f"moved     by {batch.moved:.4g} {unit} (root mean square; from raw gaze, so not for release)")
    if batch.dropped:
        print(f"dropped   {', '.join(batch.dropped)}")
    told = {name.replace("_", " "): count for name, count in batch.faults._asdict().items() if count}
    if told:
        print(f"noticed   {', '.join(f'{name} {count:,}' for name, count in told.items())}")
    if picture is not None:
        print(f"picture   {picture} shows raw gaze: not for release")
