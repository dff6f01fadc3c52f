# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How well a trained EKYT finds people it has never seen: Wilson's protocol, over all ordered pairs of sessions.

Windows of 5 s, each 1 s after the one before. Every window of the asking session names the person of the most alike
window (cosine) of the answering session; a session is given to whom most of its windows name, ties to the greater mean
likeness. The equal error rate compares the mean embeddings of two sessions. Intervals are 95 %, over people, by
bootstrap; the gallery stays as it is. Needs numpy and torch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from gazeveil.lab.attacks.ekyt.files import Fold
from gazeveil.lab.attacks.ekyt.network import Embedder

RATE, SAMPLES = 125, 625
PART = 30 * RATE


def embeddings(folds: list[Fold], velocity: Any) -> Any:
    """Return unit embeddings of all windows: people x sessions x windows x numbers; windows in order of time."""
    people, sessions, _, length = velocity.shape
    raw = torch.from_numpy(velocity.reshape(people * sessions, 2, length)).cuda().float()
    parts = [raw[..., begin : begin + PART].unfold(-1, SAMPLES, RATE) for begin in range(0, length, PART)]
    windows = torch.cat(parts, dim=2).transpose(1, 2)  # recordings x windows x 2 x samples
    found = []
    for fold in folds:
        embedder = Embedder().cuda().eval()
        embedder.load_state_dict({name: torch.from_numpy(np.array(values)) for name, values in fold.state.items()})
        some = []
        with torch.inference_mode(), torch.autocast("cuda", dtype=torch.bfloat16, enabled=False):
            for recording in windows.split(16):
                scaled = ((recording - fold.scale.mean) / fold.scale.sd).nan_to_num(nan=0.0)
                some.append(embedder(scaled.reshape(-1, 2, SAMPLES)).view(len(recording), -1, 128))
        found.append(torch.cat(some))
    unit = torch.nn.functional.normalize(torch.cat(found, dim=-1), dim=-1)
    return unit.view(people, sessions, -1, unit.shape[-1])


def judged(unit: Any, seconds: tuple[int, ...] = (5, 10, 20, 30, 60)) -> dict[str, Any]:
    """Return rank-1, its interval, and the equal error rate by length of the recordings (both sides alike)."""
    people, sessions, windows, _ = unit.shape
    result: dict[str, Any] = {"people": people, "sessions": sessions, "chance": 1 / people}
    generator = np.random.Generator(np.random.PCG64(1))
    for length in seconds:
        # a part of 30 s has 26 windows; a minute has both parts
        count = min(windows, max(1, length - 4) if length <= 30 else 26 + max(0, length - 34))
        used = unit[:, :, :count]
        right = torch.zeros(people, device=unit.device)
        single = torch.zeros(people, device=unit.device)
        pairs = 0
        centre = torch.nn.functional.normalize(used.mean(dim=2), dim=-1)
        genuine, impostor = [], []
        same = torch.eye(people, dtype=torch.bool, device=unit.device)
        for asks in range(sessions):
            for answers in range(sessions):
                if asks == answers:
                    continue
                pairs += 1
                alike = used[:, asks].reshape(-1, used.shape[-1]) @ used[:, answers].reshape(-1, used.shape[-1]).T
                best = alike.view(people, count, people, count).amax(dim=3)  # asking person, window, named person
                named = torch.nn.functional.one_hot(best.argmax(dim=2), people)
                votes = named.sum(dim=1) + 1e-3 * best.mean(dim=1)
                right += votes.argmax(dim=1) == torch.arange(people, device=unit.device)
                single += named.float().mean(dim=1).diagonal()
                scores = centre[:, asks] @ centre[:, answers].T
                genuine.append(scores[same])
                impostor.append(scores[~same])
        share = (right / pairs).cpu().numpy()
        again = share[generator.integers(0, people, (2000, people))].mean(axis=1)
        low, high = np.quantile(again, (0.025, 0.975))
        result[f"{length} s"] = {
            "rank1": float(share.mean()),
            "low": float(low),
            "high": float(high),
            "window": float(single.mean() / pairs),
            "eer": equal_error(torch.cat(genuine).cpu().numpy(), torch.cat(impostor).cpu().numpy()),
        }
    return result


def equal_error(genuine: Any, impostor: Any) -> float:
    """Return where as many impostors are let in as genuine people are turned away."""
    scores = np.concatenate((genuine, impostor))
    is_genuine = np.concatenate((np.ones(len(genuine)), np.zeros(len(impostor))))[np.argsort(-scores, kind="stable")]
    turned_away = 1 - np.cumsum(is_genuine) / len(genuine)
    let_in = np.cumsum(1 - is_genuine) / len(impostor)
    at = int(np.argmax(let_in >= turned_away))
    return float((let_in[at] + turned_away[at]) / 2)
