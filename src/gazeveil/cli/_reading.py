# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The options of every command that reads gaze files, declared once.

A command decorated with `reads_gaze` takes a parameter ``source`` (a `GazeSource`) and gets it filled from the
command line; the options themselves are the parameters of `_source` below.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from gazeveil.cli._filled import option, taking
from gazeveil.cli._output import Progress
from gazeveil.cli._reading_file import with_file
from gazeveil.cli._screens import DistanceMm, FovDeg, ScreenPx, SizeMm, geometry_of, sizes_of
from gazeveil.errors import InputError, OptionError, closest
from gazeveil.unit import Unit

if TYPE_CHECKING:
    from gazeveil.gaze.formats.base import Chunk, ReadOptions
    from gazeveil.gaze.reading import ChunkStream
    from gazeveil.release.study import Stimulus

Inputs = Annotated[list[Path], typer.Argument(help="Gaze files, a corpus folder, or a BIDS data set.")]

_ABOUT_TEXT = "How the text is written"
_option = functools.partial(option, panel="What the file does not say")


@dataclass(frozen=True, slots=True)
class GazeSource:
    """How to read the files a user named."""

    options: ReadOptions
    format: str | None

    def stream(self, path: Path) -> ChunkStream:
        """Open one file."""
        from gazeveil.gaze.reading import ChunkStream

        return ChunkStream(path, self.options, self.format)

    def streams(self, paths: list[Path]) -> list[ChunkStream]:
        """Open all files, so that a missing or unknown one is reported before work begins."""
        one = self.one_of(paths)
        return [one(path) for path in paths]

    def one_of(self, paths: list[Path]) -> Callable[[Path], ChunkStream]:
        """Return how to open one of several files."""
        return self._of_many if len(paths) > 1 and self.options.observer is not None else self.stream

    def on(self, stimuli: Sequence[Stimulus]) -> GazeSource:
        """Take from a declared study what neither the files nor the options say, where it is the same for all."""
        options = self.options
        if len(stimuli) == 1 and options.stimulus is None:
            options = replace(options, stimulus=stimuli[0].name)
        if len({stimulus.screen for stimulus in stimuli}) == 1 and options.geometry is None:
            options = replace(options, geometry=stimuli[0].screen)
        return replace(self, options=options)

    def _of_many(self, path: Path) -> ChunkStream:
        # one name for several files would make one recording of them; each file is a trial of that observer
        from gazeveil.gaze.reading import ChunkStream

        trial = self.options.trial or path.name.split(".", 1)[0]
        return ChunkStream(path, replace(self.options, trial=trial), self.format)


def follow(stream: ChunkStream, tell: Progress, index: int = 0, count: int = 1) -> Iterator[Chunk]:
    """Yield a stream's chunks and tell how far all streams together are."""
    for chunk in stream:
        tell(index + stream.report.fraction, count)
        yield chunk
    tell(index + 1, count)


