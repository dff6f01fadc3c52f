# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What `ekyt_device` measured on a GPU, as tables and a figure in the documentation.

    python -m benchmarks.ekyt_tables

The measured files lie in ``results/ekyt/``, so that no number of a table was typed by hand.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import RESULTS, Row

STORED = RESULTS / "ekyt"
DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "reference" / "ekyt.md"
FIGURE = DOCS / "images" / "ekyt-loss-curves.png"
BATCH, AIM = 256, 4.0
PAIRS = (
    ("plain, fp32, another time", "plain, fp32"),
    ("fused, fp32", "plain, fp32"),
    ("fused, fp32, seed 2", "plain, fp32, seed 2"),
    ("fused, fp32, seed 3", "plain, fp32, seed 3"),
    ("fused, bf16", "plain, bf16"),
    ("fused, bf16, seed 2", "plain, fp32, seed 2"),
    ("fused, bf16, seed 3", "plain, fp32, seed 3"),
)


def found(part: str) -> Any:
    """Return one part as it was measured."""
    return json.loads((STORED / f"{part}.json").read_text())["found"]


def rows() -> list[Row]:
    """Return the comparisons of the benchmark table."""
    race = found("race")
    result = []
    for precision in ("bf16", "fp32"):
        ours = race[f"{precision}, fused in a graph"]["seconds"]
        for peer, note in (("plain", ""), ("plain in a graph", "both recorded and replayed; told, not aimed at")):
            aim = AIM if peer == "plain" else 0.0
            theirs = race[f"{precision}, {peer}"]["seconds"]
            name = f"EKYT, one step of training, {precision}"
            result.append(Row(name, f"PyTorch, {peer}", ours, theirs, aim, BATCH, "windows", note))
    return result


def speed() -> str:
    """Return how long a step takes."""
    race = found("race")
    lines = ["| step | fp32 | windows/s | bf16 | windows/s |", "|---|---|---|---|---|"]
    for name in ("plain", "plain in a graph", "fused", "fused in a graph"):
        times = [race[f"{precision}, {name}"]["seconds"] for precision in ("fp32", "bf16")]
        cells = [f"{1e3 * taken:.2f} ms | {BATCH / taken / 1e3:.1f} k" for taken in times]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def curves() -> str:
    """Return how far apart curves are that have the same start and the same batches."""
    losses = {name: np.array(run["losses"]) for name, run in found("curves").items()}
    lines = [
        "| run | compared with | epochs 1-10 | all epochs | widest | mean of the last 20 |",
        "|---|---|---|---|---|---|",
    ]
    for one, other in PAIRS:
        apart = np.abs(losses[one] / losses[other] - 1)
        last = losses[one][-20:].mean() / losses[other][-20:].mean() - 1
        cells = f"{apart[:10].mean():.3%} | {apart.mean():.2%} | {apart.max():.1%} | {last:+.1%}"
        lines.append(f"| {one} | {other} | {cells} |")
    return "\n".join(lines)


def growth() -> str:
    """Return how well unseen people are found after training on more people, or on more minutes of each."""
    lines = [
        "| participants | minutes each | seed | takes | rank-1, 5 s | rank-1, 60 s | EER, 60 s |",
        "|---|---|---|---|---|---|---|",
    ]
    full = found("full")
    grown = [*found("growth"), {**full, "people": 500, "minutes": 8, "seed": 1}]
    for row in sorted(grown, key=lambda row: (row["minutes"] != 8, row["people"], row["minutes"], row["seed"])):
        start = f"{row['people']} | {row['minutes']} | {row['seed']} | {row['seconds']:.1f} s"
        lines.append(f"| {start} | {_scores(row['unseen'])} |")
    return "\n".join(lines)


def ensembles() -> str:
    """Return how well four embedders together find unseen people."""
    lines = ["| trained on | takes | rank-1, 5 s | rank-1, 60 s | EER, 60 s |", "|---|---|---|---|---|"]
    names = {"shipped": "500 participants, 100 epochs (this one ships)"}
    for name, run in found("folds").items():
        title = names.get(name, name.replace("people", "participants"))
        lines.append(f"| {title} | {run['seconds']:.0f} s | {_scores(run['unseen'])} |")
    return "\n".join(lines)


def veiled() -> str:
    """Return how well the model finds people behind veils, before and after it went on training behind them."""
    lines = [
        "| veil | trained on raw gaze: rank-1, 60 s | EER | trained on veiled gaze: rank-1, 60 s | EER |",
        "|---|---|---|---|---|",
    ]
    for name, run in found("veiled").items():
        cells = [f"{_share(run[when]['60 s'])} | {run[when]['60 s']['eer']:.3f}" for when in ("before", "after")]
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def card() -> str:
    """Return the scores of the shipped model by length of the recordings."""
    run = found("folds")["shipped"]
    unseen = run["unseen"]
    lines = ["| seconds | rank-1 | single windows | EER |", "|---|---|---|---|"]
    for length in ("5 s", "10 s", "20 s", "30 s", "60 s"):
        score = unseen[length]
        lines.append(f"| {length[:-2]} | {_share(score)} | {score['window']:.3f} | {score['eer']:.3f} |")
    return "\n".join(lines)


PAGES: dict[Path, dict[str, Callable[[], str]]] = {
    PAGE: {"speed": speed, "curves": curves, "growth": growth, "veiled": veiled}
    | {"card": card, "ensembles": ensembles},
}


def with_tables(page: str, tables: dict[str, Callable[[], str]]) -> str:
    """Return a page with every stretch between two marks replaced."""
    for name, table in tables.items():
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        before, _, rest = page.partition(begin)
        _, _, after = rest.partition(end)
        page = f"{before}{begin}\n\n{table()}\n\n{end}{after}"
    return page


def _share(score: dict[str, float]) -> str:
    return f"{score['rank1']:.3f} ({score['low']:.3f}-{score['high']:.3f})"


def _scores(unseen: dict[str, Any]) -> str:
    return f"{_share(unseen['5 s'])} | {_share(unseen['60 s'])} | {unseen['60 s']['eer']:.3f}"


def _draw() -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    runs = found("curves")
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), sharey=True)
    styles = {"plain, fp32": "k-", "plain, bf16": "k--", "fused, fp32": "C0-", "fused, bf16": "C1-"}
    for seed, axis in enumerate(axes, start=1):
        for name, style in styles.items():
            run = runs.get(name if seed == 1 else f"{name}, seed {seed}")
            if run is not None:
                axis.plot(range(1, 101), run["losses"], style, label=name, linewidth=1)
        axis.set(title=f"seed {seed}", xlabel="epoch")
        axis.legend(frameon=False)
    axes[0].set_ylabel("loss")
    figure.tight_layout()
    figure.savefig(FIGURE, dpi=110)


def main() -> None:
    """Write the rows of the benchmark table, the tables of the page, and the figure."""
    machine = json.loads((STORED / "race.json").read_text())["machine"]
    told = {"machine": machine, "rows": [row.to_dict() for row in rows()]}
    (RESULTS / "ekyt_gpu.json").write_text(json.dumps(told, indent=2) + "\n")
    for page, tables in PAGES.items():
        page.write_text(with_tables(page.read_text(), tables))
    _draw()


if __name__ == "__main__":
    main()
