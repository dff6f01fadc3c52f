# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Training: batches, losses, one cycle of the learning rate, the fused block, a step as one CUDA graph, four models.

What an epoch draws depends on the seed and on the epoch's number alone, so that a resumed run goes on as it would have.

Multi-similarity (Wang et al. 2019) looks at the cosine similarity of all pairs in a batch. A pair counts only if it is
hard: a positive one that is less alike than the anchor's most alike negative plus a margin, a negative one that is more
alike than the anchor's least alike positive minus a margin. All shapes are fixed, so a graph can hold it.

`FusedBlock` takes the place of `DenseBlock` wherever one is made: ``Embedder(block=FusedBlock)``. In training it keeps
every convolution's output once, takes the statistics of a channel once, and normalises, rectifies and convolves in one
pass; its way back is derived by hand (see `reference`). On a GPU with Triton the passes are kernels, elsewhere
they are plain PyTorch. Outputs are kept in bfloat16 under autocast and in float32 otherwise, when products are in TF32
if ``torch.backends.cudnn.allow_tf32`` says so, as the plain block's are. Evaluation is the plain block's.

Runs on the CPU or a GPU, in float32 or with bfloat16 inside the network, and where there is nothing but numpy and
torch. It takes `Windows`: raw velocities (n, 2, samples) and integer labels; scaling is learnt here, from these windows
alone. A run that was stopped goes on from its checkpoint with the same losses as if it had not been.

Takes the place of `PlainStep`: ``train(windows, recipe, block=FusedBlock, make_step=GraphStep)``. The steps that warm
the recording up leave no trace: everything they changed is put back.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, Final, Protocol
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from gazeveil.errors import InputError, OptionError
from gazeveil.lab.attacks.ekyt import fused_reference
from gazeveil.lab.attacks.ekyt.files import Fold, Model, Windows, load_arrays, save_arrays
from gazeveil.lab.attacks.ekyt.fused_reference import DEPTH, Packed, pack, unpack
from gazeveil.lab.attacks.ekyt.network import (
    CHANNELS_IN,
    Classifier,
    DenseBlock,
    Embedder,
    Ensemble,
    MakeBlock,
    nearest_is_right,
    torch,
)
from gazeveil.lab.attacks.ekyt.windows import pooled_scale

CLASSES: Final = 16
EACH: Final = 16


