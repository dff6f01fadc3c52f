# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Move, merge and rename modules without any change of behaviour: ``python3.12 -m tools.merging PLAN.toml …``.

A plan says which modules become one (``[module."new.name"] from = […]``, with ``doc`` as its docstring), which packages
move with all they hold (``[package] "old" = "new"``), and which names change (``[rename] "old.module:name" = "new"``).
What is merged is put in the order of its imports, imports among the parts are dropped, every user is rewritten: code,
tests, documents, settings. Nothing is written if two parts mean two things by one name, or if modules would import each
other in a circle. Afterwards run ``ruff check --fix`` and ``ruff format``. It needs Python 3.12: before, syntax trees
do not say where names within f-strings are.
"""

from __future__ import annotations

import argparse
import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path

from tools.merging.joining import merged, refuse_circles, wrapped
from tools.merging.planning import HOMES, ROOT, Plan, files, module_name, modules_of, read_plan
from tools.merging.rewriting import Rewriter
from tools.merging.syntax import PlanError, Source

TEXTS = {".md", ".toml", ".yml", ".yaml", ".ipynb", ".js", ".html", ".json", ".txt", ".cfg", ".sh"}


def main() -> None:
    """Follow the plans, or say why they cannot be followed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plans", nargs="*", type=Path)
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--record", type=Path, help="add what went where to this file (JSON)")
    parser.add_argument("--replay", type=Path, help="rewrite users alone, by what was recorded in this file")
    given = parser.parse_args()
    try:
        if given.replay:
            replay(given.replay)
        else:
            follow(given.plans, check=given.check, record=given.record)
    except PlanError as error:
        sys.exit(f"error: {error}")


def follow(plans: list[Path], *, check: bool, record: Path | None = None) -> None:
    """Move and merge what the plans say.

    Raises:
        PlanError: If they cannot be followed; nothing was written then.
    """
    everything = files()
    plan = read_plan(plans, modules_of(everything))
    sources = {path: Source.read(path, module_name(path)) for path in everything if path.suffix == ".py"}
    written, movers = rewritten(sources, plan)
    trees = {module_name(path): ast.parse(text) for path, text in written.items()}
    refuse_circles(trees)
    gone = {plan.known[old] for old in plan.modules} - written.keys()
    print(f"{len(plan.modules)} modules become {len(plan.merged)}; {len(gone)} files go")
    if check:
        return
    for path, place in movers.items():
        _git_move(path, place)
    for path in gone:
        path.unlink(missing_ok=True)
    for old, new in plan.packages.items():
        for path in everything:  # what lies beside the modules of a package
            here = _place(old, package=True).parent
            if path.is_relative_to(here) and path.suffix != ".py" and path.exists():
                _git_move(path, _place(new, package=True).parent / path.relative_to(here))
    for path in files():
        if path.suffix in TEXTS:
            _write(path, plan.in_words(path.read_text(encoding="utf-8")))
    for path, text in written.items():
        _write(path, text)
    _sweep()
    if record is not None:
        steps = json.loads(record.read_text(encoding="utf-8")) if record.exists() else []
        names = [[old, name, word] for (old, name), word in plan.names.items()]
        steps.append({"modules": plan.modules, "packages": plan.packages, "names": names})
        record.write_text(json.dumps(steps, indent=1), encoding="utf-8")


def rewritten(sources: dict[Path, Source], plan: Plan) -> tuple[dict[Path, str], dict[Path, Path]]:
    """Return the new text of every module, and for each new module the file that it goes on from.

    Raises:
        PlanError: If something is wrong, all of it at once.
    """
    texts: dict[Path, str] = {}
    movers: dict[Path, Path] = {}
    problems: list[str] = []
    for new, old in plan.merged.items():
        parts = [sources[plan.known[name]] for name in old]
        place = _place(new, package=len(parts) == 1 and parts[0].path.name == "__init__.py")
        try:
            texts[place] = merged(new, parts, plan)
        except PlanError as error:
            problems.append(str(error))
        movers[max(parts, key=lambda part: len(part.text)).path] = place
    for path, source in sources.items():
        if path in texts or source.name in plan.modules:
            continue
        try:
            Rewriter(source, plan, source.name).rewrite(hoisted=False)
            for (module, name), word in plan.names.items():
                if module == source.name:
                    source.rename(name, word, source.tree)
        except PlanError as error:
            problems.append(str(error))
        texts[path] = source.edited(plan.in_words)
    if problems:
        raise PlanError("\n".join(problems))
    return {path: wrapped(text) for path, text in texts.items()}, movers


def replay(record: Path) -> None:
    """Rewrite users of modules that went elsewhere before: what comes from a branch that knows no new names."""
    for step in json.loads(record.read_text(encoding="utf-8")):
        everything = files()
        now = modules_of(everything)
        modules = {old: new for old, new in step["modules"].items() if old not in now or old == new}
        names = {(old, name): word for old, name, word in step["names"] if old in modules}
        known = {**now, **dict.fromkeys(modules, ROOT)}
        plan = Plan(modules, packages=step["packages"], names=names, known=known)
        for path in everything:
            if path.suffix == ".py":
                source = Source.read(path, module_name(path))
                Rewriter(source, plan, source.name).rewrite(hoisted=False)
                _write(path, wrapped(source.edited(plan.in_words)))
            elif path.suffix in TEXTS:
                _write(path, plan.in_words(path.read_text(encoding="utf-8")))


def _sweep() -> None:
    """Remove folders in which nothing is left."""
    for home in HOMES.values():
        for folder in sorted((each for each in home.rglob("*") if each.is_dir()), reverse=True):
            if not any(each.is_file() and "__pycache__" not in each.parts for each in folder.rglob("*")):
                shutil.rmtree(folder)


def _git_move(path: Path, place: Path) -> None:
    if path != place:
        place.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "mv", "-f", str(path), str(place)], cwd=ROOT, check=True)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def _place(module: str, *, package: bool) -> Path:
    root, *rest = module.split(".")
    place = HOMES[root].joinpath(*rest)
    return place / "__init__.py" if package else place.with_name(f"{place.name}.py")


if __name__ == "__main__":
    main()
