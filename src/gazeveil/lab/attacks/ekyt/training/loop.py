# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Training: Adam under one cycle of the learning rate, 100 epochs, the last state is the model.

Runs on the CPU or a GPU, in float32 or with bfloat16 inside the network, and where there is nothing but numpy and
torch. It takes `Windows`: raw velocities (n, 2, samples) and integer labels; scaling is learnt here, from these windows
alone. A run that was stopped goes on from its checkpoint with the same losses as if it had not been.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Protocol
from zlib import crc32

import numpy as np

from gazeveil.errors import InputError, OptionError
from gazeveil.lab.attacks.ekyt._torch import torch
from gazeveil.lab.attacks.ekyt.network.checkpoint import Fold, load_arrays, save_arrays
from gazeveil.lab.attacks.ekyt.network.layers import Classifier, DenseBlock, Embedder, MakeBlock
from gazeveil.lab.attacks.ekyt.network.preprocess import pooled_scale
from gazeveil.lab.attacks.ekyt.training.batches import CLASSES, EACH, epoch_batches
from gazeveil.lab.attacks.ekyt.training.dataset import Windows
from gazeveil.lab.attacks.ekyt.training.losses import multi_similarity, total

HIGHEST_RATE: Final = 0.01
STARTS_LOWER: Final = 100.0
ENDS_LOWER: Final = 1000.0
RISING: Final = 0.3
"""The share of epochs in which the learning rate rises."""

Told = Callable[[int, int], None]
"""Called with epochs done and epochs in all."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to train.

    Attributes:
        epochs: How often as many windows are drawn as there are.
        seed: Weights and batches follow from it.
        device: ``cpu`` or ``cuda``.
        precision: ``fp32``, or ``bf16`` for bfloat16 inside the network.
        classes: Participants a batch.
        each: Windows a participant in a batch.
        highest_rate: Peak of the learning rate.
    """

    epochs: int = 100
    seed: int = 1
    device: str = "cpu"
    precision: str = "fp32"
    classes: int = CLASSES
    each: int = EACH
    highest_rate: float = HIGHEST_RATE

    def __post_init__(self) -> None:
        if self.epochs < 1 or self.classes < 2 or self.each < 2:
            raise OptionError("training takes at least 1 epoch, and batches of 2 participants with 2 windows each")
        if self.seed < 0:
            raise OptionError(f"a seed is a whole number from 0 up, not {self.seed}")
        if self.precision not in ("fp32", "bf16"):
            raise OptionError(f"precision is fp32 or bf16, not {self.precision!r}")
        if not (math.isfinite(self.highest_rate) and self.highest_rate > 0):
            raise OptionError(f"the learning rate must be above 0, not {self.highest_rate!r}")

    def learning_rate(self, epoch: int) -> float:
        """Return the learning rate of an epoch, counted from 0: up along a cosine, then down along another."""
        top = RISING * self.epochs - 1.0
        lowest, last = self.highest_rate / STARTS_LOWER, self.highest_rate / STARTS_LOWER / ENDS_LOWER
        if epoch <= top:
            return _cosine(lowest, self.highest_rate, epoch / top if top > 0 else 1.0)
        return _cosine(self.highest_rate, last, (epoch - top) / (self.epochs - 1 - top))


class Step(Protocol):
    """One step of training; a faster one can be plugged in.

    Attributes:
        optimiser: An Adam over the parameters of embedder and classifier. Its learning rate is set before each epoch
            (in place where it is a tensor), its state may be loaded before the first call: capture nothing earlier.
    """

    optimiser: Any

    def __call__(self, windows: Any, labels: Any) -> Any:
        """Take one step on scaled windows (n, 2, samples) and labels (n,); return the loss without waiting for it."""
        ...


MakeStep = Callable[[Any, Any, str], Step]
"""Makes a step from an embedder, a classifier and a precision."""


