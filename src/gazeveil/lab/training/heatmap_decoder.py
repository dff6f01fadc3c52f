# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The decoder of heatmaps for training, in PyTorch: its networks, what they see, and what is wrong with their answers.

Maps should correlate with the population's, differ little from it, and never be worse than the map that is expected:
what single ones are worse counts more than once, and so does what the scenes of a step are worse on average, as those
may be alike in how much of gaze goes to the middle. Where a picture is known, they should also be right in what it does
not say. Half widths are the quantile of what maps differ from those of the same participants; what two draws of noise
make of the same participants says what noise does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
import torch
from torch.nn import functional

from gazeveil.aggregate.bayes_decoder import Decoder
from gazeveil.aggregate.grid import blur_matrix
from gazeveil.aggregate.map_features import CLIP
from gazeveil.aggregate.map_prior import (
    CENTRE_POWER,
    FEW_NUMBERS_PICTURE_WEIGHT,
    PICTURE_FLOOR,
    PICTURE_SIZES,
    Plane,
    broad,
    mean_of,
    plain_models,
)
from gazeveil.aggregate.neural_decoder import (
    HOT_SPOT,
    LEAST,
    LEAST_APART,
    NARROW,
    SHARP,
    SMALL,
    STEPS,
    WIDE,
    ModeResponses,
    PublicFacts,
    lattice_for,
)
from gazeveil.aggregate.saliency import shares
from gazeveil.aggregate.strategies import modes
from gazeveil.aggregate.strategy import Task
from gazeveil.lab.training.decoder_scenes import PLANES, Mixture, Scenes, Step, plane_of
from gazeveil.lab.training.decoder_viewers import Looks

ANSWERS = 4


class Raster:
    """A viewing plane on a device: its cells, its blur and its lattice."""

    def __init__(self, plane: Plane, device: str) -> None:
        self.plane, self.device = plane, device
        self.rows, self.columns = plane.grid.shape
        lattice = lattice_for(plane)
        self.lattice = lattice.shape
        self.bumps, self.to_lattice, self._to_cells = (
            tuple(self.moved(each) for each in pair) for pair in (lattice.bumps, lattice.to_lattice, lattice.to_cells)
        )
        self._blur = tuple(
            self.moved(blur_matrix(size, blur)) for size, blur in zip(plane.grid.shape, plane.blur, strict=True)
        )
        self.plain = self.moved(mean_of(plain_models(plane)))
        self.middles = torch.stack([self.moved(each.ravel()) for each in lattice.middles])
        self.places = torch.stack([self.moved(each) for each in lattice.places()])
        centres = [broad(plane.grid, 0.5, 0.5, *size) for size in PICTURE_SIZES]
        self._centres = self.moved([(each / each.max()) ** CENTRE_POWER for each in centres])

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return self.rows * self.columns

    def map(self, looks: torch.Tensor) -> torch.Tensor:
        """Return the blurred map of all viewers of each picture, of mass 1."""
        counts = torch.zeros(len(looks), self.cells, device=self.device)
        counts.scatter_add_(1, self.cell_of(looks).flatten(1), looks[..., 2].flatten(1))
        counts = (counts / counts.sum(1, keepdim=True)).view(-1, self.rows, self.columns)
        return (self._blur[0] @ counts @ self._blur[1].T).reshape(len(looks), -1)

    def prior(self, contents: torch.Tensor) -> torch.Tensor:
        """Return the map that is expected where pictures say something, as `gazeveil.aggregate.map_prior` does."""
        down, across = (
            self.moved(shares(source, target))
            for source, target in zip(contents.shape[1:], (self.rows, self.columns), strict=True)
        )
        followed = (down @ contents @ across.T).flatten(1)[:, None] * self._centres
        followed = followed / followed.sum(2, keepdim=True).clamp_min(1e-9)
        followed = ((1 - PICTURE_FLOOR) * followed + PICTURE_FLOOR / self.cells).mean(1)
        pictured = FEW_NUMBERS_PICTURE_WEIGHT * followed + (1 - FEW_NUMBERS_PICTURE_WEIGHT) * self.plain
        return torch.where(contents.flatten(1).any(1)[:, None], pictured, self.plain)

    def cell_of(self, looks: torch.Tensor) -> torch.Tensor:
        """Return which cell each look is in."""
        return self.row_of(looks) * self.columns + self.column_of(looks)

    def row_of(self, looks: torch.Tensor) -> torch.Tensor:
        """Return which row of cells each look is in."""
        return (looks[..., 1] * self.rows).long().clamp(0, self.rows - 1)

    def column_of(self, looks: torch.Tensor) -> torch.Tensor:
        """Return which column of cells each look is in."""
        return (looks[..., 0] * self.columns).long().clamp(0, self.columns - 1)

    def logs(self, maps: torch.Tensor) -> torch.Tensor:
        """Return the logarithms of maps, a row each, where an even map has 0."""
        return torch.log((maps * self.cells).clamp_min(LEAST))

    def on_lattice(self, values: torch.Tensor) -> torch.Tensor:
        """Return values of cells, a row a map, at the places of the lattice."""
        return self.to_lattice[0] @ values.view(-1, self.rows, self.columns) @ self.to_lattice[1].T

    def on_cells(self, values: torch.Tensor) -> torch.Tensor:
        """Return pictures on the lattice, on the cells."""
        return self._to_cells[0] @ values @ self._to_cells[1].T

    def even(self, values: torch.Tensor) -> torch.Tensor:
        """Return pictures that have the same value everywhere, one for each value."""
        return values[..., None, None].expand(*values.shape, *self.lattice)

    def moved(self, values: Any) -> torch.Tensor:
        """Return an array on the device."""
        return torch.tensor(np.asarray(values), dtype=torch.float32, device=self.device)


