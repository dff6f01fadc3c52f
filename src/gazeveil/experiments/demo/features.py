# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The demo's feature: how often one reader's eyes jump, before and after release, with the guarantee that was kept."""

from __future__ import annotations

from gazeveil.experiments.feature_people import PRIVATE_SEED, PUBLIC_SEED, other_documents
from gazeveil.experiments.usefulness._feature_plots import before_and_after
from gazeveil.experiments.usefulness.raw_gaze_promise import means_over_windows
from gazeveil.features.bins import BinRules, bin_ranges, extract_bin_corpus
from gazeveil.features.learning import learn
from gazeveil.features.panel import panel_of
from gazeveil.features.participant_series import ParticipantSeries, RawGaze
from gazeveil.features.settings import Settings
from gazeveil.gaze.corpus import Corpus
from gazeveil.release import report
from gazeveil.release.feature_facts import observed_facts
from gazeveil.simulate.reading import DOCUMENTS, ReadingStudy
from gazeveil.utility.series import range_error

EPSILON = 1.0
HIDDEN_S = 2.0
SECONDS = 120.0
PUBLIC_READERS = 6
CHANNEL = "saccades"


def feature_section() -> report.Section:
    """Release one feature of one simulated reader and show it beside what it was."""
    rules = BinRules()
    ranges = bin_ranges(rules).only([CHANNEL])
    count = int(SECONDS / rules.width)
    public = ReadingStudy(PUBLIC_READERS, SECONDS, documents=other_documents(), seed=PUBLIC_SEED)
    open_table = extract_bin_corpus(Corpus.of(public.recordings()), rules=rules).table
    design = learn([panel_of(open_table, ranges, count).values], ranges, "simulated readers of other documents")
    reader = ReadingStudy(1, SECONDS, documents=DOCUMENTS[:1], seed=PRIVATE_SEED)
    table = extract_bin_corpus(Corpus.of(reader.recordings()), rules=rules).table
    panel = panel_of(table, ranges, count, design.mean)
    mechanism = ParticipantSeries(epsilon=EPSILON, design=design, raw=RawGaze(HIDDEN_S, rules))
    plan = observed_facts(table).plan(mechanism, settings=Settings.of(table.info))
    released = plan.release(table, anyway=True)  # shown even where noise hides nearly all: that is the lesson
    before, after = (
        means_over_windows(values[None], rules.width)[0, :, 0] / rules.width
        for values in (ranges.from_unit(panel.values)[0], released.value.values)
    )
    off = range_error(before, after)
    drawn = before_and_after(before, {"after": after}, rules.width, "saccades a second (means over 30 s)")
    lead = (
        f"A participant reads a comic. The number of saccades in every {rules.width:g} s is released, with noise that "
        f"protects any {HIDDEN_S:g} s of raw gaze at ε = {EPSILON:g}; means over 30 s follow from that. With so strong "
        "a guarantee the level is visible, but not its course over time. Each run draws new noise. The same noise "
        "protects longer stretches less, and the whole recording least:"
    )
    prices = [[f"{seconds:g} s", f"{float(price):.3g}"] for seconds, price in mechanism.receipt()]
    caption = f"One feature of one reader before and after release; off by {off:.2f} a second (root mean square)"
    return report.Section(
        "A feature with a guarantee (reading)",
        (
            report.words(lead),
            report.table(["any stretch of raw gaze of", "ε"], prices),
            report.picture(drawn, caption),
            report.words(released.statement().paragraph()),
        ),
    )
