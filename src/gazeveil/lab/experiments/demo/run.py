# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The demo: a small simulated study, looked at from all sides, as one report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from gazeveil.arrays import Tell
from gazeveil.gaze.corpus import Corpus, write_corpus
from gazeveil.gaze.events import DETECTORS, covered, detect_blinks, main_sequence
from gazeveil.gaze.recording import Key, Recording
from gazeveil.lab.experiments.demo.features import feature_section
from gazeveil.lab.experiments.demo.live import live_section
from gazeveil.lab.experiments.demo.private import private_section
from gazeveil.lab.experiments.demo.veils import veil_section
from gazeveil.lab.utility.agreement import Agreement, agreement
from gazeveil.release import visual_report
from gazeveil.simulate.study import SimulatedStudy

BLUR_DEG = 1.0
PICTURE_WIDTH = 840
_WHO = "Why: raw gaze identifies participants"
SHOWN_PARTICIPANTS = 4
SHOWN_SCENE = 2
"""The scene of the private heatmap: one that is looked at away from its middle, where the prior is."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What was found in the study: the events of each recording and how well they fit what the eyes really did."""

    recordings: dict[Key, Recording]
    events: dict[Key, pl.DataFrame]
    kappa: float

    def of(self, observer: str, session: str | None = None) -> pl.DataFrame:
        """Return one participant's events."""
        chosen = [
            table
            for key, table in self.events.items()
            if key.observer == observer and (session is None or key.session == session)
        ]
        return pl.concat(chosen)


def run_demo(
    out: Path, *, participants: int = 24, stimuli: int = 6, sessions: int = 2, seed: int = 1, tell: Tell
) -> dict[str, Any]:
    """Simulate, write the corpus, read it back, find events, draw, and write ``report.html``."""
    study = SimulatedStudy(observers=participants, stimuli=stimuli, sessions=sessions, seed=seed)
    steps = 2 * len(study) + 5
    write_corpus(_counted(study.recordings(), tell, 0, steps), out / "study")
    looked = _look(_counted(Corpus.open(out / "study").recordings(), tell, len(study), steps))
    scene = study.scenes()[: SHOWN_SCENE + 1][-1]
    sections = [
        private_section(Corpus.open(out / "study"), scene.name, scene.picture(PICTURE_WIDTH, _picture_height(study))),
        _who(looked),
        feature_section(participants),
        veil_section(seed),
        live_section(),
        _about(study, looked),
        _scenes(study, looked),
        _one_participant(study, looked),
        _eyes(looked),
        _private(),
    ]
    target = out / "report.html"
    visual_report.write_report(
        target,
        "A simulated study, with differential privacy",
        f"{participants} simulated participants looked at {stimuli} images. Nobody was recorded.",
        sections,
    )
    tell(steps, steps)
    return {
        "participants": participants,
        "stimuli": stimuli,
        "sessions": sessions,
        "seed": seed,
        "recordings": len(looked.recordings),
        "samples": sum(len(recording) for recording in looked.recordings.values()),
        "fixations": sum(int((table["kind"] == "fixation").sum()) for table in looked.events.values()),
        "kappa": looked.kappa,
        "corpus": out / "study",
        "report": target,
    }


def _picture_height(study: SimulatedStudy) -> int:
    plane = study.plane.in_unit("px")
    return round(PICTURE_WIDTH * (plane.height_px or 1) / (plane.width_px or 1))


def _counted(recordings: Iterator[Recording], tell: Tell, before: int, steps: int) -> Iterator[Recording]:
    for number, recording in enumerate(recordings, start=1):
        tell(before + number, steps)
        yield recording


def _look(recordings: Iterator[Recording]) -> Looked:
    # steadier than 20 deg/s on a 1000 Hz tracker, and a window that flattens the peaks of small saccades less
    detector = DETECTORS["ivt"](threshold=30, window=0.014)
    found: dict[Key, pl.DataFrame] = {}
    kept: dict[Key, Recording] = {}
    agreed = Agreement()
    for recording in recordings:
        events = detector.detect(recording)
        found[recording.key] = pl.concat([events, detect_blinks(recording)])
        kept[recording.key] = recording
        truth, seen = (
            covered(recording.t, table, "fixation")[recording.tracked] for table in (recording.events, events)
        )
        agreed += agreement(truth, seen)
    return Looked(kept, found, agreed.kappa)


def _about(study: SimulatedStudy, looked: Looked) -> visual_report.ReportSection:
    seconds = sum(recording.duration for recording in looked.recordings.values())
    tracked = np.mean([recording.tracked.mean() for recording in looked.recordings.values()])
    rows: list[list[object]] = [
        ["participants", str(study.observers)],
        ["images", str(study.stimuli)],
        ["sessions (days)", str(study.sessions)],
        ["recordings", str(len(looked.recordings))],
        ["samples", f"{sum(len(recording) for recording in looked.recordings.values()):,}"],
        ["gaze time", f"{seconds / 60:.1f} min"],
        ["tracker", str(study.tracker)],
        ["screen", str(study.plane)],
        ["samples with gaze", f"{tracked:.1%}"],
    ]
    lead = "Participants differ in how fast their eyes jump, how long they rest and what they like to look at."
    return visual_report.ReportSection(
        "The study", (visual_report.paragraph(lead), visual_report.html_table(["", ""], rows))
    )


