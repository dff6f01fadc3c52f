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
from numpy.typing import NDArray

import gazeveil
from gazeveil import FeatureTable, PrivateHeatmap, Study
from gazeveil.aggregate.grid import Grid, render
from gazeveil.aggregate.liu import LiuMap
from gazeveil.aggregate.maps import CountMap
from gazeveil.arrays import FloatArray, Tell
from gazeveil.display import BLUE, GREY, ORANGE, canvas, legend_below, png
from gazeveil.engines import engine_at
from gazeveil.features.design_learning import learn_from
from gazeveil.features.extraction import extract_corpus
from gazeveil.features.feature_list import declared_ranges
from gazeveil.features.group_series import GroupEstimate, GroupSeries
from gazeveil.features.series import panel_of
from gazeveil.features.settings import Settings
from gazeveil.gaze.corpus import Corpus, write_corpus
from gazeveil.gaze.events import DETECTORS, detect_blinks, main_sequence, samples_within
from gazeveil.gaze.recording import Key, Recording
from gazeveil.lab.experiments.feature_series import PRIVATE_SEED, PUBLIC_SEED, other_documents
from gazeveil.lab.utility.label_agreement import Agreement, agreement
from gazeveil.lab.utility.releases import correlation
from gazeveil.lab.utility.streams import veil_error
from gazeveil.noise import NoiseSource
from gazeveil.privacy.composition import guarantee_after_noise
from gazeveil.privacy.statement import statement
from gazeveil.release import visual_report
from gazeveil.release.feature_settings import observed_facts
from gazeveil.release.map_files import enlarged
from gazeveil.samples.recipes import preset
from gazeveil.samples.space import space_of
from gazeveil.simulate import SimulatedStudy
from gazeveil.simulate.readers import DOCUMENTS, GLASSES, Document, Reader, ReadingStudy, read

FEATURE_EPSILON = "3"
FEWEST, MOST, PUBLIC_READERS = 2, 60, 10
PART_S, WINDOW_S, STEP_S = 50.0, 15.0, 2.5
FEATURE = "right_share"


def feature_section(observers: int) -> visual_report.ReportSection:
    """Release the mean course of one feature of a simulated class, and show it beside what it was."""
    readers = min(max(observers, FEWEST), MOST)
    comic, _, textbook = DOCUMENTS
    others = {document.name: document for document in other_documents()}
    lesson = (textbook, comic, textbook)
    public = _lesson_of(PUBLIC_READERS, PUBLIC_SEED, (others["novel"], others["leaflet"], others["novel"]))
    table = _lesson_of(readers, PRIVATE_SEED, lesson)
    ranges = declared_ranges(unit="deg").only([FEATURE])
    steps = int((len(lesson) * PART_S - WINDOW_S) / STEP_S) + 1
    design = learn_from(public, ranges, steps, "simulated readers of other documents")
    truth = panel_of(table, ranges, steps, design.mean).values.mean(axis=0)[:, 0]
    mechanism = GroupSeries(epsilon=FEATURE_EPSILON, design=design)
    plan = observed_facts(table).plan(mechanism, settings=Settings.of(table.info))
    released = plan.release(table, anyway=True)  # shown in small trials too, where the noise hides the course
    off = float(np.sqrt(np.mean(np.square(released.value.mean[:, 0] - truth))))
    lead = (
        f"A class of {readers} reads a textbook, then a comic, then the textbook again. The released series is the "
        f"share of saccades that go right, averaged over the class, in windows of {WINDOW_S:g} s. It drops with the "
        f"comic and comes back. The guarantee is {released.guarantee}. The design was learnt from other readers, who "
        "are public."
    )
    caption = f"Saccades that go right: the class and what is released; off by {off:.3f} (root mean square)"
    return visual_report.ReportSection(
        "A private feature over time",
        (
            visual_report.paragraph(lead),
            visual_report.html_picture(
                _drawn_feature(truth, released.value, [document.name for document in lesson]), caption
            ),
            visual_report.html_details(
                "The privacy statement", visual_report.paragraph(released.statement().paragraph())
            ),
        ),
    )


def _lesson_of(count: int, seed: int, documents: tuple[Document, ...]) -> FeatureTable:
    readers = ReadingStudy(count, PART_S, seed=seed).readers()
    lessons = Corpus.of(_lesson(reader, documents) for reader in readers)
    return extract_corpus(lessons, window=WINDOW_S, step=STEP_S).table