class PlainStep:
    """The step as it is written: forward, loss in float32, backward, Adam."""

    def __init__(self, embedder: Any, classifier: Any, precision: str) -> None:
        self.embedder, self.classifier = embedder, classifier
        self.precision = precision
        self.optimiser = torch.optim.Adam([*embedder.parameters(), *classifier.parameters()], lr=HIGHEST_RATE)

    def __call__(self, windows: Any, labels: Any) -> Any:
        """Take one step; return the loss."""
        self.optimiser.zero_grad(set_to_none=True)
        with torch.autocast(windows.device.type, dtype=torch.bfloat16, enabled=self.precision == "bf16"):
            embeddings = self.embedder(windows)
        embeddings = embeddings.float()
        loss = total(embeddings, self.classifier(embeddings), labels)
        loss.backward()
        self.optimiser.step()
        return loss.detach()


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """What training gave: the embedder, and for every epoch its number, learning rate, loss, and validation loss."""

    fold: Fold
    curve: tuple[dict[str, float], ...]


def train(
    windows: Windows,
    recipe: Recipe,
    *,
    validation: Windows | None = None,
    validate_every: int = 10,
    block: MakeBlock = DenseBlock,
    make_step: MakeStep = PlainStep,
    checkpoint: Path | None = None,
    resume: bool = False,
    tell: Told | None = None,
) -> Trained:
    """Train one embedder.

    Args:
        windows: The training participants.
        recipe: How.
        validation: Other participants; their multi-similarity is recorded now and then, and decides nothing.
        validate_every: After how many epochs it is recorded, beside the last.
        block: Makes the dense block; see `layers`.
        make_step: Makes the step; see `Step`.
        checkpoint: Where to keep the state after every epoch; removed by nobody.
        resume: Go on from the checkpoint if there is one.
        tell: Called after every epoch.
    """
    device = _device(recipe.device)
    scale = pooled_scale(windows.velocity[begin : begin + 4096] for begin in range(0, len(windows), 4096))
    people, targets = np.unique(windows.labels, return_inverse=True)
    embedder = Embedder(block, recipe.seed).to(device)
    classifier = Classifier(len(people), recipe.seed + 1).to(device)
    step = make_step(embedder, classifier, recipe.precision)
    state = _State(embedder, classifier, step.optimiser, _fingerprint(windows, recipe))
    if resume and checkpoint is not None and checkpoint.exists():
        state.load(checkpoint)
    data = _scaled(windows, scale.mean, scale.sd, device)
    labels = torch.from_numpy(targets.astype(np.int64)).to(device)
    held_out = None if validation is None else _held_out(validation, scale.mean, scale.sd, recipe, device)
    for epoch in range(len(state.curve), recipe.epochs):
        embedder.train()
        classifier.train()
        rate = recipe.learning_rate(epoch)
        _set_rate(step.optimiser, rate)
        batches = torch.from_numpy(epoch_batches(targets, recipe.seed, epoch, recipe.classes, recipe.each)).to(device)
        losses = [step(data[batch], labels[batch]).clone() for batch in batches]
        loss = float(torch.stack(losses).mean())
        if not math.isfinite(loss):
            raise InputError(
                f"training went astray in epoch {epoch + 1}: the loss is {loss}",
                hint="train with fp32, or on more participants",
            )
        point = {"epoch": epoch + 1, "rate": rate, "loss": loss}
        last = epoch + 1 == recipe.epochs
        if held_out is not None and (last or (epoch + 1) % validate_every == 0):
            point["validation"] = _validate(embedder, held_out)
        state.curve.append(point)
        if checkpoint is not None:
            state.save(checkpoint)
        if tell is not None:
            tell(epoch + 1, recipe.epochs)
    parameters = {name: values.detach().cpu().numpy().copy() for name, values in embedder.state_dict().items()}
    return Trained(Fold(parameters, scale), tuple(state.curve))