class Said(NamedTuple):
    """What the network says of maps: a number a cell, in units of an even map but for the map itself."""

    map: torch.Tensor
    half: torch.Tensor
    noise_sd: torch.Tensor
    hot: torch.Tensor


class _Block(torch.nn.Module):  # type: ignore[misc]
    def __init__(self, channels: int, step: int) -> None:
        super().__init__()
        self.a = torch.nn.Conv2d(channels, channels, 3, padding=step, dilation=step)
        self.b = torch.nn.Conv2d(channels, channels, 1)
        self.p = torch.nn.Linear(channels, channels)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        found = functional.relu(self.a(values))
        return values + self.b(found) + self.p(found.mean((2, 3)))[:, :, None, None]


class Trained(torch.nn.Module):  # type: ignore[misc]
    """The network; its layers bear the names of the file. Before training it says what is expected."""

    def __init__(self, pictures: int, channels: int) -> None:
        super().__init__()
        self.i = torch.nn.Conv2d(pictures, channels, 3, padding=1)
        self.blocks = torch.nn.ModuleList(_Block(channels, step) for step in STEPS)
        self.o = torch.nn.Conv2d(channels, ANSWERS, 1)
        torch.nn.init.zeros_(self.o.weight)
        torch.nn.init.zeros_(self.o.bias)

    def forward(self, raster: Raster, pictures: torch.Tensor, prior: torch.Tensor) -> Said:
        """Return what it says of pictures, where maps are expected, a row each."""
        values = functional.relu(self.i(pictures))
        for block in self.blocks:
            values = block(values)
        factor, half, noise, hot = raster.on_cells(self.o(values)).flatten(2).unbind(1)
        shown = torch.softmax(raster.logs(prior) + factor, 1)
        even = shown * raster.cells
        size = WIDE * even.sqrt() + SMALL
        return Said(
            shown,
            size * half.clamp(-6, 4).exp(),
            NARROW * size * noise.clamp(-8, 4).exp(),
            SHARP * hot + 2 * (even.clamp_min(1e-3) / HOT_SPOT).log(),
        )


def stored(network: Trained) -> dict[str, np.ndarray[Any, Any]]:
    """Return what the file holds: half precision."""
    return {name: values.cpu().numpy().astype(np.float16) for name, values in network.state_dict().items()}


# --- What is measured of participants in training and how networks see it, for bumps and for modes: many at a time.


MULTIPLIER = 5.27591
"""Standard deviation of the noise of a sum of vectors of length 1 without negative entries, at ε = 1 and δ = 10⁻⁵."""
BUMPS_PICTURES, PICTURED_PICTURES, MODES_PICTURES = 13, 12, 14


