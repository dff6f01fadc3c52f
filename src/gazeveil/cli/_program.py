# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The list of commands, which are imported only when they run; how help shows values; suggestions for typing errors.

Help imports no command: first sentences of commands, names that options take, and settings of mechanisms are in
``catalogue.json``, which ``python -m tools.generate`` writes. Help shows the value of an option by its own ``metavar``,
by the table below, or by its type.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from gazeveil.terminal import NamesOf

if TYPE_CHECKING:
    from gazeveil.options import Setting


PANELS: Final = {
    "Data": ("study", "info", "convert", "simulate", "events", "scene"),
    "Release": ("plan", "heatmap", "heatmaps", "movie", "aoi", "features", "veil", "ledger", "verify"),
    "Live": ("serve", "policy", "apps", "budget", "page", "track"),
    "Judge": ("advise", "lab"),
    "Tools": ("demo", "doctor", "calibrate", "completion"),
}
"""What the first screen lists. NAME is a file ``gazeveil/cli/NAME.py`` with a ``typer.Typer`` called ``app``."""
LAB_COMMANDS: Final = ("attack", "audit", "experiment", "reproduce", "userstudy")
"""Commands of the group ``lab``: files in ``gazeveil/lab/commands``."""
LISTED_LAB_COMMANDS: Final = ("advise", "demo")
"""Commands of the first screen whose files are there too."""
_CATALOGUE: Final = json.loads(Path(__file__).with_name("catalogue.json").read_text(encoding="utf-8"))


