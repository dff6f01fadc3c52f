# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil events``: fixations, saccades and blinks in gaze files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gazeveil.errors import InputError, OptionError, closest
from gazeveil.files import replacing
from gazeveil.terminal import NamesOf
from gazeveil.terminal.options import GazeSource, Inputs, follow, reads_gaze
from gazeveil.terminal.printing import AsJson, check_free, command_app, print_json, print_table, progress

if TYPE_CHECKING:
    import polars as pl

    from gazeveil.gaze.events import Detector
    from gazeveil.gaze.recording import Recording

app = command_app()


@app.command(epilog="Example: `gazeveil events study/ --detector ivt --set threshold=30 --out events.csv`")
@reads_gaze
def events(
    inputs: Inputs,
    source: GazeSource,
    detector: Annotated[
        str,
        typer.Option("--detector", metavar=NamesOf("detector"), help="Which detector finds fixations and saccades."),
    ] = "ivt",
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="A parameter of the detector; repeat it.", metavar="NAME=VALUE")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Write all events to this .csv or .parquet file.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Find fixations, saccades and blinks.

    They are also summarised per recording.
    """
    import polars as pl

    from gazeveil.gaze.events import detect_blinks
    from gazeveil.gaze.reading import assemble

    finder = _detector(detector, setting or [])
    if out is not None:
        if out.suffix not in {".csv", ".parquet"}:
            raise InputError(f"events go to a .csv or .parquet file, not {out.name!r}")
        check_free(out, overwrite=overwrite)
    streams = source.streams(inputs)
    summaries: list[dict[str, Any]] = []
    tables: list[pl.DataFrame] = []
    with progress("finding events", quiet=as_json) as tell:
        for index, stream in enumerate(streams):
            for recording in assemble(follow(stream, tell, index, len(streams))):
                found = pl.concat([finder.detect(recording), detect_blinks(recording)]).sort(
                    "onset", maintain_order=True
                )
                summaries.append(_summary(recording, found))
                if out is not None:
                    keys = [pl.lit(value).alias(name) for name, value in recording.key._asdict().items()]
                    tables.append(found.select(*keys, pl.all()))
    if out is not None:
        _write(tables, out)
    reports = [stream.report for stream in streams]
    if as_json:
        files = [{"path": stream.path, **stream.report.to_dict()} for stream in streams]
        print_json({"detector": str(finder), "recordings": summaries, "out": out, "files": files})
        return
    _print(summaries, str(finder))
    for report in reports:
        for line in report.in_words():
            print(f"note: {line}")
    if out is not None:
        print(f"wrote {sum(len(table) for table in tables):,} events to {out}")


def _detector(name: str, settings: list[str]) -> Detector:
    from gazeveil.gaze.events import DETECTORS

    values: dict[str, float] = {}
    for pair in settings:
        key, equals, text = pair.partition("=")
        try:
            values[key] = float(text)
        except ValueError:
            raise OptionError(
                f"--set must be NAME=NUMBER, not {pair!r}", hint="for example --set threshold=30"
            ) from None
        if not equals:
            raise OptionError(f"--set must be NAME=NUMBER, not {pair!r}")
    cls = DETECTORS[name]
    known = list(getattr(cls, "__dataclass_fields__", {}))
    if unknown := sorted(set(values) - set(known)):
        raise OptionError(f"{name} has no parameter {', '.join(unknown)}", hint=closest(unknown[0], known))
    return cls(**values)


def _summary(recording: Recording, found: pl.DataFrame) -> dict[str, Any]:
    import polars as pl

    fixations = found.filter(pl.col("kind") == "fixation")
    saccades = found.filter(pl.col("kind") == "saccade")
    durations = fixations["offset"] - fixations["onset"]
    return {
        **recording.key._asdict(),
        "seconds": recording.duration,
        "fixations": len(fixations),
        "fixation_ms_median": _times(durations.median(), 1000),
        "saccades": len(saccades),
        "amplitude_deg_median": _times(saccades["amplitude"].median()),
        "peak_velocity_deg_s_median": _times(saccades["peak_velocity"].median()),
        "blinks": int((found["kind"] == "blink").sum()),
    }


def _times(value: Any, factor: float = 1.0) -> float | None:
    return None if value is None else float(value) * factor


def _print(summaries: list[dict[str, Any]], detector: str, most: int = 40) -> None:
    columns = [
        "observer",
        "stimulus",
        "session",
        "trial",
        "s",
        "fixations",
        "median ms",
        "saccades",
        "median °",
        "peak °/s",
        "blinks",
    ]
    rows = [list(summary.values()) for summary in summaries[:most]]
    print_table(f"events by {detector}", columns, rows)
    if len(summaries) > most:
        print(f"… and {len(summaries) - most:,} recordings more (all with --json or --out)")


def _write(tables: list[pl.DataFrame], out: Path) -> None:
    import polars as pl

    from gazeveil.gaze import schema
    from gazeveil.gaze.schema import os_errors_explained

    empty = pl.DataFrame(schema=schema.keyed(schema.EVENTS))
    table = pl.concat([empty, *tables])
    with replacing(out) as temporary, os_errors_explained():
        if out.suffix == ".csv":
            table.write_csv(temporary)
        else:
            table.write_parquet(temporary)