class Measure(Protocol):
    """How numbers are made of participants, and pictures of noisy numbers."""

    raster: Raster
    facts: PublicFacts

    def numbers(self, looks: torch.Tensor) -> torch.Tensor:
        """Return the numbers of each scene, without noise: scenes by numbers."""
        ...

    def noise(self, count: int, chance: torch.Generator) -> torch.Tensor:
        """Return noise for this many scenes."""
        ...

    def pictures(self, numbers: torch.Tensor, prior: torch.Tensor) -> torch.Tensor:
        """Return what the network looks at, where maps are expected, a row each."""
        ...


class OfBumps:
    """What bumps see of viewers, for a network that knows of pictures or one that does not."""

    def __init__(self, raster: Raster, observers: int, effective: float, *, pictured: bool) -> None:
        self.raster, self._pictured = raster, pictured
        self.facts = PublicFacts(raster.plane, observers, MULTIPLIER / effective)

    def numbers(self, looks: torch.Tensor) -> torch.Tensor:
        """Return what bumps see, the mean over viewers of numbers of length 1."""
        raster = self.raster
        seen = torch.einsum(
            "...kr,...kc,...k->...rc",
            raster.bumps[0][raster.row_of(looks)],
            raster.bumps[1][raster.column_of(looks)],
            looks[..., 2],
        ).flatten(-2)
        return (seen / seen.norm(dim=-1, keepdim=True).clamp_min(1e-9)).mean(1)

    def noise(self, count: int, chance: torch.Generator) -> torch.Tensor:
        """Return normal noise."""
        size = math.prod(self.raster.lattice)
        drawn = torch.randn(count, size, device=self.raster.device, generator=chance)
        return self.facts.noise_sd * drawn

    def pictures(self, numbers: torch.Tensor, prior: torch.Tensor) -> torch.Tensor:
        """Return the pictures of `gazeveil.aggregate.neural_decoder.bumps_pictures` or `pictured_pictures`."""
        raster, noise = self.raster, self.facts.noise_sd
        facts = torch.tensor(self.facts.numbers(), device=raster.device).expand(len(numbers), 3)
        picture = numbers.view(-1, 1, *raster.lattice)
        plain = 0.5 * raster.on_lattice(raster.logs(raster.plain[None])).expand(len(numbers), 1, *raster.lattice)
        usual = self._unit_numbers(raster.plain[None])
        expected = [plain]
        if self._pictured:
            facts = torch.cat((self._followed(numbers, self._unit_numbers(prior) - usual), facts), 1)
            expected = [0.5 * raster.on_lattice(raster.logs(prior))[:, None], plain]
        else:
            facts = torch.cat((self._about(numbers), facts), 1)
        return torch.cat(
            (
                0.2 * picture / usual.abs().mean(),
                0.3 * picture / noise,
                *expected,
                raster.even(facts),
                raster.places.expand(len(numbers), 2, *raster.lattice),
            ),
            1,
        )

    def _about(self, numbers: torch.Tensor) -> torch.Tensor:
        """Return how far numbers go to the middle, and by how much they exceed noise."""
        in_noise = numbers / self.facts.noise_sd
        count = in_noise.shape[1]
        excess = ((in_noise**2).sum(1, keepdim=True) - count) / math.sqrt(2 * count)
        return torch.cat((in_noise @ self.raster.middles.T, excess), 1) / 10

    def _followed(self, numbers: torch.Tensor, apart: torch.Tensor) -> torch.Tensor:
        """Return whether a picture says anything, how far numbers go its way, and how far they should."""
        length = apart.norm(dim=1)
        has = (length > LEAST_APART).float()
        along = (numbers * apart).sum(1) / length.clamp_min(LEAST_APART)
        noise = self.facts.noise_sd
        return torch.stack((has, has * along / noise / 10, has * length / noise / 10), 1)

    def _unit_numbers(self, maps: torch.Tensor) -> torch.Tensor:
        raster = self.raster
        seen = raster.bumps[0].T @ maps.view(-1, raster.rows, raster.columns) @ raster.bumps[1]
        seen = seen.flatten(1)
        return seen / seen.norm(dim=1, keepdim=True)


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """The modes of a task, and how their numbers are weighed and shown: all that does not depend on a device."""

    facts: PublicFacts
    features: np.ndarray[tuple[int, int], np.dtype[np.float64]]
    origin: np.ndarray[tuple[int], np.dtype[np.float64]]
    scale: float
    responses: ModeResponses
    decoder: Decoder


