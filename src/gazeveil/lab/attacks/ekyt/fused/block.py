# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The dense block without the growing concatenation: same parameters, same numbers, a fraction of the memory traffic.

`FusedBlock` takes the place of `DenseBlock` wherever one is made: ``Embedder(block=FusedBlock)``. In training it keeps
every convolution's output once, takes the statistics of a channel once, and normalises, rectifies and convolves in one
pass; its way back is derived by hand (see `reference`). On a GPU with Triton the passes are kernels, elsewhere
they are plain PyTorch. Outputs are kept in bfloat16 under autocast and in float32 otherwise, when products are in TF32
if ``torch.backends.cudnn.allow_tf32`` says so, as the plain block's are. Evaluation is the plain block's.
"""

from __future__ import annotations

from importlib.util import find_spec
from types import ModuleType
from typing import Any

from gazeveil.lab.attacks.ekyt._torch import torch
from gazeveil.lab.attacks.ekyt.fused import reference as fused_reference
from gazeveil.lab.attacks.ekyt.fused.layout import DEPTH, Packed, pack, unpack
from gazeveil.lab.attacks.ekyt.network.layers import CHANNELS_IN, DenseBlock


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
    from gazeveil.lab.attacks.ekyt.fused import gpu as fused_gpu  # noqa: PLC0415  (needs Triton)

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