def _lesson(reader: Reader, documents: tuple[Document, ...]) -> Recording:
    """Return one recording of a reader who reads documents one after the other."""
    parts = [read(reader, document, GLASSES, PART_S, number) for number, document in enumerate(documents, start=1)]

    def joined(name: str) -> Any:
        return np.concatenate([getattr(part, name) for part in parts])

    return Recording(
        np.concatenate([part.t - part.t[0] + number * PART_S for number, part in enumerate(parts)]),
        joined("x"),
        joined("y"),
        GLASSES.geometry,
        valid=joined("valid"),
        pupil=joined("pupil"),
        observer=reader.eyes.name,
        stimulus="lesson",
        session="1",
        rate_hz=GLASSES.rate_hz,
        pupil_unit=GLASSES.pupil_unit,
    )


def _drawn_feature(truth: FloatArray, released: GroupEstimate, documents: list[str]) -> bytes:
    figure, axes = canvas(9, 3.8)
    seconds = np.arange(len(truth)) * STEP_S + WINDOW_S / 2
    mean, half = released.mean[:, 0], 1.96 * released.sd[:, 0]
    axes.fill_between(seconds, mean - half, mean + half, color=BLUE, alpha=0.18, linewidth=0, label="95 % interval")
    axes.plot(seconds, mean, color=BLUE, linewidth=2, label="released")
    axes.plot(seconds, truth, color=ORANGE, linestyle="--", linewidth=1.6, label="raw mean of the class")
    axes.plot(seconds, released.public[:, 0], color=GREY, linestyle=":", linewidth=1.2, label="known without data")
    for number, name in enumerate(documents):
        if number:
            axes.axvline(number * PART_S, color=GREY, linewidth=0.8)
        at = ((number + 0.5) * PART_S, 1.0)
        axes.annotate(name, at, xycoords=("data", "axes fraction"), ha="center", va="bottom")
    axes.set_xlim(0, len(documents) * PART_S)
    axes.set_xlabel("time (s)")
    axes.set_ylabel("saccades that go right (share)")
    legend_below(figure, axes)
    return png(figure)


# --- The part of the report that points to the live demo.


SCREENSHOT = Path(gazeveil.__file__).resolve().parents[2] / "docs" / "images" / "control-page.png"
"""The control page, as the tests drew it; there in a checkout, not where the package is installed."""


def live_section() -> visual_report.ReportSection:
    """Say how the gateway can be tried, with a picture of its page where there is one."""
    lead = (
        "A gateway protects gaze on its way from the tracker to the apps. To try it without a tracker: "
        "gazeveil serve --demo. It opens a page with simulated gaze, your mouse as an eye, and two demo apps. Its "
        "privacy budget is made up, and nothing is kept."
    )
    pieces = [visual_report.paragraph(lead)]
    if SCREENSHOT.is_file():
        caption = "The control page: raw gaze, what an app is shown, and what a filter recovers of it"
        pieces.append(visual_report.html_picture(SCREENSHOT.read_bytes(), caption))
    return visual_report.ReportSection("Live gaze", tuple(pieces))


# --- The demo's private heatmap: raw beside private, and beside them the prior and a baseline (Liu 2019).


HEATMAP_EPSILON = 3.0
DELTA = 1e-5
CELL_DEG = 1.5
PRIVATE_BLUR_DEG = 1.5


def private_section(corpus: Corpus, stimulus: str, picture: NDArray[np.uint8]) -> visual_report.ReportSection:
    """Release one stimulus's heatmap and show it beside the raw one; then the prior and a baseline."""
    chosen = corpus.select(stimulus=stimulus)
    grid = Grid.of_degrees(chosen.geometry, CELL_DEG)
    raw = engine_at().sum_over_observers(chosen, CountMap(grid))
    truth = _unit_mass(render(raw.total.reshape(grid.shape).astype(np.float64), PRIVATE_BLUR_DEG / CELL_DEG))
    noise = NoiseSource.secure()
    published = _liu(corpus, stimulus, grid, noise)
    mechanism = PrivateHeatmap(epsilon=HEATMAP_EPSILON, delta=DELTA, cell_deg=CELL_DEG, blur_deg=PRIVATE_BLUR_DEG)
    plan = Study.observed_in(corpus).plan(mechanism, stimulus=stimulus)
    ours = plan.release(
        corpus, noise=noise, anyway=True
    )  # shown even with so few participants that most of it is prior
    share = ours.value.data_share

    def drawn(name: str, values: FloatArray, words: str) -> str:
        over = visual_report.heat_over_picture(picture, enlarged(np.clip(values, 0, None), *picture.shape[:2]), name)
        return visual_report.html_picture(
            over, f"{words}; correlation with the raw heatmap {correlation(values, truth):.2f}"
        )

    from_data = f"{share:.0%} of this map comes from the data, {1 - share:.0%} from the prior"
    first = [
        visual_report.html_picture(
            visual_report.heat_over_picture(picture, enlarged(truth, *picture.shape[:2]), "raw gaze"),
            f"Raw gaze of {raw.observers} participants: no guarantee",
        ),
        drawn("differentially private", ours.value.map, f"Released: {from_data}"),
    ]
    compared = [
        drawn("the prior alone", ours.value.prior, "What is known without any data"),
        drawn("baseline: Liu 2019, corrected", published, f"One noisy number per cell, ε = {HEATMAP_EPSILON:g}"),
    ]
    lead = f"The same {raw.observers} participants and the same image, raw and with the guarantee {ours.guarantee}."
    below = (
        "The noise is fresh, so the private pictures change from run to run. More participants or a larger ε give a "
        "map with more data in it; gazeveil plan says how good it will be before anything is spent. For comparison:"
    )
    return visual_report.ReportSection(
        "A private heatmap",
        (
            visual_report.paragraph(lead),
            visual_report.html_gallery(first),
            visual_report.html_details("The privacy statement", visual_report.paragraph(ours.statement().paragraph())),
            visual_report.paragraph(below),
            visual_report.html_gallery(compared),
        ),
    )