def designed(plane: Plane, observers: int, effective: float) -> Design | None:
    """Return the modes under the noise of a number of participants at ε = 1; None where no network learnt of it."""
    epsilon = Fraction(round(1000 * effective), 1000 * observers)
    task = Task(grid=plane.grid, observers=observers, epsilon=epsilon, blur_cells=plane.blur[0])
    made = modes.network_decoder_for(task)
    if made is None:
        return None
    channel = made.models.channel
    return Design(
        made.facts,
        plane.blurred(channel.features),
        made.mean @ channel.features,
        2 * CLIP / (observers * float(epsilon)),
        made.responses,
        made.models,
    )


class OfModes:
    """The coordinates of viewers along the modes of a design."""

    def __init__(self, raster: Raster, design: Design) -> None:
        self.raster, self.facts = raster, design.facts
        moved = raster.moved
        self._features, self._origin = moved(design.features), moved(design.origin)
        self._scale = design.scale
        self._answers = moved(design.responses.responses)
        decoder = design.decoder
        self._weighing = tuple(moved(each) for each in (decoder._vectors, decoder._values, decoder._expected))
        self._chances = moved(np.log([model.weight for model in decoder.models]))
        self._gain, self._variances = decoder.channel.gains[0], decoder.channel.variances()
        self._kinds = len(design.responses.responses)

    def numbers(self, looks: torch.Tensor) -> torch.Tensor:
        """Return the mean over viewers of clipped coordinates."""
        seen = torch.einsum("...kf,...k->...f", self._features[self.raster.cell_of(looks)], looks[..., 2])
        apart = seen - self._origin
        return (apart * (CLIP / apart.norm(dim=-1, keepdim=True).clamp_min(1e-9)).clamp_max(1.0)).mean(1)

    def noise(self, count: int, chance: torch.Generator) -> torch.Tensor:
        """Return radial noise: a direction, and a length that is Gamma of as many parts as there are numbers."""
        size, device = self._features.shape[1], self.raster.device
        along = torch.randn(count, size, device=device, generator=chance)
        parts = torch.rand(count, size, device=device, generator=chance).clamp_min(1e-12)
        length = -self._scale * parts.log().sum(1, keepdim=True)
        return length * along / along.norm(dim=1, keepdim=True)

    def pictures(self, numbers: torch.Tensor, prior: torch.Tensor) -> torch.Tensor:
        """Return fourteen pictures, as `gazeveil.aggregate.neural_decoder.modes_pictures` does."""
        raster, count = self.raster, len(numbers)
        said = torch.einsum("hrcf,bf->bhrc", self._answers, numbers).clamp(-3.0, 6.0)
        facts = torch.tensor(self.facts.numbers(), device=raster.device).expand(count, 3)
        same = torch.cat((0.3 * self._by_kind(numbers).clamp_min(1e-4).log(), facts), 1)
        return torch.cat(
            (
                0.5 * said,
                0.5 * raster.on_lattice(raster.logs(prior))[:, None],
                raster.even(same),
                raster.places.expand(count, 2, *raster.lattice),
            ),
            1,
        )

    def _by_kind(self, numbers: torch.Tensor) -> torch.Tensor:
        """Return how likely each kind of variation is, as `Decoder.chances` does for each model."""
        vectors, values, expected = self._weighing
        turned = torch.einsum("mij,bj->bmi", vectors, numbers)
        logs = []
        for variance in self._variances:
            spread = self._gain**2 * values + variance
            logs.append(-0.5 * ((turned - self._gain * expected) ** 2 / spread + spread.log()).sum(2))
        chances = torch.softmax((torch.stack(logs, 2) + self._chances[:, None]).flatten(1), 1)
        return chances.view(len(numbers), -1, self._kinds, len(self._variances)).sum((1, 3))


# --- How decoders are trained: what is wrong with their maps, with their intervals, and with what they say of noise.


BATCH: Final = 192
"""Scenes of a step; half as many where there are many participants."""
_MANY_PEOPLE: Final = 150
RATE, DECAY, WARM_UP, KEPT = 2e-3, 1e-2, 0.05, 0.999
COVERED: Final = 0.96
_GAINED: Final = 0.01
"""By so much the maps of a step should be better than what is expected, lest they be worse on other ones."""
_TIMES = (1.0, 1.0, 1.0, 0.5, 2.0, 3.0)
"""How many more participants there are than would see so much noise at ε = 1."""
_USUAL_PLANE = 0.3