def _scenes(study: SimulatedStudy, looked: Looked) -> visual_report.ReportSection:
    plane = study.plane.in_unit("px")
    width, height = int(plane.width_px or 0), int(plane.height_px or 0)
    scale = PICTURE_WIDTH / width
    centre, _ = plane.convert([width / 2, width / 2 + 1], [height / 2] * 2, "deg")
    blur = BLUR_DEG / float(centre[1] - centre[0]) * scale
    pieces = []
    for scene in study.scenes():
        views = [item.to("px") for key, item in looked.recordings.items() if key.stimulus == scene.name]
        x, y = (np.concatenate([getattr(view, axis) for view in views]) * scale for axis in ("x", "y"))
        warmth = visual_report.heat(x, y, PICTURE_WIDTH, round(height * scale), blur)
        picture = scene.picture(PICTURE_WIDTH, round(height * scale))
        participants = len({view.observer for view in views})
        pieces.append(
            visual_report.html_picture(
                visual_report.heat_over_picture(picture, warmth, scene.name),
                f"{scene.name}: where {participants} participants looked (raw gaze, blurred by {BLUR_DEG:g}°)",
            )
        )
    lead = "Faces draw the eye most, then writing, then things; each participant weighs them differently."
    raw = "These heatmaps are made of raw gaze. They guarantee nothing: no participant's share in them is hidden."
    return visual_report.ReportSection(
        "Raw heatmaps",
        (visual_report.paragraph(lead), visual_report.html_warning(raw), visual_report.html_gallery(pieces)),
    )


def _one_participant(study: SimulatedStudy, looked: Looked) -> visual_report.ReportSection:
    key, recording = next(iter(looked.recordings.items()))
    events = looked.events[key]
    plane = study.plane.in_unit("px")
    picture = next(scene for scene in study.scenes() if scene.name == key.stimulus).picture(
        int(plane.width_px or 0), int(plane.height_px or 0)
    )
    fixations = events.filter(pl.col("kind") == "fixation")
    pieces = (
        visual_report.html_picture(
            visual_report.trace(recording, events, f"{key.observer} looks at {key.stimulus}"),
            "Gaze over time; fixations found by I-VT are shaded, blinks are hatched",
        ),
        visual_report.html_picture(
            visual_report.scanpath_over_picture(picture, fixations, "the same, as a scanpath"),
            "Where the gaze rested, in order; larger discs lasted longer",
        ),
    )
    return visual_report.ReportSection("One participant, one image", pieces)


def _eyes(looked: Looked) -> visual_report.ReportSection:
    participants = list(dict.fromkeys(key.observer for key in looked.recordings))
    rows = []
    for observer in participants:
        summary = main_sequence(looked.of(observer))
        rows.append(
            [
                observer,
                summary.fixations,
                summary.median_fixation * 1000,
                summary.n,
                summary.median_amplitude,
                summary.eta,
                summary.c,
                int((looked.of(observer)["kind"] == "blink").sum()),
            ]
        )
    shown = participants[:SHOWN_PARTICIPANTS]
    saccades = {name: looked.of(name).filter(pl.col("kind") == "saccade") for name in shown}
    curves = {name: (fit.eta, fit.c) for name in shown if np.isfinite((fit := main_sequence(looked.of(name))).eta)}
    lead = (
        "Fixations and saccades are found by I-VT at 30 deg/s. The main sequence, peak velocity over amplitude, bends "
        "at a height of its own in each participant. Agreement with what the simulated eyes really did: "
        f"kappa {looked.kappa:.2f} (sample by sample, fixation or not)."
    )
    columns = ["participant", "fixations", "median ms", "saccades", "median °", "ceiling °/s", "scale °", "blinks"]
    return visual_report.ReportSection(
        "Fixations and saccades",
        (
            visual_report.paragraph(lead),
            visual_report.html_picture(
                visual_report.main_sequence(saccades, curves, f"main sequence of {len(shown)} participants"),
                "Each dot is a saccade, each line a participant's fitted main sequence",
            ),
            visual_report.html_table(columns, rows),
        ),
    )


def _who(looked: Looked) -> visual_report.ReportSection:
    participants = list(dict.fromkeys(key.observer for key in looked.recordings))
    days = sorted({key.session for key in looked.recordings})
    if len(days) < 2:
        return visual_report.ReportSection(_WHO, (visual_report.paragraph("This takes two sessions."),))
    pieces = []
    for quantity, unit, scale in (
        ("median_fixation", "median fixation (ms)", 1000.0),
        ("gain", "saccade speed at 1° (°/s)", 1.0),
    ):
        first, second = (
            [getattr(main_sequence(looked.of(name, day)), quantity) * scale for name in participants]
            for day in days[:2]
        )
        likeness = float(np.corrcoef(first, second)[0, 1]) if len(participants) > 2 else float("nan")
        pieces.append(
            visual_report.html_picture(
                visual_report.two_sessions(first, second, unit, unit),
                f"Each dot is a participant; correlation of the two days {likeness:.2f}",
            )
        )
    lead = (
        "A participant whose eyes are slow today has slow eyes tomorrow. Such traits repeat from day to day, so raw "
        "gaze is not anonymous even without a name on it: the participant can be re-identified."
    )
    return visual_report.ReportSection(_WHO, (visual_report.paragraph(lead), visual_report.html_gallery(pieces)))


def _private() -> visual_report.ReportSection:
    text = (
        "Only the private heatmap, the released feature and the veiled streams are private. The rest is raw gaze. "
        "That is fine because these participants do not exist; a report made in this way from a real study would "
        "show its participants' raw gaze."
    )
    return visual_report.ReportSection("What is private in this report", (visual_report.html_warning(text),))
