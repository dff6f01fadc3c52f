# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil info``: what is in these files?"""

from __future__ import annotations

from typing import Any

from gazeveil.cli._output import AsJson, command_app, print_json, print_table, progress
from gazeveil.cli._reading import GazeSource, Inputs, follow, reads_gaze
from gazeveil.gaze.overview import Overview

app = command_app()


@app.command(epilog="Example: `gazeveil info study.asc` or `gazeveil info corpus/ --json`")
@reads_gaze
def info(inputs: Inputs, source: GazeSource, as_json: AsJson = False) -> None:
    """Show what gaze files hold, and what is odd about them."""
    files: list[dict[str, Any]] = []
    streams = source.streams(inputs)
    with progress("reading", quiet=as_json) as tell:
        for index, stream in enumerate(streams):
            overview = Overview.of(follow(stream, tell, index, len(streams)))
            files.append(
                {"path": stream.path, "format": stream.format_name, **overview.to_dict(), **stream.report.to_dict()}
            )
    if as_json:
        print_json({"files": files})
        return
    for stream, file in zip(streams, files, strict=True):
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
        ]
        print_table(str(file["path"]), ["", ""], rows)
        for line in stream.report.in_words():
            print(f"note: {line}")


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
    rates = " and ".join(f"{rate:g} Hz" for rate in file["rates_hz"]) or "unknown"
    lists = [["of them fixations", file["fixations"]]] if file["fixations"] else []
    return [["samples", file["samples"]], *lists, ["gaze time", f"{file['seconds']:,.1f} s"], ["rate", rates]]


def _some(names: list[str], most: int = 6) -> str:
    shown = ", ".join(name or "(none)" for name in names[:most])
    return f"{shown}, …" if len(names) > most else shown