def reads_gaze(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the reading options and hand it a `GazeSource` as ``source``."""
    own = inspect.signature(command, eval_str=True)
    extra = inspect.signature(_source, eval_str=True).parameters

    @functools.wraps(command)
    def run(**arguments: Any) -> Any:
        options = {name: arguments.pop(name) for name in extra}
        if options["reading"] is not None:
            options = with_file(options["reading"], options, extra)
        return command(**arguments, source=_source(**options))

    parameters = [parameter for name, parameter in own.parameters.items() if name != "source"]
    return taking(run, [*parameters, *extra.values()])


def _source(
    format_name: Annotated[str | None, _option("--format", text="File format; by default found by looking.")] = None,
    screen: ScreenPx = None,
    size_mm: SizeMm = None,
    distance_mm: DistanceMm = None,
    fov_deg: FovDeg = None,
    unit: Annotated[Unit | None, _option("--unit", text="What x and y are.")] = None,
    observer: Annotated[str | None, _option("--observer", text="The participant, where the file does not say.")] = None,
    stimulus: Annotated[str | None, _option("--stimulus", text="The stimulus.")] = None,
    session: Annotated[str | None, _option("--session", text="The session.")] = None,
    trial: Annotated[str | None, _option("--trial", text="The trial, where a stimulus was shown again.")] = None,
    stimulus_from: Annotated[
        str | None,
        _option("--stimulus-from", text="Which message names the stimulus.", metavar="'TRIAL_VAR image'"),
    ] = None,
    trial_from: Annotated[
        str | None, _option("--trial-from", text="Which message names the trial.", metavar="'TRIAL_VAR trial'")
    ] = None,
    eye: Annotated[str, _option("--eye", text="Which eye makes the gaze.")] = "both",
    column: Annotated[
        list[str] | None, _option("--column", text="Map a column, for example x=GazeX; repeatable.", metavar="x=GAZE_X")
    ] = None,
    valid: Annotated[
        list[str] | None,
        _option("--valid", text="What a column says where gaze is valid; repeatable.", metavar="'status==OK'"),
    ] = None,
    sentinel: Annotated[
        list[str] | None,
        _option("--sentinel", text="A position that stands for lost gaze; repeatable.", metavar="X,Y"),
    ] = None,
    time_unit: Annotated[str | None, _option("--time-unit", text="Unit of the time column.")] = None,
    y_up: Annotated[bool, _option("--y-up", text="The file's y grows upwards.")] = False,
    delimiter: Annotated[str | None, _option("--delimiter", text="Field separator.", panel=_ABOUT_TEXT)] = None,
    decimal: Annotated[str | None, _option("--decimal", text="Decimal mark.", panel=_ABOUT_TEXT)] = None,
    encoding: Annotated[str, _option("--encoding", text="Text encoding.", panel=_ABOUT_TEXT)] = "utf-8",
    skip_bad: Annotated[
        bool, _option("--skip-bad", text="Drop bad lines and count them, instead of stopping.", panel=_ABOUT_TEXT)
    ] = False,
    reading: Annotated[
        Path | None, _option("--reading", text="A TOML file with these options.", metavar="reading.toml")
    ] = None,
) -> GazeSource:
    from gazeveil.gaze.formats.base import ReadOptions

    del reading  # `reads_gaze` has completed the other options with it
    options = ReadOptions(
        observer=observer,
        stimulus=stimulus,
        session=session,
        trial=trial,
        stimulus_from=stimulus_from,
        trial_from=trial_from,
        geometry=geometry_of(sizes_of(screen, size_mm, distance_mm, fov_deg), unit),
        eye=_one_of(eye, "--eye", Literal["both", "left", "right"]),
        columns=_columns(column or []),
        valid=tuple(valid or ()),
        sentinels=tuple(sentinel or ()),
        time_unit=None if time_unit is None else _one_of(time_unit, "--time-unit", Literal["s", "ms", "us", "ns"]),
        delimiter={r"\t": "\t", "tab": "\t"}.get(delimiter, delimiter) if delimiter else None,
        decimal=decimal,
        encoding=encoding,
        y_up=y_up,
        skip_bad=skip_bad,
    )
    return GazeSource(options, format_name)


def _one_of(value: str, option: str, choices: Any) -> Any:
    if value not in get_args(choices):
        raise OptionError(f"{option} must be one of {', '.join(get_args(choices))}, not {value!r}")
    return value


def _columns(pairs: list[str]) -> dict[str, str]:
    from gazeveil.gaze import schema

    known = [*schema.KEYS, *schema.SAMPLES]
    mapping: dict[str, str] = {}
    for given in pairs:
        ours, equals, theirs = given.partition("=")
        if not equals or not theirs:
            raise InputError(f"--column must be OURS=THEIRS, not {given!r}", hint="for example --column x=GazeX")
        if ours not in known:
            raise InputError(f"--column {given}: we have no column {ours!r}", hint=closest(ours, known))
        mapping[ours] = theirs
    return mapping
