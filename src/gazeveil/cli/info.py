# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil info``: contents and data quality of gaze files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gazeveil.files import replacing
from gazeveil.terminal.options import GazeSource, Inputs, follow, reads_gaze
from gazeveil.terminal.printing import AsJson, command_app, print_json, print_table, progress

if TYPE_CHECKING:
    from gazeveil.gaze.formats.base import Chunk
    from gazeveil.gaze.quality import Quality, QualityMeter, Trace
    from gazeveil.gaze.recording import Key

NOTICE = "This describes raw data of single participants. Keep it with the data; do not publish it."
_MOST_ROWS = 12
_MOST_LINES = 20

app = command_app()


@app.command(epilog="Example: `gazeveil info study.asc` or `gazeveil info corpus/ --plot quality.png`")
@reads_gaze
def info(
    inputs: Inputs,
    source: GazeSource,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Draw the data quality here (PNG): shows raw gaze.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show contents, data quality and problems of gaze files; for the holder of the data only."""
    from gazeveil.gaze.quality import Overview, QualityMeter, severity, tally

    files: list[dict[str, Any]] = []
    streams = source.streams(inputs)
    found: list[list[Quality]] = []
    traces: dict[Key, Trace] = {}
    with progress("reading", quiet=as_json) as tell:
        for index, stream in enumerate(streams):
            inspector = QualityMeter(None if plot is None else severity)
            overview = Overview.of(_looked_at(follow(stream, tell, index, len(streams)), inspector))
            found.append(inspector.found())
            traces |= inspector.traces()
            files.append(
                {
                    "path": stream.path,
                    "format": stream.format_name,
                    **overview.to_dict(),
                    **stream.report.to_dict(),
                    "grades": tally(found[-1]),
                    "quality": [_told(quality) for quality in found[-1]],
                }
            )
    if plot is not None:
        _draw(plot, [quality for each in found for quality in each], traces)
    if as_json:
        print_json({"notice": NOTICE, "files": files})
        return
    for stream, file, qualities in zip(streams, files, found, strict=True):
        rows = [
            ["format", file["format"]],
            ["recordings", file["recordings"]],
            ["observers", f"{len(file['observers'])}: {_some(file['observers'])}"],
            ["stimuli", f"{len(file['stimuli'])}: {_some(file['stimuli'])}"],
            *_rows(file),
            ["tracked", f"{file['tracked']:.1%}" if file["samples"] else "–"],
            ["channels", ", ".join(file["channels"])],
            ["geometry", "; ".join(file["geometries"])],
            ["events", ", ".join(f"{count:,} {kind}" for kind, count in file["events"].items()) or "none"],
            ["quality", ", ".join(f"{count:,} {grade}" for grade, count in file["grades"].items()) or "–"],
        ]
        print_table(str(file["path"]), ["", ""], rows)
        if qualities:
            _print_quality(qualities)
        for line in stream.report.in_words():
            print(f"note: {line}")
    if plot is not None:
        print(f"drew {plot}")
    print(f"note: {NOTICE}")


def _looked_at(chunks: Iterable[Chunk], inspector: QualityMeter) -> Iterator[Chunk]:
    from gazeveil.gaze import schema

    for chunk in chunks:
        if schema.DURATION not in chunk.samples.columns:  # quality is one of samples
            inspector.add(chunk)
        yield chunk


def _told(quality: Quality) -> dict[str, Any]:
    from gazeveil.gaze.quality import grades, overall, problems

    return {
        **quality.to_dict(),
        "grade": overall(quality),
        "grades": grades(quality),
        "odd": list(problems(quality)),
    }


def _print_quality(found: Sequence[Quality]) -> None:
    """Print the recordings by measures, the worst first, and a line for everything odd."""
    from gazeveil.gaze.quality import MEASURES, overall, problems, severity

    worst = sorted(found, key=severity, reverse=True)
    many = f"the worst {_MOST_ROWS} of {len(found):,}" if len(found) > _MOST_ROWS else "the worst first"
    rows = [
        [_named(quality.key), overall(quality), *(measure.in_words(quality) for measure in MEASURES)]
        for quality in worst[:_MOST_ROWS]
    ]
    print_table(f"data quality, {many}", ["recording", "grade", *(measure.title for measure in MEASURES)], rows)
    lines = [f"odd: {_named(quality.key)}: {line}" for quality in worst for line in problems(quality)]
    for line in lines[:_MOST_LINES]:
        print(line)
    if len(lines) > _MOST_LINES:
        print(f"odd: and {len(lines) - _MOST_LINES:,} more, all of them in --json")


def _draw(path: Path, found: Sequence[Quality], traces: dict[Key, Trace]) -> None:
    from gazeveil.gaze.plots import quality_picture
    from gazeveil.gaze.quality import severity

    of = {quality.key: quality for quality in found}
    ranked = dict(sorted(traces.items(), key=lambda item: severity(of[item[0]]), reverse=True))
    drawn = quality_picture(found, ranked)
    with replacing(path) as file:
        file.write_bytes(drawn.png)


def _named(key: Key) -> str:
    more = [f"session {key.session}"] * (key.session != "1") + [f"trial {key.trial}"] * (key.trial != "1")
    return " / ".join(part for part in (key.observer, key.stimulus, *more) if part)


def _rows(file: dict[str, Any]) -> list[list[Any]]:
    """Say how much there is: samples and their rate, or fixations and how long they lasted."""
    if file["fixations"] and file["fixations"] == file["samples"]:
        lasted = file["fixation_ms"]
        how_long = "unknown: each counts once"
        if lasted is not None:
            how_long = (
                f"{lasted['median']:.0f} ms (median), 9 of 10 from {lasted['low']:.0f} to {lasted['high']:.0f} ms"
            )
            how_long += f", {lasted['total_s']:,.1f} s in all"
        return [["fixations", file["fixations"]], ["durations", how_long], ["gaze time", f"{file['seconds']:,.1f} s"]]
    found = file["rates_hz"]
    rates = " and ".join(f"{rate:g} Hz" for rate in found) or "unknown"
    if len(found) > 3:
        rates = f"{found[0]:g} to {found[-1]:g} Hz"
    lists = [["of them fixations", file["fixations"]]] if file["fixations"] else []
    return [["samples", file["samples"]], *lists, ["gaze time", f"{file['seconds']:,.1f} s"], ["rate", rates]]


def _some(names: list[str], most: int = 6) -> str:
    shown = ", ".join(name or "(none)" for name in names[:most])
    return f"{shown}, …" if len(names) > most else shown
