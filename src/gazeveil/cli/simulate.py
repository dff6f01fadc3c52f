# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil simulate``: simulated gaze."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gazeveil.errors import OptionError
from gazeveil.files import replacing
from gazeveil.terminal import NamesOf
from gazeveil.terminal.printing import AsJson, Progress, check_free, command_app, print_json, progress

if TYPE_CHECKING:
    from gazeveil.gaze.formats.base import Chunk
    from gazeveil.simulate.readers import ReadingStudy
    from gazeveil.simulate.study import SimulatedStudy

app = command_app()


@app.command(epilog="Example: `gazeveil simulate --participants 50 --tracker headset --out study/`")
def simulate(
    out: Annotated[Path, typer.Option("--out", help="Folder (a corpus) or file to write.")],
    participants: Annotated[int, typer.Option("--participants", help="How many participants.")] = 24,
    stimuli: Annotated[int, typer.Option("--stimuli", help="How many scenes they see.")] = 6,
    sessions: Annotated[int, typer.Option("--sessions", help="On how many days.")] = 2,
    repeats: Annotated[int, typer.Option("--repeats", help="How often each scene is shown a session.")] = 1,
    seconds: Annotated[float, typer.Option("--seconds", help="How long a scene is shown.")] = 5.0,
    tracker: Annotated[
        str | None,
        typer.Option(
            "--tracker",
            metavar=NamesOf("tracker"),
            help="Which tracker records; by default eyelink, for readers glasses.",
        ),
    ] = None,
    binocular: Annotated[bool, typer.Option("--binocular", help="Record both eyes.")] = False,
    reading: Annotated[
        bool, typer.Option("--reading", help="They read a comic, a newspaper and a textbook; no scenes, no trials.")
    ] = False,
    groups: Annotated[
        Path | None, typer.Option("--groups", help="With --reading: write here (.csv) who is in which made-up group.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Same seed, same participants, same gaze.")] = 1,
    to: Annotated[str, typer.Option("--to", metavar=NamesOf("written format"), help="Format to write.")] = "parquet",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Simulate a study: simulated participants look at scenes."""
    from gazeveil.gaze.corpus import chunk_of
    from gazeveil.gaze.formats.base import writer_of
    from gazeveil.simulate.readers import GLASSES, ReadingStudy
    from gazeveil.simulate.study import SimulatedStudy
    from gazeveil.simulate.tracker import TRACKERS

    study: SimulatedStudy | ReadingStudy
    if reading:
        device = GLASSES if tracker is None else TRACKERS[tracker]
        study = ReadingStudy(participants, seconds, sessions, tracker=device, seed=seed)
        stimuli, repeats, tracker = len(study.documents), 1, device.name
    else:
        tracker = tracker or "eyelink"
        study = SimulatedStudy(participants, stimuli, sessions, repeats, tracker, seconds, seed, binocular=binocular)
    if (binocular and reading) or (groups is not None and not reading):
        raise OptionError("--groups goes with --reading, and --binocular does not")
    writer = writer_of(to)
    check_free(out, overwrite=overwrite)
    samples = 0

    def chunks(tell: Progress) -> Iterator[Chunk]:
        nonlocal samples
        for number, recording in enumerate(study.recordings(), start=1):
            samples += len(recording)
            tell(number, len(study))
            yield chunk_of(recording)

    with progress("simulating", quiet=as_json) as tell:
        writer.write(chunks(tell), out)
    if groups is not None and isinstance(study, ReadingStudy):
        with replacing(groups, overwrite=overwrite) as temporary:
            lines = (f"{name},{group}\n" for name, group in study.groups().items())
            temporary.write_text("observer,group\n" + "".join(lines), encoding="utf-8", newline="\n")
    if as_json:
        counts = {"participants": participants, "stimuli": stimuli, "sessions": sessions, "repeats": repeats}
        print_json(
            {"out": out, "recordings": len(study), "samples": samples, "tracker": tracker, "seed": seed, **counts}
        )
        return
    print(f"simulated {participants:,} participants: {len(study):,} recordings, {samples:,} samples, in {out}")
