# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Options that several commands share: how gaze files are read, how large the screen is, settings of a mechanism.

A command decorated with `reads_gaze` takes a parameter ``source`` (a `GazeSource`), which is filled from the command
line; the options themselves are the parameters of `_source` below. ``--reading reading.toml`` gives the same options in
a file. `with_settings` and `with_fields_of` turn settings of a mechanism, or fields of a dataclass, into options.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import Parameter
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, get_args

import typer

from gazeveil.errors import FileFormatError, InputError, OptionError, closest, why
from gazeveil.geometry import Unit
from gazeveil.terminal import NamesOf
from gazeveil.terminal.printing import Progress

if TYPE_CHECKING:
    from gazeveil.gaze.formats.base import Chunk, ReadOptions
    from gazeveil.gaze.reading import ChunkStream
    from gazeveil.geometry import Geometry
    from gazeveil.options import Setting
    from gazeveil.release.study import Stimulus
    from gazeveil.toml_table import Table


def option(*names: str, text: str, panel: str, metavar: str | None = None) -> Any:
    """Return an option in a panel of its command's help."""
    return typer.Option(*names, help=text, rich_help_panel=panel, metavar=metavar)


def with_parameters(run: Callable[..., Any], parameters: Iterable[inspect.Parameter]) -> Callable[..., Any]:
    """Give a function these parameters as its signature; those without a default come first."""
    merged = sorted(parameters, key=lambda item: item.default is not inspect.Parameter.empty)
    keyword = [item.replace(kind=inspect.Parameter.KEYWORD_ONLY) for item in merged]
    run.__signature__ = inspect.Signature(keyword)  # type: ignore[attr-defined]
    run.__annotations__ = {item.name: item.annotation for item in keyword}
    return run


def setting_option(setting: Setting, *, panel: str | None = None, more: str = "") -> Any:
    """Return the option of a mechanism's setting, in the words of its declaration."""
    name, words = setting.option, setting.words.replace("``", "`").rstrip(".")
    if setting.type == "bool" and setting.default is True:
        name = f"{name}/--no-{name.removeprefix('--')}"
    metavar = NamesOf(setting.names) if setting.names else setting.metavar or None
    return typer.Option(name, help=f"{words}{more}.", metavar=metavar, rich_help_panel=panel)