def _liu(corpus: Corpus, stimulus: str, grid: Grid, noise: NoiseSource) -> FloatArray:
    mechanism = LiuMap(epsilon=HEATMAP_EPSILON, delta=DELTA, columns=grid.columns, rows=grid.rows)
    released = Study.observed_in(corpus).plan(mechanism, stimulus=stimulus).release(corpus, noise=noise)
    return render(released.value.map, PRIVATE_BLUR_DEG / CELL_DEG)


def _unit_mass(values: FloatArray) -> FloatArray:
    total = float(values.sum())
    return values / total if total > 0 else values


# --- The demo's live stream: one participant's gaze before and after the default veil, at two privacy levels.


SECONDS = 20.0
SHOWN = {"lphu": ("weaker privacy, useful", BLUE), "hplu": ("stronger privacy, hardly useful", ORANGE)}
"""The presets that are shown, what to call them, and their colours."""


def veil_section(seed: int = 1) -> visual_report.ReportSection:
    """Veil one simulated stream twice and show it beside what it was."""
    raw = SimulatedStudy(observers=1, stimuli=1, sessions=1, tracker="remote", seconds=SECONDS, seed=seed).recording(
        0, 0
    )
    raw = raw.to("px")
    noise, space = NoiseSource.secure(), space_of(raw.geometry)
    veiled: dict[str, Recording] = {}
    rows, statements = [], []
    for name, (words, _) in SHOWN.items():
        mechanism = preset(name, space)
        veiled[name] = mechanism.apply(raw, noise)
        stated = statement(guarantee_after_noise(mechanism.guarantee, noise))
        error = veil_error(raw, veiled[name])
        rows.append([f"{name}: {words}", f"{error.rmse_px:.0f}", f"{error.centre_rmse_px:.0f}"])
        statements.append(
            visual_report.html_details(f"The privacy statement of {name}", visual_report.paragraph(stated.paragraph()))
        )
    lead = (
        "A game or a headset needs gaze as it comes. The mechanism for live gaze releases a noisy point a few "
        "times a second, by the clock and never by where the participant looks. A filter fills in between. Every "
        "sample gets a point at once; pupils and single eyes are not released."
    )
    caption = "Horizontal gaze of one participant: raw (grey), and as an app would see it at two privacy levels"
    return visual_report.ReportSection(
        "A private live stream",
        (
            visual_report.paragraph(lead),
            visual_report.html_picture(_drawn_veils(raw, veiled), caption),
            visual_report.html_table(["veil", "error, px", "error of always the centre, px"], rows),
            *statements,
        ),
    )


def _drawn_veils(raw: Recording, veiled: dict[str, Recording]) -> bytes:
    figure, axes = canvas(10.0, 3.8)
    seconds = raw.t - raw.t[0]
    axes.plot(seconds, np.where(raw.tracked, raw.x, np.nan), color=GREY, linewidth=1.2, label="raw")
    for name, recording in veiled.items():
        words, colour = SHOWN[name]
        axes.plot(seconds, recording.x, color=colour, linewidth=1.2, label=f"{name}: {words}")
    axes.set_xlabel("time (s)")
    axes.set_ylabel("x (px)")
    legend_below(figure, axes)
    return png(figure)


# --- The demo: a small simulated study, looked at from all sides, as one report.


RAW_BLUR_DEG = 1.0
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
            samples_within(recording.t, table, "fixation")[recording.tracked] for table in (recording.events, events)
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
    blur = RAW_BLUR_DEG / float(centre[1] - centre[0]) * scale
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
                f"{scene.name}: where {participants} participants looked (raw gaze, blurred by {RAW_BLUR_DEG:g}°)",
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
