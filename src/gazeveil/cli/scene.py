# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil scene``: the scenes of a video, and the radius and window they ask for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gazeveil.errors import OptionError
from gazeveil.geometry import Unit
from gazeveil.terminal import NamesOf
from gazeveil.terminal.options import DistanceMm, ScreenPx, SizeMm, geometry_of, sizes_of
from gazeveil.terminal.printing import AsJson, command_app, print_json, print_line, print_table, progress

_MOST_ROWS = 20

app = command_app()


@app.command(epilog="Example: `gazeveil scene film.mp4 --plot scenes.png` or `gazeveil scene film.mp4 --json`")
def scene(
    video: Annotated[Path, typer.Argument(help="A video, or a picture (PNG, JPEG).")],
    finder: Annotated[
        str, typer.Option("--finder", metavar=NamesOf("finder"), help="What finds regions.", rich_help_panel="Regions")
    ] = "image",
    model: Annotated[
        Path | None,
        typer.Option("--model", help="A YOLO or SSD detector (ONNX), for --finder onnx.", rich_help_panel="Regions"),
    ] = None,
    every: Annotated[float, typer.Option("--every", help="Seconds between two analysed frames.")] = 0.5,
    plot: Annotated[Path | None, typer.Option("--plot", help="Draw the scenes here (PNG).")] = None,
    screen: ScreenPx = None,
    size_mm: SizeMm = None,
    distance_mm: DistanceMm = None,
    as_json: AsJson = False,
) -> None:
    """Find the scenes of a video: their lengths give the window, their regions the radius.

    Radii are in pixels of the frame. With --screen they are in pixels of a screen that the video fills; with --size-mm
    and --distance-mm too, in degrees. No gaze is read.
    """
    from gazeveil.scene.context import SceneContext
    from gazeveil.scene.film import survey
    from gazeveil.scene.frames import frames_of, length_of, with_first_shape
    from gazeveil.scene.keyframes import KeyframeDetector
    from gazeveil.scene.regions import FINDERS

    if model is not None and finder == "image":
        finder = "onnx"
    find = FINDERS[finder](model)
    frames, (rows, columns, _) = with_first_shape(frames_of(video, every_s=every))
    width, height, unit = _plane(screen, size_mm, distance_mm, columns, rows)
    context = SceneContext(width, height, find, detector=KeyframeDetector(every_s=every))
    with progress("looking at frames", quiet=as_json) as tell:
        film = survey(frames, context, seconds=length_of(video), tell=tell)
    if plot is not None:
        from gazeveil.scene.film import contact_sheet

        contact_sheet(film, width, height, unit).save(plot)
    if as_json:
        print_json({"path": video, "finder": finder, "unit": unit, **film.to_dict(), "plot": plot})
        return
    shown = film.scenes[:_MOST_ROWS]
    print_table(
        str(video),
        ["scene", "begins s", "lasts s", "regions", f"r_small {unit}", f"r_large {unit}"],
        [
            [number, each.begins, each.seconds, len(each.regions), each.radii.small, each.radii.large]
            for number, each in enumerate(shown, start=1)
        ],
    )
    if len(film.scenes) > len(shown):
        print(f"and {len(film.scenes) - len(shown):,} more; --json has all")
    print_line("window", _amount(film.window_s, "s", "a still picture has none"))
    print_line("r_small", _amount(film.radii.small, unit, "no regions were found"))
    print_line("r_large", _amount(film.radii.large, unit, "no scene has two regions"))
    if plot is not None:
        print_line("plot", str(plot))


def _amount(value: float | None, unit: str, without: str) -> str:
    return f"not known: {without}" if value is None else f"{value:.3g} {unit}"


def _plane(
    screen: str | None, size_mm: str | None, distance_mm: float | None, columns: int, rows: int
) -> tuple[float, float, str]:
    """Return width, height and unit of what the video fills.

    Raises:
        OptionError: If only one of size and distance is given.
    """
    if (size_mm is None) != (distance_mm is None):
        raise OptionError("--size-mm and --distance-mm go together", hint="both are needed for degrees")
    sizes = {"width_px": columns, "height_px": rows, **sizes_of(screen, size_mm, distance_mm)}
    unit = Unit.PIXEL if size_mm is None else Unit.DEGREE
    geometry = geometry_of(sizes, Unit.PIXEL)
    if geometry is None or unit is Unit.PIXEL:
        return sizes["width_px"], sizes["height_px"], "px"
    left, top, right, bottom = geometry.in_unit(unit).extent()
    return right - left, bottom - top, "°"