@dataclass(frozen=True, slots=True)
class Course:
    """What a decoder is trained for.

    Attributes:
        strategy: ``bumps`` or ``modes``.
        effective: The fewest and the most participants whose noise at ε = 1 is trained on.
        people: The fewest and the most participants.
        steps: How many steps.
        pictures: How many pictures the network looks at.
        channels: How wide it is.
        mixture: What scenes are made of.
        worse: How much it counts, beside all else, that a map is worse than its prior.
        all_worse: How much it counts that the maps of a step are worse on average.
        own: How much it counts that a map is wrong in what a picture does not say.
    """

    strategy: str
    effective: tuple[float, float]
    people: tuple[int, int]
    steps: int
    pictures: int
    channels: int
    mixture: Mixture
    worse: float
    own: float = 0.0
    all_worse: float = 0.0


_FINE_BUMPS: Final = Course(
    "bumps", (8.0, 450.0), (5, 500), 27_000, BUMPS_PICTURES, 64, Mixture(0.12, 0.32, 0.0, False), worse=1.0
)
_FINE_MODES: Final = Course(
    "modes", (4.0, 60.0), (3, 180), 12_057, MODES_PICTURES, 48, Mixture(0.1, 0.4, 0.5, False), worse=1.2
)
_COARSE: Final = Mixture(0.08, 0.36, 0.5, False, alike=0.7, zoomed=0.4, coarse=0.35)
COURSES: Final = {
    "bumps": _FINE_BUMPS,
    "bumps_coarse": replace(_FINE_BUMPS, mixture=_COARSE, steps=14_761, worse=0.5, all_worse=3.0),
    "pictured": Course(
        "bumps",
        (12.0, 450.0),
        (5, 500),
        21_119,
        PICTURED_PICTURES,
        64,
        Mixture(0.1, 0.36, 0.5, True),
        worse=1.5,
        own=0.15,
    ),
    "modes": _FINE_MODES,
    "modes_coarse": replace(_FINE_MODES, mixture=_COARSE, steps=7_292, worse=0.5, all_worse=3.0),
}
"""How each of the networks that are shipped was trained (docs/reference/heatmap-decoder.md)."""
_DESIGNS: Final = 20
"""How many designs of modes there are for each viewing plane."""


Weights = Mapping[str, np.ndarray[Any, Any]]
"""What the layers of a network hold, by their names in its file."""


def fits(course: Course, weights: Weights) -> bool:
    """Return whether these are the weights of such a network."""
    layers = Trained(course.pictures, course.channels).state_dict()
    same = {name: tuple(layers[name].shape) for name in layers} == {name: weights[name].shape for name in weights}
    return same and all(each.dtype.kind == "f" for each in weights.values())


class _Measures(Protocol):
    def __call__(self, rng: np.random.Generator) -> Measure: ...