def epoch_batches(
    labels: NDArray[np.int64], seed: int, epoch: int, classes: int = CLASSES, each: int = EACH
) -> NDArray[np.int64]:
    """Return the window numbers of one epoch's batches, (batches, classes times each).

    A participant with fewer than ``each`` windows has some of them twice. There are as many batches as the windows
    would fill, and at least one. With fewer participants than ``classes`` a batch is smaller.
    """
    people, counts = np.unique(labels, return_counts=True)
    if len(people) < 2:
        raise InputError("telling participants apart takes at least two of them")
    classes = min(classes, len(people))
    generator = torch.Generator().manual_seed(_mixed(seed, epoch))
    batches = max(1, len(labels) // (classes * each))
    order = np.argsort(labels, kind="stable")
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    chosen = np.empty((batches, classes, each), dtype=np.int64)
    for batch in chosen:
        drawn = torch.randperm(len(people), generator=generator)[:classes].tolist()
        for row, person in zip(batch, drawn, strict=True):
            row[:] = order[starts[person] + _pick(int(counts[person]), each, generator)]
    return chosen.reshape(batches, classes * each)


def balanced_folds(labels: NDArray[np.int64], folds: int) -> list[list[int]]:
    """Return the participants of each fold: nobody in two, and folds of about the same number of windows."""
    people, counts = np.unique(labels, return_counts=True)
    if not 1 <= folds <= len(people):
        raise InputError(f"{len(people)} participants cannot be dealt into {folds} folds")
    dealt: list[list[int]] = [[] for _ in range(folds)]
    filled = [0] * folds
    for index in np.argsort(-counts, kind="stable"):
        fold = min(range(folds), key=lambda number: (filled[number], len(dealt[number]), number))
        dealt[fold].append(int(people[index]))
        filled[fold] += int(counts[index])
    return [sorted(fold) for fold in dealt]


def _pick(count: int, each: int, generator: Any) -> NDArray[np.int64]:
    if count >= each:
        return np.asarray(torch.randperm(count, generator=generator)[:each].numpy())
    return np.asarray(torch.randint(count, (each,), generator=generator).numpy())


def _mixed(seed: int, epoch: int) -> int:
    """Return a seed of its own for every epoch."""
    return int.from_bytes(sha256(f"{seed} {epoch}".encode()).digest()[:7])


# --- What training makes small: multi-similarity of embeddings, plus a tenth of the cross-entropy of names.


ALPHA: Final = 2.0
BETA: Final = 50.0
BASE: Final = 0.5
MARGIN: Final = 0.1
CROSS_ENTROPY_SHARE: Final = 0.1


def multi_similarity(embeddings: Any, labels: Any) -> Any:
    """Return the multi-similarity loss over the hard pairs of a batch, averaged over its windows.

    Args:
        embeddings: (n, d) floats, not normalised.
        labels: (n,) integers.
    """
    unit = torch.nn.functional.normalize(embeddings.float(), dim=1)
    with torch.autocast(unit.device.type, enabled=False):
        alike = unit @ unit.T
    same = labels[:, None] == labels[None, :]
    itself = torch.eye(len(labels), dtype=torch.bool, device=unit.device)
    positive, negative = hard_pairs(alike.detach(), same & ~itself, ~same)
    return (_pull(ALPHA * (BASE - alike), positive) / ALPHA + _pull(BETA * (alike - BASE), negative) / BETA).mean()


def hard_pairs(alike: Any, positive: Any, negative: Any) -> tuple[Any, Any]:
    """Return which positive and which negative pairs are hard; rows are anchors."""
    closest_negative = alike.masked_fill(~negative, -torch.inf).amax(dim=1, keepdim=True)
    farthest_positive = alike.masked_fill(~positive, torch.inf).amin(dim=1, keepdim=True)
    return positive & (alike - MARGIN < closest_negative), negative & (alike + MARGIN > farthest_positive)


def total(embeddings: Any, logits: Any, labels: Any) -> Any:
    """Return the loss of training: multi-similarity and a tenth of the cross-entropy."""
    names = torch.nn.functional.cross_entropy(logits.float(), labels)
    return multi_similarity(embeddings, labels) + CROSS_ENTROPY_SHARE * names


def _pull(exponents: Any, kept: Any) -> Any:
    """Return log(1 + sum of exponentials of the kept entries) of every row."""
    exponents = exponents.masked_fill(~kept, -torch.inf)
    one = torch.zeros_like(exponents[:, :1])
    return torch.logsumexp(torch.cat((one, exponents), dim=1), dim=1)


# --- The dense block without the growing concatenation: same parameters, same numbers, a fraction of the memory
# traffic.


def has_kernels(device: Any) -> bool:
    """Return whether kernels run on a device: an NVIDIA GPU, with Triton installed."""
    return torch.device(device).type == "cuda" and find_spec("triton") is not None


class FusedBlock(DenseBlock):
    """The dense block of EKYT, trained through fused passes."""

    def forward(self, windows: Any) -> Any:
        """Return the averages over time of the 258 rectified channels, one row per window."""
        if not self.training:
            return super().forward(windows)
        averages, mean, variance = _Fused.apply(
            windows,
            *(convolution.weight for convolution in self.convolutions),
            *(norm.weight for norm in self.norms),
            *(norm.bias for norm in self.norms),
        )
        self._remember(mean, variance, windows.shape[0] * windows.shape[2])
        return averages

    @torch.no_grad()
    def _remember(self, mean: Any, variance: Any, count: int) -> None:
        """Move the running statistics of all norms towards those of the batch, as batch norm does."""
        mean = torch.cat((mean[0, :CHANNELS_IN], mean[1:].reshape(-1)))
        variance = torch.cat((variance[0, :CHANNELS_IN], variance[1:].reshape(-1))) * (count / (count - 1))
        widths = [norm.num_features for norm in self.norms]
        for name, values in (("running_mean", mean), ("running_var", variance)):
            running = [getattr(norm, name) for norm in self.norms]
            torch._foreach_lerp_(running, [values[:width] for width in widths], self.norms[0].momentum)
        torch._foreach_add_([norm.num_batches_tracked for norm in self.norms], 1)


def _backend(parameter: Any) -> ModuleType:
    if parameter.dtype != torch.float32 or not has_kernels(parameter.device):
        return fused_reference
    from gazeveil.lab.attacks.ekyt import fused_gpu  # noqa: PLC0415  (needs Triton)

    return fused_gpu


class _Fused(torch.autograd.Function):  # type: ignore[misc]
    """Windows and parameters in, averages and batch statistics out; the way back is written by hand."""

    @staticmethod
    def forward(ctx: Any, windows: Any, *parameters: Any) -> tuple[Any, Any, Any]:
        kind = windows.device.type
        dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else parameters[0].dtype
        convolutions, scales, shifts = parameters[:DEPTH], parameters[DEPTH:-DEPTH], parameters[-DEPTH:]
        ctx.backend = _backend(parameters[0])
        if ctx.backend is fused_reference:
            dtype = parameters[0].dtype
        packed = pack(convolutions, scales, shifts, dtype)
        with torch.autocast(kind, enabled=False):
            averages, saved = ctx.backend.forward(windows.to(parameters[0].dtype).contiguous(), packed)
        ctx.save_for_backward(*packed, *saved)
        ctx.mark_non_differentiable(saved.mean, saved.variance)
        return averages, saved.mean, saved.variance

    @staticmethod
    def backward(ctx: Any, gradient: Any, *_: Any) -> tuple[Any, ...]:
        packed = Packed(*ctx.saved_tensors[: len(Packed._fields)])
        saved = fused_reference.Saved(*ctx.saved_tensors[len(Packed._fields) :])
        with torch.autocast(gradient.device.type, enabled=False):
            found = ctx.backend.backward(gradient.contiguous(), saved, packed)
        convolutions, scales, shifts = unpack(found)
        return (None, *convolutions, *scales, *shifts)


# --- Training: Adam under one cycle of the learning rate, 100 epochs, the last state is the model.


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


# --- A step of training as one CUDA graph: forward, loss, backward and Adam are recorded once and replayed.


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


# --- Four models from four folds of participants: each is trained without one fold and judged on it, all speak as one.


FOLDS: Final = 4
_JUDGED: Final = 4000
"""Windows of a fold that are embedded to judge it."""


def train_ensemble(
    windows: Windows,
    recipe: Recipe,
    folds: int = FOLDS,
    *,
    data: dict[str, Any] | None = None,
    block: MakeBlock = DenseBlock,
    make_step: MakeStep = PlainStep,
    checkpoints: Path | None = None,
    resume: bool = False,
    tell: Callable[[int, int], None] | None = None,
) -> Model:
    """Train a model of this many embedders; a single one is trained on everyone.

    Args:
        windows: Each participant's windows.
        recipe: How; fold ``i`` has the seed ``recipe.seed + i``.
        folds: How many embedders.
        data: What to note about the data.
        block: Makes the dense block.
        make_step: Makes the step of training.
        checkpoints: Path whose name, with a number added, keeps each fold's state.
        resume: Go on from what is kept there.
        tell: Called after every epoch with epochs done and epochs in all.
    """
    people = sorted({int(label) for label in windows.labels})
    held_out = balanced_folds(windows.labels, folds) if folds > 1 else [[]]
    if min(len(people) - len(fold) for fold in held_out) < 2:
        raise InputError(f"{len(people)} participants in {folds} folds leave fewer than two to train on")
    trained: list[Trained] = []
    scores: list[dict[str, Any]] = []
    for number, fold in enumerate(held_out):
        others = windows.of(fold) if len(fold) > 1 else None
        result = train(
            windows.of(set(people) - set(fold)),
            replace(recipe, seed=recipe.seed + number),
            validation=others,
            block=block,
            make_step=make_step,
            checkpoint=None if checkpoints is None else fold_path(checkpoints, number),
            resume=resume,
            tell=_shifted(tell, number, len(held_out)),
        )
        trained.append(result)
        if others is not None:
            scores.append(_judged(result, others, recipe.device, block))
    about = {
        "data": data or {},
        "recipe": asdict(recipe),
        "people": len(people),
        "windows": len(windows),
        "held_out_people": [len(fold) for fold in held_out],
        "curves": [list(result.curve) for result in trained],
        "scores": scores,
    }
    return Model(tuple(result.fold for result in trained), windows.rate_hz, windows.seconds, about)


def fastest(device: str) -> dict[str, Any]:
    """Return the hooks that train fastest on a device: fused kernels in one graph where they run, else none."""
    if not has_kernels(device):
        return {}

    return {"block": FusedBlock, "make_step": GraphStep}


def fold_path(checkpoints: Path, number: int) -> Path:
    """Return where a fold's state is kept."""
    return checkpoints.with_name(f"{checkpoints.name}.fold{number}")


def _shifted(tell: Callable[[int, int], None] | None, number: int, folds: int) -> Callable[[int, int], None] | None:
    if tell is None:
        return None
    return lambda done, total: tell(number * total + done, folds * total)


def _judged(trained: Trained, others: Windows, device: str, block: MakeBlock) -> dict[str, Any]:
    """Return how well a fold's participants, unseen in its training, are found again in another session."""
    every = max(1, -(-len(others) // _JUDGED))
    alone = Ensemble(Model((trained.fold,), others.rate_hz, others.seconds, {}), device, block)
    share, chance = nearest_is_right(
        alone.embed(others.velocity[::every]), others.labels[::every], others.session[::every]
    )
    known = bool(np.isfinite(share))
    return {
        "people": len(np.unique(others.labels)),
        "windows": -(-len(others) // every),
        "nearest_window_is_right": share if known else None,
        "chance": chance if known else None,
    }
