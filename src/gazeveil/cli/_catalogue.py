# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What help shows without importing what it names. Written by ``python -m tools.generate``; do not edit."""

from __future__ import annotations

from typing import Final

WORDS: Final = {
    "study": "Declare a study: the public facts that releases may use.",
    "info": "Show contents, data quality and oddities of gaze files; for the holder of the data only.",
    "convert": "Convert gaze files to a corpus folder, CSV, Parquet, BIDS or the files of a vendor.",
    "simulate": "Simulate a study: simulated participants look at scenes.",
    "events": "Find fixations, saccades and blinks.",
    "scene": "Find the scenes of a video: their lengths give the window, their regions the radius.",
    "plan": "Forecast a release before any data are read; spends nothing.",
    "heatmap": "Release a differentially private heatmap of one stimulus.",
    "heatmaps": "Release private heatmaps of many stimuli under one budget.",
    "movie": "Release a private heatmap that changes over time.",
    "aoi": "Release differentially private statistics of areas of interest.",
    "features": "Extract, describe and release eye-movement features over time.",
    "veil": "Release recordings with protected gaze, sample by sample.",
    "ledger": "Keep privacy budgets, and see what was spent.",
    "verify": "Check that a release is whole, unchanged and charged.",
    "serve": "Run the gateway of a policy until it is stopped.",
    "policy": "Check a gateway's policy, or show it in plain words.",
    "apps": "Show or change what the apps of a running gateway get.",
    "budget": "Show what is left of each participant's budget of 24 hours, and what comes back when.",
    "page": "Open the control page of a running gateway in the browser.",
    "track": "Send a real tracker's gaze to a gateway, or act as a tracker.",
    "advise": (
        "Recommend a mechanism and a level, with expected use and expected attack; spends nothing, reads no data."
    ),
    "demo": "Simulate a small study and write a report with pictures.",
    "doctor": "Check the installation: extras, ports, trackers here, a policy, and ways round the gateway.",
    "calibrate": "Compute how much noise a privacy guarantee needs.",
    "completion": "Print the script that completes gazeveil's commands in a shell.",
    "attack": "Try to identify participants from protected gaze.",
    "audit": "Test a mechanism's guarantee: look for a violation.",
    "experiment": "Measure how useful releases are, beside other methods.",
    "reproduce": "Repeat the measurements of a paper, beside its numbers.",
    "userstudy": "Run user studies of mechanisms: a game, forms, simulated players, tests, power.",
}
"""Each command's first sentence."""

_NAMES: Final = {
    "attack": (
        "adaptive exemplar-filter exemplars fixation-average inverse-smoothing kalman late-releases mirrored retrained "
        "saccade-model spatial-dither timed-white-box wavelet white-box wiener"
    ),
    "audit method": "auto exact sampling",
    "bridge": "beam eyelink smi tobii tobii-stream varjo vive",
    "detector": "idt ivt",
    "edge": "clamp reflect",
    "eye": "both left right",
    "eyes": "drop same",
    "finder": "image onnx saliency",
    "forecast": "heatmap heatmaps movie features",
    "format": (
        "bids csv eyelink-asc fixations-csv gazebase gazepoint-csv jspsych-webgazer parquet pupil-cloud pupil-core "
        "pupil-native pygaze smi-text sr-report tobii-glasses tobii-sdk tobii-tsv varjo-csv vive-csv"
    ),
    "level": "lphu mpmu hplu off",
    "mechanism": (
        "absorption chain clock distribution edge equalise eye-and-head gaussian held-ticks kaleido "
        "kaleido-as-published kalman random-smoothing rotate smoothing sparse-vector spatial temporal"
    ),
    "preset": (
        "lphu mpmu hplu gaussian-low gaussian-high temporal-low temporal-high spatial-low spatial-high "
        "spatial-low-as-published spatial-high-as-published smoothing-low smoothing-high smoothing-low-as-published "
        "smoothing-high-as-published"
    ),
    "product": "heatmap heatmaps movie aoi group-series veil",
    "protocol": "eyetribe gazepointer jsonlines lsl neon opengaze pupil websocket",
    "radius unit": "px deg norm",
    "recogniser": "clusterfix committee ekyt ekyt-tuned fisher forest geometry lda rbf",
    "series mechanism": (
        "group low-rank c-fpa c-fpa-as-published dc-fpa dc-fpa-as-published efpa exponential exponential-as-published "
        "fpa fpa-as-published lpa lpa-as-published spa"
    ),
    "shapes": "cosines haar",
    "split": "tune test",
    "statistic": "dwell first-fixation fixations reached transitions visit-order",
    "strategies": "bumps histogram",
    "strategy": "auto bumps hierarchical histogram modes",
    "target": "typical extreme",
    "time unit": "s ms us ns",
    "tracker": "eyelink headset remote webcam",
    "veiled format": "parquet csv bids",
    "written format": (
        "bids csv eyelink-asc gazebase gazepoint-csv jspsych-webgazer parquet pupil-cloud pupil-core pygaze smi-text "
        "sr-report tobii-glasses tobii-sdk tobii-tsv"
    ),
}

NAMES: Final = {kind: tuple(names.split()) for kind, names in _NAMES.items()}
"""The names of every kind."""
