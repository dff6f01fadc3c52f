# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil convert``: from any format that we read to any that we write."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gazeveil.errors import InputError
from gazeveil.terminal import NamesOf
from gazeveil.terminal.options import GazeSource, Inputs, follow, reads_gaze
from gazeveil.terminal.printing import AsJson, Progress, check_free, command_app, print_json, progress

if TYPE_CHECKING:
    from gazeveil.gaze.formats.base import Chunk
    from gazeveil.gaze.reading import ChunkStream
    from gazeveil.gaze.recording import Key

app = command_app()


@app.command(epilog="Example: `gazeveil convert *.asc --out study/` (a corpus folder), or `--out gaze.csv`")
@reads_gaze
def convert(
    inputs: Inputs,
    source: GazeSource,
    out: Annotated[Path, typer.Option("--out", help="File or folder to write.")],
    to: Annotated[
        str | None,
        typer.Option("--to", metavar=NamesOf("written format"), help="Format to write; by default from the name."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Convert gaze files to a corpus folder, CSV, Parquet, BIDS or EyeLink ASC.

    Files larger than memory stream through; nothing half written stays behind. What a format has no place for is
    reported.
    """
    from gazeveil.gaze.formats.base import writer_of

    name = to or _format_of(out)
    writer = writer_of(name)
    check_free(out, overwrite=overwrite)
    streams = source.streams(inputs)
    seen: dict[Key, int] = {}
    with progress("converting", quiet=as_json) as tell:
        lost = writer.write(_all_chunks(streams, seen, tell), out)
    samples = sum(stream.report.samples for stream in streams)
    if as_json:
        files = [{"path": stream.path, "format": stream.format_name, **stream.report.to_dict()} for stream in streams]
        counts = {"recordings": len(seen), "samples": samples, "lost": lost}
        print_json({"out": out, "format": name, **counts, "files": files})
        return
    rows = "fixations" if samples and samples == sum(stream.report.fixations for stream in streams) else "samples"
    print(f"wrote {samples:,} {rows} of {len(seen):,} recordings to {out} ({name})")
    for what in lost:
        print(f"note: not in {name} files: {what}")
    for stream in streams:
        for line in stream.report.in_words():
            print(f"note: {stream.path}: {line}")
    if out.is_dir() and name == "parquet":
        print(f"next: gazeveil study init {out} --out study.toml")


def _all_chunks(streams: list[ChunkStream], seen: dict[Key, int], tell: Progress) -> Iterator[Chunk]:
    for index, stream in enumerate(streams):
        for chunk in follow(stream, tell, index, len(streams)):
            # by number, not by path: the same file may be named twice
            if (first := seen.setdefault(chunk.key, index)) != index:
                raise InputError(
                    f"{streams[first].path} and {stream.path} both hold {_named(chunk.key)}",
                    hint="was it recorded twice? Convert one of them by itself with --session 2 (or --observer, "
                    "--trial) to a folder of its own, and give that folder in its place",
                )
            yield chunk


def _named(key: Key) -> str:
    stimulus = f", stimulus {key.stimulus}" if key.stimulus else ""
    return f"observer {key.observer}{stimulus}, session {key.session}, trial {key.trial}"


def _format_of(out: Path) -> str:
    suffix = out.suffix.lower()
    if suffix in {".csv", ".tsv"}:
        return "csv"
    if suffix == ".asc":
        return "eyelink-asc"
    if suffix in {"", ".parquet"} or out.is_dir():
        return "parquet"
    raise InputError(
        f"the name {out.name!r} does not tell a format",
        hint="name it with --to, for example --to csv, --to bids or --to eyelink-asc",
    )