class _State:
    """All that goes on changing while training: parameters, Adam's moments by parameter, and the curve."""

    def __init__(self, embedder: Any, classifier: Any, optimiser: Any, fingerprint: dict[str, Any]) -> None:
        self.modules = {"embedder": embedder, "classifier": classifier}
        self.optimiser = optimiser
        self.fingerprint = fingerprint
        self.curve: list[dict[str, float]] = []

    def save(self, path: Path) -> None:
        arrays = {}
        for part, module in self.modules.items():
            for name, values in module.state_dict().items():
                arrays[f"{part}/{name}"] = values.detach().cpu().numpy()
            for name, parameter in module.named_parameters():
                for moment, values in self.optimiser.state[parameter].items():
                    arrays[f"adam/{moment}/{part}/{name}"] = values.detach().cpu().numpy()
        save_arrays(path, arrays, {"kind": "checkpoint", "training": self.fingerprint, "curve": self.curve})

    def load(self, path: Path) -> None:
        arrays, about = load_arrays(path, "checkpoint")
        if about["training"] != self.fingerprint:
            raise OptionError(
                f"{path} was kept by another training", hint="resume with the same data and options, or start again"
            )
        tensors = {name: torch.from_numpy(values) for name, values in arrays.items()}
        for part, module in self.modules.items():
            state = {name.removeprefix(f"{part}/"): v for name, v in tensors.items() if name.startswith(f"{part}/")}
            module.load_state_dict(state)
            for name, parameter in module.named_parameters():
                self.optimiser.state[parameter] = {
                    moment: tensors[f"adam/{moment}/{part}/{name}"].to(
                        parameter.device if moment != "step" else self._step_device(parameter)
                    )
                    for moment in ("step", "exp_avg", "exp_avg_sq")
                }
        self.curve = about["curve"]

    def _step_device(self, parameter: Any) -> Any:
        """Adam counts its steps on the CPU, unless it is to be captured or fused."""
        group = self.optimiser.param_groups[0]
        return parameter.device if group.get("capturable") or group.get("fused") else torch.device("cpu")


def _cosine(start: float, end: float, share: float) -> float:
    return end + (start - end) / 2.0 * (1.0 + math.cos(math.pi * share))


def _device(name: str) -> Any:
    try:
        device = torch.device(name)
    except RuntimeError:
        raise OptionError(f"there is no kind of device called {name!r}", hint="cpu or cuda") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise OptionError("no GPU can be used here", hint="train with --device cpu, or install torch for your GPU")
    return device


def _scaled(windows: Windows, mean: float, sd: float, device: Any) -> Any:
    velocity = torch.from_numpy(np.ascontiguousarray(windows.velocity)).to(device, torch.float32, copy=True)
    return velocity.sub_(mean).div_(sd).nan_to_num_(nan=0.0)


def _held_out(windows: Windows, mean: float, sd: float, recipe: Recipe, device: Any) -> list[tuple[Any, Any]]:
    """Return a few fixed batches of other participants."""
    rows = epoch_batches(windows.labels, recipe.seed, 0, recipe.classes, recipe.each)[:4]
    chosen = Windows(windows.velocity[rows.ravel()], windows.labels[rows.ravel()], windows.session[rows.ravel()], 1.0)
    data = _scaled(chosen, mean, sd, device).reshape(*rows.shape, 2, -1)
    labels = torch.from_numpy(windows.labels[rows]).to(device)
    return list(zip(data, labels, strict=True))


def _validate(embedder: Any, batches: list[tuple[Any, Any]]) -> float:
    embedder.eval()
    with torch.no_grad():
        return float(torch.stack([multi_similarity(embedder(windows), labels) for windows, labels in batches]).mean())


def _set_rate(optimiser: Any, rate: float) -> None:
    for group in optimiser.param_groups:
        if isinstance(group["lr"], torch.Tensor):
            group["lr"].fill_(rate)
        else:
            group["lr"] = rate


def _fingerprint(windows: Windows, recipe: Recipe) -> dict[str, Any]:
    """Return what a checkpoint must share with the run that resumes it; the device may change."""
    velocity = np.ascontiguousarray(windows.velocity)
    how = {key: value for key, value in asdict(recipe).items() if key != "device"}
    digest = crc32(windows.labels.tobytes(), crc32(velocity.view(np.uint8).data))
    return {**how, "windows": list(velocity.shape), "data": digest}