class Program(TyperGroup):
    """All commands, in panels."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {
            name: LabGroup(title) if name == "lab" else LazyCommand(name, title)
            for title, names in PANELS.items()
            for name in names
        }

    def get_params(self, ctx: Any) -> Any:
        """Return the program's own options."""
        return with_metavars(super().get_params(ctx))

    def _main_shell_completion(self, ctx_args: Any, prog_name: str, complete_var: str | None = None) -> None:
        if COMPLETION_VARIABLE in os.environ:  # a shell asks
            from typer._completion_classes import completion_init

            completion_init()
        super()._main_shell_completion(ctx_args, prog_name, complete_var)

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Read the program's own options."""
        with _likely_option():
            return super().make_context(info_name, args, parent=parent, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was typed."""
        with _likely_option():
            return super().invoke(ctx)


class LabGroup(TyperGroup):
    """The commands of the lab."""

    def __init__(self, panel: str) -> None:
        listed: dict[str, Any] = {name: LazyCommand(name) for name in LAB_COMMANDS}
        about = "Attack mechanisms, test their guarantees, and measure what they cost."
        super().__init__(name="lab", help=about, commands=listed, no_args_is_help=True, rich_help_panel=panel)

    def get_params(self, ctx: Any) -> Any:
        """Return the options: --help."""
        return with_metavars(super().get_params(ctx))


class LazyCommand(TyperCommand):
    """A command in the list. Its file is imported when it gets arguments, or when `load` is called."""

    def __init__(self, name: str, panel: str | None = None) -> None:
        super().__init__(name, help=_CATALOGUE["words"][name], rich_help_panel=panel)

    def load(self) -> Any:
        """Import the command's file and return the command."""
        return load(str(self.name))

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Pass the arguments to the command itself."""
        return self.load().make_context(info_name, args, parent=parent, **extra)


def load(name: str) -> Any:
    """Import a command's file and return the command."""
    place = "gazeveil.lab.commands" if name in (*LAB_COMMANDS, *LISTED_LAB_COMMANDS) else "gazeveil.cli"
    command = typer.main.get_command(importlib.import_module(f"{place}.{name}").app)
    command.name = name
    write_metavars(command, name)
    return command


def product_settings(product: str) -> dict[str, Setting]:
    """Return the settings of a product's mechanisms, by option."""
    from gazeveil.options import Setting

    return {each["option"]: Setting(**each) for each in _CATALOGUE["settings"][product]}


UsageError: Any = typer.BadParameter.__bases__[0]
"""What a wrong command line raises: click's, or typer's own copy of it in newer versions."""
COMPLETION_VARIABLE = "_GAZEVEIL_COMPLETE"


@contextmanager
def _likely_option() -> Iterator[None]:
    """Suggest the likely option for a misspelt one, in the words that are used for commands and other names."""
    try:
        yield
    except UsageError as wrong:
        option, close = getattr(wrong, "option_name", None), getattr(wrong, "possibilities", None)
        if close:
            wrong.possibilities = None
        if close and option:
            wrong.message = f"No such option: {option}. Did you mean {close[0]}?"
        raise


# --- How help shows the values of options and arguments.


_METAVARS: Final = {
    "SECONDS": "--bin-seconds --duration --every --hide-seconds --limit --seconds --step --window --within",
    "MINUTES": "--minutes",
    "DEGREES": "--blur-deg --cell-deg",
    "MM": "--distance-mm",
    "HZ": "--rate",
    "LENGTH": "--radius",
    "FOLDER": "--data --frames --pictures",
    "FILE": "--against --areas --ca --compare --contents --design --groups --keep --key --log --maps --model "
    "--picture --plot --prior --recipe --replay --saliency --sign --table --weights --with",
    "PATH": "--out --release",
    "POLICY": "--to",
    "LEDGER": "--ledger",
    "DATE": "--date",
    "CHARACTER": "--decimal --delimiter",
    "HOST:PORT": "--listen",
    "NUMBERS": "--epsilons",
    "NAMES": "--allow --attacks --baselines --experiment --features --methods --only --presets --products "
    "--recognisers --sets --veils --without",
    "NAME": "--account --as-user --attack --detector --device --engine --finder --format --from --group --id "
    "--mechanism --method --name --observer --order --participant --preset --product --protocol --recogniser "
    "--session --stimulus --strategy --target --task --tracker --trial",
}
_OUT: Final = {
    "FILE": "attack train ekyt, events, experiment heatmap-decoder, experiment leaderboard, experiment picture-model, "
    "features declare, features design, features extract, ledger export, study check",
    "FOLDER": "demo, experiment attributes, experiment features, experiment geometry, experiment heatmap, "
    "experiment membership, experiment baselines, experiment reconstruction, experiment run, experiment scanpaths, "
    "reproduce all, reproduce bozkir, reproduce kaleido, reproduce liu, reproduce wilson, userstudy gaze, "
    "userstudy report",
}
"""Whether --out is a file or a folder; elsewhere it may be either."""
_BY_COMMAND: Final = {f"{command} --out": word for word, commands in _OUT.items() for command in commands.split(", ")}
_BY_COMMAND["reproduce wilson --table"] = "NUMBER"
_BY_OPTION: Final = {option: word for word, options in _METAVARS.items() for option in options.split()}
_ARGUMENTS: Final = {"inputs": "GAZE", "results": "RESULT", "first": "RUN", "second": "RUN"}
_AS_METAVAR = 30
"""How many letters of choices are shown in the place of a value; longer lists go into the sentence."""


def write_metavars(command: Any, typed: str) -> None:
    """Make the help of a command, and of all commands below it, show values in plain words."""
    for name, inner in getattr(command, "commands", {}).items():
        write_metavars(inner, f"{typed} {name}")
    own = command.get_params

    @functools.wraps(own)
    def get_params(ctx: Any) -> Any:
        return with_metavars(own(ctx), typed)

    command.get_params = get_params


def with_metavars(parameters: Iterable[Any], typed: str = "") -> Any:
    """Return parameters whose values are shown in plain words; the option --help is among them."""
    parameters = list(parameters)
    for parameter in parameters:
        if parameter.param_type_name == "argument":
            _write_argument(parameter)
        elif parameter.is_flag:
            parameter.metavar = ""
            if parameter.default is None:  # --help; typer imports much to make a truth value of None
                parameter.default = False
        else:
            _write_option(parameter, typed)
    return parameters


def _write_argument(argument: Any) -> None:
    word = (argument.metavar or _ARGUMENTS.get(argument.name, argument.name.upper())).strip("[]")
    many = "..." if argument.nargs != 1 else ""
    argument.metavar = word
    argument.get_usage_pieces = lambda ctx: [word + many if argument.required else f"[{word}]{many}"]
    argument.display_type_rich = lambda ctx: ""


def _write_option(option: Any, typed: str) -> None:
    named = isinstance(option.metavar, NamesOf)
    choices = tuple(_CATALOGUE["names"][option.metavar]) if named else _choices_of(option)
    if choices and (named or option.metavar is None):
        listed = "|".join(choices)
        option.metavar = listed if len(listed) <= _AS_METAVAR else "NAME"
        if option.metavar == "NAME":
            option.help = f"{option.help} One of: {', '.join(choices)}."
        option._custom_shell_complete = lambda ctx, parameter, begun: [
            name for name in choices if name.startswith(begun)
        ]
    elif option.metavar is None:
        first = option.opts[0]
        option.metavar = _BY_COMMAND.get(f"{typed} {first}") or _BY_OPTION.get(first) or _by_type(option)


def _choices_of(option: Any) -> tuple[str, ...]:
    """Return the members of an enumeration, as typer keeps them in its newer and its older versions."""
    kind = getattr(option, "type_descriptor", None) or option.type
    return tuple(str(getattr(choice, "value", choice)) for choice in getattr(kind, "choices", None) or ())


def _by_type(option: Any) -> str:
    kind = getattr(option, "type_descriptor", None)
    name = str(option.type.name if kind is None else kind.annotation)
    if "int" in name or "float" in name:
        return "NUMBER"
    return "PATH" if "path" in name.lower() else "TEXT"