def train(
    course: Course,
    sets: list[Looks],
    *,
    seed: int,
    device: str,
    steps: int | None = None,
    start: Weights | None = None,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> Trained:
    """Train a network, a new one or one that has these weights; return the mean over its last thousand or so steps."""
    steps = course.steps if steps is None else steps
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    scenes = Scenes(sets, device, seed, course.mixture)
    rasters = [Raster(plane_of(*each), device) for each in PLANES]
    measures = _bumps(course, rasters) if course.strategy == "bumps" else _modes(course, rasters, rng)
    network = Trained(course.pictures, course.channels)
    if start is not None:
        network.load_state_dict({name: torch.from_numpy(values.astype(np.float32)) for name, values in start.items()})
    network.to(device)
    rate = RATE if start is None else RATE / 2
    optimiser = torch.optim.AdamW(network.parameters(), lr=rate, weight_decay=DECAY)
    mean = {name: values.detach().clone() for name, values in network.state_dict().items()}
    for done in range(steps):
        part = done / steps
        for group in optimiser.param_groups:
            group["lr"] = rate * min(1.0, part / WARM_UP) * (1 + math.cos(math.pi * part)) / 2
        measure = measures(rng)
        observers = measure.facts.observers
        step = scenes.step(BATCH if observers < _MANY_PEOPLE else BATCH // 2, observers)
        loss = loss_of(course, network, measure, step, scenes.chance)
        optimiser.zero_grad()
        loss.backward()
        size = torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        if torch.isfinite(size):
            optimiser.step()
        kept = min(KEPT, (done + 1) / (done + 101))
        with torch.no_grad():
            values = list(network.state_dict().values())
            torch._foreach_mul_(list(mean.values()), kept)
            torch._foreach_add_(list(mean.values()), values, alpha=1 - kept)
        tell(done + 1, steps)
    network.load_state_dict(mean)
    return network


def loss_of(course: Course, network: Trained, measure: Measure, step: Step, chance: torch.Generator) -> torch.Tensor:
    """Return how wrong the network is about scenes that are seen under two draws of noise."""
    raster, numbers = measure.raster, measure.numbers(step.mine)
    prior = raster.prior(step.contents).repeat(2, 1)
    noisy = numbers.repeat(2, 1) + measure.noise(2 * len(numbers), chance)
    said: Said = network(raster, measure.pictures(noisy, prior), prior)
    everybody, same = (raster.map(each).repeat(2, 1) for each in (step.everybody, step.mine))
    alike = correlations(said.map, everybody)
    lost = correlations(prior, everybody) - alike
    worse = course.worse * functional.relu(lost).mean() + course.all_worse * functional.relu(lost.mean() + _GAINED)
    spread = ((everybody - everybody.mean(1, keepdim=True)) ** 2).sum(1)
    apart = (((said.map - everybody) ** 2).sum(1) / spread).clamp_max(4).mean()
    beyond = ((said.map.detach() - same) * raster.cells).abs() - said.half
    intervals = torch.maximum(COVERED * beyond, (COVERED - 1) * beyond).mean()
    one, other = said.map.detach().chunk(2)
    variance = (said.noise_sd**2).unflatten(0, (2, -1)).mean(0) + 1e-6
    noise = (variance.log() / 2 + ((one - other) * raster.cells) ** 2 / (4 * variance)).mean()
    hot = functional.binary_cross_entropy_with_logits(said.hot, (same * raster.cells > 4).float())
    loss = (1 - alike).mean() + worse + 0.5 * apart + 0.3 * intervals + 0.01 * noise + hot
    if course.own:
        pictured = step.contents.flatten(1).any(1).repeat(2).float()
        left = 1 - correlations(_without(said.map, prior), _without(everybody, prior))
        loss = loss + course.own * (pictured * left).mean()
    return loss


def correlations(maps: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
    """Return how alike maps are, pair by pair."""
    one, other = (each - each.mean(1, keepdim=True) for each in (maps, others))
    return (one * other).sum(1) / (one.norm(dim=1) * other.norm(dim=1) + 1e-12)


def _without(maps: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
    """Return what is left of maps once others are regressed out."""
    one, other = (each - each.mean(1, keepdim=True) for each in (maps, others))
    return one - (one * other).sum(1, keepdim=True) / (other**2).sum(1, keepdim=True) * other


def _bumps(course: Course, rasters: list[Raster]) -> _Measures:
    def drawn(rng: np.random.Generator) -> Measure:
        raster = rasters[0 if rng.random() < _USUAL_PLANE else rng.integers(len(rasters))]
        return OfBumps(raster, *_noise_and_people(course, rng), pictured=course.mixture.pictured)

    return drawn


def _modes(course: Course, rasters: list[Raster], rng: np.random.Generator) -> _Measures:
    made: list[list[OfModes]] = []
    for raster in rasters:
        designs = (designed(raster.plane, *_noise_and_people(course, rng)) for _ in range(_DESIGNS))
        made.append([OfModes(raster, each) for each in designs if each is not None])

    def drawn(rng: np.random.Generator) -> Measure:
        own = made[0 if rng.random() < _USUAL_PLANE else rng.integers(len(made))]
        return own[rng.integers(len(own))]

    return drawn


def _noise_and_people(course: Course, rng: np.random.Generator) -> tuple[int, float]:
    """Return how many participants there are, and how many would have as much noise at ε = 1."""
    low, high = course.effective
    effective = math.exp(rng.uniform(math.log(low), math.log(high)))
    fewest, most = course.people
    return min(max(round(effective * rng.choice(_TIMES)), fewest), most), effective
