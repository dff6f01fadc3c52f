# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil study``: declare a study, check data against it, take a participant out of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gazeveil.errors import InputError, OptionError
from gazeveil.terminal.options import DistanceMm, FovDeg, ScreenPx, SizeMm, sizes_of
from gazeveil.terminal.printing import AsJson, check_free, command_app, print_json, print_table, progress

app = command_app(no_args_is_help=True)

CorpusAt = Annotated[Path, typer.Argument(metavar="CORPUS", help="A corpus folder, as `gazeveil convert` makes it.")]
StudyFile = Annotated[Path, typer.Argument(metavar="study.toml", help="The declared study.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")]


@app.callback()
def study() -> None:
    """Declare a study: the public facts that releases may use.

    Experiments are in `gazeveil lab experiment`.
    """


@app.command(epilog="Example: `gazeveil study init gaze/ --out study.toml --pictures pictures/`")
def init(
    corpus: CorpusAt,
    out: Annotated[Path, typer.Option("--out", metavar="study.toml", help="The file to write.")],
    name: Annotated[str | None, typer.Option("--name", help="The study's name; by default the corpus's.")] = None,
    number: Annotated[
        bool, typer.Option("--number", help="Declare how many take part; their names stay out of the file.")
    ] = False,
    secret_number: Annotated[bool, typer.Option("--secret-number", help="Keep secret how many take part.")] = False,
    pictures: Annotated[
        Path | None,
        typer.Option("--pictures", metavar="DIR", help="Folder of pictures and films with the stimuli's names."),
    ] = None,
    areas: Annotated[
        Path | None, typer.Option("--areas", metavar="DIR", help="Areas of interest, NAME.json for each stimulus.")
    ] = None,
    groups: Annotated[
        Path | None, typer.Option("--groups", metavar="CSV", help="Columns observer and group, if groups are public.")
    ] = None,
    ledger: Annotated[str, typer.Option("--ledger", help="The ledger to charge: a file or postgresql://…")] = "",
    account: Annotated[str, typer.Option("--account", help="The data set's name in the ledger.")] = "",
    screen: ScreenPx = None,
    size_mm: SizeMm = None,
    distance_mm: DistanceMm = None,
    fov_deg: FovDeg = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Propose a declaration from the data: confirm every line before you release."""
    from gazeveil.aggregate.aoi import read_groups
    from gazeveil.gaze.corpus import Corpus
    from gazeveil.release.study import Budget
    from gazeveil.release.study_proposal import KnownFacts, propose
    from gazeveil.release.study_toml import write_study

    if number and secret_number:
        raise OptionError("the number of participants is public or secret: --number or --secret-number, not both")
    for folder in (pictures, areas):
        if folder is not None and not folder.is_dir():
            raise InputError(f"{folder} is no folder", hint="--pictures and --areas take folders with files")
    check_free(out, overwrite=overwrite)
    named = None if groups is None else read_groups(groups)
    known = KnownFacts(
        pictures=pictures,
        areas=areas,
        groups=None if named is None else {who: group for group, those in named.items() for who in those},
        budget=Budget(ledger=ledger, account=account),
        sizes=sizes_of(screen, size_mm, distance_mm, fov_deg),
    )
    whole, damaged = Corpus.open_readable(corpus)
    with progress("looking at recordings", quiet=as_json) as tell:
        who = "number" if number else "secret" if secret_number else "roster"
        proposed, remarks = propose(whole, name=name, who=who, known=known, tell=tell)
    if damaged:
        remarks[""] += f"\n{len(damaged)} files could not be opened and are left out of the proposal."
    write_study(proposed, out, remarks=remarks, overwrite=overwrite)
    found = {
        "pictures": sum(stimulus.picture is not None for stimulus in proposed.stimuli),
        "areas": sum(stimulus.areas is not None for stimulus in proposed.stimuli),
    }
    if as_json:
        print_json({"out": out, **found, "study": proposed.to_dict(), "remarks": remarks})
        return
    print(f"wrote     {out}: a proposal, read off the data")
    print(f"study     {_summary(proposed)}; {found['pictures']} pictures and {found['areas']} files with areas found")
    for line in "\n".join(remarks.values()).splitlines():
        if "Fill in: " in line:
            print(f"fill in   {line}")
    print("confirm   check every line: what you keep counts as public. Nothing is published by this file.")
    print(f"next      gazeveil study check {corpus} --study {out}")


@app.command(epilog="Example: `gazeveil study check gaze/ --study study.toml --out report.html`")
def check(
    corpus: CorpusAt,
    study_file: Annotated[Path, typer.Option("--study", metavar="study.toml", help="The declared study.")],
    out: Annotated[
        Path | None, typer.Option("--out", help="Write the whole report here: .html or .json. It is private.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with code 1 if anything was found.")] = False,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Compare data and declaration; writes a private report for the holder of the data."""
    from gazeveil.release.check import KINDS, NOT_TO_PUBLISH, write_findings
    from gazeveil.release.check import check as compare
    from gazeveil.release.study import Study

    if out is not None:
        if out.suffix.lower() not in {".html", ".json"}:
            raise OptionError(f"the report is an .html or .json file, not {out.name!r}")
        check_free(out, overwrite=overwrite)
    declared = Study.open(study_file)
    with progress("reading gaze", quiet=as_json) as tell:
        findings = compare(declared, corpus, tell)
    if out is not None:
        write_findings(findings, out)
    if as_json:
        print_json(findings.to_dict() | ({} if out is None else {"out": out}))
    else:
        rows = [
            [KINDS[kind][0], len(items), _some([item.participant or item.sentence for item in items]), KINDS[kind][1]]
            for kind, items in findings.by_kind().items()
        ]
        counted = f"{findings.participants:,} participants and {findings.recordings:,} recordings"
        if rows:
            print_table(
                f"{declared.name}: {counted}", ["finding", "how often", "who or what", "what a release does"], rows
            )
        else:
            print(f"{declared.name}: {counted}. Everything fits the declaration.")
        if rows and out is None:
            print("See every recording with --json, or write the whole report with --out report.html.")
        if out is not None:
            print(f"wrote {out}")
        print(f"private: {NOT_TO_PUBLISH}")
        product = "heatmaps" if len(declared.stimuli) > 1 else "heatmap"
        print(f"next: gazeveil plan {study_file} --product {product} --epsilon 1")
    if strict and len(findings):
        raise typer.Exit(1)


@app.command(epilog="Example: `gazeveil study withdraw study.toml p07`")
def withdraw(
    study_file: StudyFile,
    participant: Annotated[str, typer.Argument(help="Who withdraws, by the name in the recordings.")],
    as_json: AsJson = False,
) -> None:
    """Take a participant out of all further releases. What was released and charged stays."""
    from gazeveil.release.study_toml import withdraw as take_out

    done = take_out(study_file, participant)
    people = done.study.participants
    if as_json:
        values = {"out": study_file, "withdrawn": people.withdrawn, "participants": people.number}
        print_json({**values, "comments_kept": done.comments_kept})
        return
    print(f"wrote     {study_file}: further releases leave {participant} out; {_summary(done.study)}")
    if people.roster is None:
        print("check     the file has no roster, so the name could not be checked")
    if not done.comments_kept:
        print("comments  the file was rewritten, and its comments are lost")
    print("remains   earlier releases and their charges. Later releases show that a participant withdrew.")
    print(f"to do     delete the raw data of {participant}; then run `gazeveil study check`")


@app.command(epilog="Example: `gazeveil study show study.toml`")
def show(study_file: StudyFile, as_json: AsJson = False) -> None:
    """Show what a study declares."""
    from gazeveil.release.study import Study

    declared = Study.open(study_file)
    if as_json:
        print_json({**declared.to_dict(), "facts": [fact.to_dict() for fact in declared.facts()]})
        return
    custody, recordings = declared.custody, declared.recordings
    rate = "not declared" if recordings.rate_hz is None else f"{recordings.rate_hz:g} Hz"
    held = [f"{key}: {getattr(custody, key) or 'blank'}" for key in ("holder", "place", "access", "until")]
    rows: list[list[Any]] = [
        ["participants", _summary(declared)],
        ["neighbours", declared.neighbours],
        ["sessions", ", ".join(recordings.sessions) or "all"],
        ["recordings", f"{recordings.per_stimulus} of each stimulus at most; {rate}"],
        ["delta", f"{float(declared.delta):g}"],
        ["ledger", f"{declared.budget.ledger or 'none'}, account {declared.budget.account or 'none'}"],
        ["raw data", "; ".join(held)],
    ]
    print_table(declared.name, ["", ""], rows)
    stimuli = [
        [each.name or "(none)", "–" if each.seconds is None else each.seconds, str(each.screen), bool(each.picture)]
        for each in declared.stimuli
    ]
    print_table("stimuli", ["name", "seconds", "screen", "picture"], stimuli)


def _summary(declared: Any) -> str:
    people = declared.participants
    who = "a secret number of" if people.secret else f"{people.number:,}"
    gone = f", {len(people.withdrawn)} withdrew" if people.withdrawn else ""
    shown = len(declared.stimuli)
    return f"{who} participants{gone}, {shown} {'stimulus' if shown == 1 else 'stimuli'}"


def _some(names: list[str], most: int = 3) -> str:
    once = list(dict.fromkeys(names))
    return ", ".join(once[:most]) + (f", … ({len(once):,})" if len(once) > most else "")
