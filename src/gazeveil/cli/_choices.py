# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The names that options take, for help and for completion: without importing what they name.

Registries know their names only once everything in them is imported, which takes longer than anyone waits for help.
So the names stand here too, and a test compares them with the registries.
"""

from __future__ import annotations

from typing import Final

NAMES: Final = {
    "attack": "adaptive exemplar-filter exemplars fixation-average inverse-smoothing kalman late-releases mirrored "
    "retrained saccade-model spatial-dither timed-white-box wavelet white-box wiener",
    "audit method": "auto exact sampling",
    "bridge": "beam eyelink smi tobii tobii-stream varjo vive",
    "detector": "idt ivt",
    "edge": "clamp reflect",
    "eye": "both left right",
    "eyes": "drop same",
    "finder": "image onnx saliency",
    "forecast": "heatmap heatmaps movie features",
    "format": "bids csv eyelink-asc fixations-csv gazebase gazepoint-csv jspsych-webgazer parquet pupil-cloud "
    "pupil-core pupil-native pygaze smi-text sr-report tobii-glasses tobii-sdk tobii-tsv varjo-csv vive-csv",
    "level": "lphu mpmu hplu off",
    "mechanism": "absorption chain clock distribution edge equalise eye-and-head gaussian held-ticks kaleido "
    "kalman random-smoothing rotate smoothing sparse-vector spatial temporal",
    "preset": "lphu mpmu hplu gaussian-low gaussian-high temporal-low temporal-high spatial-low spatial-high "
    "smoothing-low smoothing-high",
    "product": "heatmap heatmaps movie aoi group-series veil",
    "protocol": "eyetribe gazepointer jsonlines lsl neon opengaze pupil websocket",
    "radius unit": "px deg norm",
    "recogniser": "clusterfix committee ekyt ekyt-tuned fisher forest geometry lda rbf",
    "series mechanism": "group low-rank c-fpa dc-fpa efpa exponential fpa lpa spa",
    "shapes": "cosines haar",
    "split": "tune test",
    "statistic": "dwell first-fixation fixations reached transitions visit-order",
    "strategies": "bumps histogram",
    "strategy": "auto bumps modes",
    "target": "typical extreme",
    "time unit": "s ms us ns",
    "tracker": "eyelink headset remote webcam",
    "veiled format": "parquet csv bids",
    "written format": "bids csv eyelink-asc parquet",
}

_OPTIONS: Final = {
    "attack": "attack run --attack",
    "audit method": "audit --method",
    "bridge": "track --from",
    "detector": "aoi --detector, events --detector",
    "edge": "veil --edge",
    "eye": "convert --eye, events --eye, info --eye, veil --eye",
    "eyes": "veil --eyes",
    "finder": "scene --finder",
    "forecast": "experiment forecast --product",
    "format": "convert --format, events --format, info --format, veil --format",
    "level": "apps turn --preset",
    "mechanism": "veil --mechanism, plan --mechanism",
    "preset": "veil --preset, plan --preset, attack run --preset",
    "product": "plan --product",
    "protocol": "track --protocol",
    "radius unit": "ledger init --radius-unit, ledger grant --radius-unit, ledger charge --radius-unit",
    "recogniser": "attack run --recogniser, experiment attributes --recogniser",
    "series mechanism": "features release --mechanism",
    "shapes": "features design --shapes",
    "split": "experiment heatmap --split, experiment forecast --split",
    "statistic": "aoi --statistic, plan --statistic",
    "strategies": "heatmaps --strategy, movie --strategy",
    "strategy": "heatmap --strategy",
    "target": "experiment membership --target",
    "time unit": "convert --time-unit, events --time-unit, info --time-unit, veil --time-unit",
    "tracker": "simulate --tracker",
    "veiled format": "veil --to",
    "written format": "convert --to, simulate --to",
}

OFFERED: Final = {
    option: tuple(NAMES[kind].split()) for kind, options in _OPTIONS.items() for option in options.split(", ")
}
"""The names that an option of a command takes."""
