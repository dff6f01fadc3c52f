# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Every command in its group, with the line that lists it: what ``gazeveil --help`` shows without importing a command.

A command is a file ``gazeveil/cli/NAME.py``, or ``gazeveil/lab/commands/NAME.py``, with a ``typer.Typer`` called
``app``. It is typed with its group (``gazeveil judge audit``); everyday commands are typed without
(``gazeveil heatmap``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Entry:
    """A command in a list: its name, the first sentence of its own help, whether it is for every day, and the lab's."""

    name: str
    words: str
    everyday: bool = False
    lab: bool = False

    @property
    def module(self) -> str:
        """The file of the command."""
        return f"gazeveil.lab.commands.{self.name}" if self.lab else f"gazeveil.cli.{self.name}"


@dataclass(frozen=True, slots=True)
class Group:
    """Commands for one kind of work."""

    name: str
    title: str
    words: str
    entries: tuple[Entry, ...]

    @property
    def rest(self) -> str:
        """The line that lists the group, with the commands that are typed with it alone."""
        return f"More: {', '.join(entry.name for entry in self.entries if not entry.everyday)}."


GROUPS: Final = (
    Group(
        "data",
        "Data",
        "Declare a study; read, check, convert and simulate recordings.",
        (
            Entry("study", "Declare a study: the public facts that releases may use.", everyday=True),
            Entry(
                "info",
                "Show contents, data quality and oddities of gaze files; for the holder of the data only.",
                everyday=True,
            ),
            Entry(
                "convert",
                "Convert gaze files to a corpus folder, CSV, Parquet, BIDS or the files of a vendor.",
                everyday=True,
            ),
            Entry("simulate", "Simulate a study: simulated participants look at scenes.", everyday=True),
            Entry("events", "Find fixations, saccades and blinks."),
            Entry("scene", "Find the scenes of a video: their lengths give the window, their regions the radius."),
        ),
    ),
    Group(
        "release",
        "Release",
        "Plan, release and verify differentially private results, and keep their privacy budget.",
        (
            Entry("plan", "Forecast a release before any data are read; spends nothing.", everyday=True),
            Entry("heatmap", "Release a differentially private heatmap of one stimulus.", everyday=True),
            Entry("heatmaps", "Release private heatmaps of many stimuli under one budget.", everyday=True),
            Entry("aoi", "Release differentially private statistics of areas of interest.", everyday=True),
            Entry("features", "Extract, describe and release eye-movement features over time.", everyday=True),
            Entry("veil", "Release recordings with protected gaze, sample by sample.", everyday=True),
            Entry("ledger", "Keep privacy budgets, and see what was spent.", everyday=True),
            Entry("verify", "Check that a release is whole, unchanged and charged.", everyday=True),
            Entry("movie", "Release a private heatmap that changes over time."),
        ),
    ),
    Group(
        "live",
        "Live",
        "Run a gateway between trackers and apps, and see what its apps get.",
        (
            Entry("serve", "Run the gateway of a policy until it is stopped.", everyday=True),
            Entry("policy", "Check a gateway's policy, or show it in plain words."),
            Entry("apps", "Show or change what the apps of a running gateway get."),
            Entry("budget", "Show what is left of each participant's budget of 24 hours, and what comes back when."),
            Entry("page", "Open the control page of a running gateway in the browser."),
            Entry("track", "Send a real tracker's gaze to a gateway, or act as a tracker."),
        ),
    ),
    Group(
        "judge",
        "Judge",
        "Choose a mechanism, attack it, test its guarantee, and measure what it costs.",
        (
            Entry(
                "advise",
                "Recommend a mechanism and a level, with expected use and expected attack; spends nothing, "
                "reads no data.",
                everyday=True,
                lab=True,
            ),
            Entry("attack", "Try to identify participants from protected gaze.", everyday=True, lab=True),
            Entry("audit", "Test a mechanism's guarantee: look for a violation.", lab=True),
            Entry("experiment", "Measure how useful releases are, beside other methods.", lab=True),
            Entry("reproduce", "Repeat the measurements of a paper, beside its numbers.", lab=True),
            Entry(
                "userstudy",
                "Run user studies of mechanisms: a game, forms, simulated players, tests, power.",
                lab=True,
            ),
        ),
    ),
    Group(
        "tools",
        "Tools",
        "Try gazeveil out, check the installation, compute noise, complete commands in the shell.",
        (
            Entry("demo", "Simulate a small study and write a report with pictures.", everyday=True, lab=True),
            Entry(
                "doctor",
                "Check the installation: extras, ports, trackers here, a policy, and ways round the gateway.",
                everyday=True,
            ),
            Entry("calibrate", "Compute how much noise a privacy guarantee needs."),
            Entry("completion", "Print the script that completes gazeveil's commands in a shell."),
        ),
    ),
)