def with_settings(
    name: str, settings: Iterable[Setting], *, panels: Mapping[str, str] = MappingProxyType({}), more: str = ""
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that gives a command settings as options and passes them, by field, as its parameter ``name``.

    ``panels`` are the panels of some options; ``more`` is added to the words about ε.
    """
    types = {"text": str, "float": float, "int": int, "bool": bool}
    fields = {
        each.option.removeprefix("--").replace("-", "_"): inspect.Parameter(
            each.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if each.default is ... else each.default,
            annotation=Annotated[
                types[each.type] if each.default is not None else types[each.type] | None,
                setting_option(each, panel=panels.get(each.option), more=more if each.name == "epsilon" else ""),
            ],
        )
        for each in settings
    }
    fields = {key: parameter.replace(name=key) for key, parameter in fields.items()}
    return _in_place_of(name, fields, dict)


def with_fields_of(name: str, kind: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that gives a command the fields of a dataclass as options, and passes it as ``name``."""
    return _in_place_of(name, inspect.signature(kind, eval_str=True).parameters, kind)


def _in_place_of(
    name: str, fields: Mapping[str, inspect.Parameter], make: Callable[..., Any]
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that puts options in the place of a parameter, and passes what is made of them."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def run(**arguments: Any) -> Any:
            made = make(**{field: arguments.pop(field) for field in fields})
            return command(**arguments, **{name: made})

        own = inspect.signature(command, eval_str=True).parameters
        places = (fields.values() if each == name else [parameter] for each, parameter in own.items())
        return with_parameters(run, chain.from_iterable(places))

    return decorate


# --- How large the screen is, and how far away.


_PANEL = "Screen, if the files do not say"

ScreenPx = Annotated[
    str | None, typer.Option("--screen", metavar="WxH", help="Screen size in pixels.", rich_help_panel=_PANEL)
]
SizeMm = Annotated[
    str | None, typer.Option("--size-mm", metavar="WxH", help="Screen size in millimetres.", rich_help_panel=_PANEL)
]
DistanceMm = Annotated[
    float | None, typer.Option("--distance-mm", help="Eye to screen in millimetres.", rich_help_panel=_PANEL)
]
FovDeg = Annotated[
    str | None, typer.Option("--fov-deg", metavar="WxH", help="Headset field of view.", rich_help_panel=_PANEL)
]


def sizes_of(
    screen: str | None = None, size_mm: str | None = None, distance_mm: float | None = None, fov_deg: str | None = None
) -> dict[str, float]:
    """Return what the options say, as fields of a `Geometry`.

    Raises:
        OptionError: If one is not width x height.
    """
    width_px, height_px = width_and_height(screen, "--screen", "1920x1080")
    width_mm, height_mm = width_and_height(size_mm, "--size-mm", "530x300")
    fov_x, fov_y = width_and_height(fov_deg, "--fov-deg", "100x90")
    found = {
        "width_px": width_px,
        "height_px": height_px,
        "width_mm": width_mm,
        "height_mm": height_mm,
        "distance_mm": distance_mm,
        "fov_x_deg": fov_x,
        "fov_y_deg": fov_y,
    }
    return {name: size for name, size in found.items() if size is not None}


def geometry_of(sizes: Mapping[str, float], unit: Unit | None = None) -> Geometry | None:
    """Return the viewing plane that the options describe; None if they say nothing."""
    from gazeveil.geometry import Geometry

    if not sizes and unit is None:
        return None
    if unit is None:
        unit = Unit.DEGREE if "fov_x_deg" in sizes else Unit.PIXEL if "width_px" in sizes else Unit.FRACTION
    return Geometry(unit, **sizes)


def print_assumed(assumed: str) -> None:
    """Warn of what is assumed about a screen, if anything is."""
    if assumed:
        said = f"the size of the screen is not declared: assumed is {assumed}"
        print(f"warning: {said}. Say what it was with --size-mm and --distance-mm", file=sys.stderr)


def width_and_height(text: str | None, option: str, example: str) -> tuple[float | None, float | None]:
    """Return width and height from text, or neither.

    Raises:
        OptionError: If it is not two numbers.
    """
    if text is None:
        return None, None
    match = re.fullmatch(r"\s*([0-9.]+)\s*[x×*,]\s*([0-9.]+)\s*", text, flags=re.IGNORECASE)
    try:
        if match is None:
            raise ValueError
        return float(match[1]), float(match[2])
    except ValueError:
        raise OptionError(
            f"{option} must be width x height, not {text!r}", hint=f"for example {option} {example}"
        ) from None


# --- Reading options in a file: ``--reading reading.toml``. Keys are the options without dashes (``time_unit = "ms"``);
# ``[columns]`` is the table of ``--column``. The command line wins; rules, sentinels and columns of both are joined.


_LISTS: Final = ("column", "valid", "sentinel")
_FLAGS: Final = ("y_up", "skip_bad")
_NUMBERS: Final = ("distance_mm",)
_FORMAT: Final = "format"


def with_options_file(path: Path, given: Mapping[str, Any], options: Mapping[str, Parameter]) -> dict[str, Any]:
    """Return the options that were given, completed with those in a file.

    Raises:
        FileFormatError: If the file is wrong; with line, field, what was expected and found.
    """
    stated = _read(path, [_FORMAT if name == "format_name" else name for name in options])
    filled = dict(given)
    for key, value in stated.items():
        name = "format_name" if key == _FORMAT else key
        if name in _LISTS:
            filled[name] = [*value, *(given[name] or [])]
        elif given[name] == options[name].default:
            filled[name] = value
    return filled


def _read(path: Path, names: list[str]) -> dict[str, Any]:
    import tomllib

    from gazeveil.toml_table import File, Table, lines_of

    try:
        text = path.read_text(encoding="utf-8")
        values = tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise FileFormatError(
            path, expected="reading options as TOML", found=why(error), hint="for example valid = ['status==OK']"
        ) from None
    table = Table(File(path, lines_of(text)), (), values)
    found: dict[str, Any] = {}
    if "columns" in table:
        columns = table.table("columns")
        found["column"] = [f"{ours}={columns.text(ours, expected='a column of the file')}" for ours in columns.values]
    for name in names:
        if name in table and name != "column":
            found[name] = _value(table, name)
    table.done()
    return found


def _value(table: Table, name: str) -> Any:
    if name in _FLAGS:
        return table.truth(name, default=False)
    if name in _NUMBERS:
        return table.number(name, 0, 1e9)
    return list(table.names(name)) if name in _LISTS else table.text(name)


# --- How gaze files are read.


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
    """Yield a stream's chunks and report how far all streams together are."""
    for chunk in stream:
        tell(index + stream.report.fraction, count)
        yield chunk
    tell(index + 1, count)


def reads_gaze(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the reading options and pass them as ``source``, a `GazeSource`."""
    own = inspect.signature(command, eval_str=True)
    extra = inspect.signature(_source, eval_str=True).parameters

    @functools.wraps(command)
    def run(**arguments: Any) -> Any:
        options = {name: arguments.pop(name) for name in extra}
        if options["reading"] is not None:
            options = with_options_file(options["reading"], options, extra)
        return command(**arguments, source=_source(**options))

    parameters = [parameter for name, parameter in own.parameters.items() if name != "source"]
    return with_parameters(run, [*parameters, *extra.values()])


def _source(
    format_name: Annotated[
        str | None, _option("--format", metavar=NamesOf("format"), text="File format; by default found by looking.")
    ] = None,
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
    eye: Annotated[str, _option("--eye", metavar=NamesOf("eye"), text="Which eye makes the gaze.")] = "both",
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
    time_unit: Annotated[
        str | None, _option("--time-unit", metavar=NamesOf("time unit"), text="Unit of the time column.")
    ] = None,
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
