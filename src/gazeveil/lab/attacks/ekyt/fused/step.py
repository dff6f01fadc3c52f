# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A step of training as one CUDA graph: forward, loss, backward and Adam are recorded once and replayed.

Takes the place of `PlainStep`: ``train(windows, recipe, block=FusedBlock, make_step=GraphStep)``. The steps that warm
the recording up leave no trace: everything they changed is put back.
"""

from __future__ import annotations

from typing import Any, Final

from gazeveil.lab.attacks.ekyt._torch import torch
from gazeveil.lab.attacks.ekyt.training.loop import HIGHEST_RATE
from gazeveil.lab.attacks.ekyt.training.losses import total

_WARM_UP: Final = 3


class GraphStep:
    """A step that is replayed; the embedder and the classifier must be on a GPU."""

    def __init__(self, embedder: Any, classifier: Any, precision: str) -> None:
        self.modules = torch.nn.ModuleList([embedder, classifier])
        self.precision = precision
        rate = torch.tensor(HIGHEST_RATE, device=next(embedder.parameters()).device)
        self.optimiser = torch.optim.Adam(self.modules.parameters(), lr=rate, fused=True, capturable=True)
        self._graph: Any = None
        self._windows: Any = None
        self._labels: Any = None
        self._loss: Any = None

    def __call__(self, windows: Any, labels: Any) -> Any:
        """Take one step; return the loss, in a place that the next step overwrites."""
        if self._graph is None or self._windows.shape != windows.shape:
            self._record(windows, labels)
        self._windows.copy_(windows)
        self._labels.copy_(labels)
        self._graph.replay()
        return self._loss

    def _record(self, windows: Any, labels: Any) -> None:
        self._windows, self._labels = windows.float().clone(), labels.clone()
        before = {place: values.detach().clone() for place, values in self._state().items()}
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(_WARM_UP):
                self._step()
        torch.cuda.current_stream().wait_stream(aside)
        with torch.no_grad():
            for place, values in self._state().items():
                values.copy_(before[place]) if place in before else values.zero_()
        self._graph = torch.cuda.CUDAGraph()
        self.optimiser.zero_grad(set_to_none=True)
        with torch.cuda.graph(self._graph):
            self._loss = self._step()

    def _step(self) -> Any:
        embedder, classifier = self.modules
        self.optimiser.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=self.precision == "bf16"):
            embeddings = embedder(self._windows)
        embeddings = embeddings.float()
        loss = total(embeddings, classifier(embeddings), self._labels)
        loss.backward()
        self.optimiser.step()
        return loss.detach()

    def _state(self) -> dict[Any, Any]:
        """Return all that a step changes, by where it is: parameters, running statistics, and Adam's moments."""
        held = dict(self.modules.state_dict(keep_vars=True))
        for number, parameter in enumerate(self.modules.parameters()):
            for moment, values in self.optimiser.state.get(parameter, {}).items():
                held[number, moment] = values
        return held
