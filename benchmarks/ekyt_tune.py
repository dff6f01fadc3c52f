# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""On a GPU: do the kernels compute what the reference computes, and which tuning is fastest?

PYTHONPATH=src:. python benchmarks/ekyt_tune.py [check|sweep|profile ...]
"""

from __future__ import annotations

import statistics
import sys
import time

import torch

from gazeveil.lab.attacks.ekyt import fused_gpu, fused_reference
from gazeveil.lab.attacks.ekyt.fused_reference import Packed, pack
from gazeveil.lab.attacks.ekyt.network import Classifier, DenseBlock, Embedder
from gazeveil.lab.attacks.ekyt.training import FusedBlock, GraphStep, PlainStep

BATCH, SAMPLES = 256, 625


def parameters(seed=1):
    block = Embedder(seed=seed).block.cuda()
    generator = torch.Generator().manual_seed(seed)
    parts = [[c.weight for c in block.convolutions], [n.weight for n in block.norms], [n.bias for n in block.norms]]
    for some in parts[1:]:
        for values in some:
            values.data += 0.2 * torch.randn(values.shape, generator=generator).cuda()
    return [[values.detach() for values in some] for some in parts]


def check():
    for count, samples in ((7, 301), (32, 625)):
        windows = 1.5 * torch.randn(count, 2, samples, device="cuda") + 0.2
        gradient = torch.randn(count, 258, device="cuda")
        for dtype, tf32 in ((torch.float32, False), (torch.float32, True), (torch.bfloat16, True)):
            torch.backends.cudnn.allow_tf32 = tf32
            packed = pack(*parameters(), dtype)  # type: ignore[call-arg]
            exact = Packed(*(values.double() for values in packed))
            averages, saved = fused_gpu.forward(windows, packed)
            found = fused_gpu.backward(gradient, saved, packed)
            again = fused_gpu.backward(gradient, saved, packed)
            right, kept = fused_reference.forward(windows.double(), exact)
            wanted = fused_reference.backward(gradient.double(), kept, exact)
            pairs = zip((averages, *found), (right, *wanted), strict=True)
            far = [f"{float((a.double() - b).norm() / b.norm()):.1e}" for a, b in pairs]
            same = all(torch.equal(a, b) for a, b in zip(found, again, strict=True))
            print(count, samples, dtype, "tf32" if tf32 else "ieee", far, "same bits:", same, flush=True)
    torch.backends.cudnn.allow_tf32 = True


def far():
    """How far are the gradients of both blocks from those of the plain one in float64?"""
    windows = 1.5 * torch.randn(64, 2, SAMPLES, device="cuda") + 0.2
    gradient = torch.randn(64, 128, device="cuda")

    def gradients(block, dtype, autocast=False):
        embedder = Embedder(block).cuda().to(dtype)
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=autocast):
            found = embedder(windows.to(dtype))
        (found.to(dtype) * gradient.to(dtype)).sum().backward()
        return [p.grad.double() for p in embedder.parameters()]

    exact = gradients(DenseBlock, torch.float64)
    for name, autocast, tf32 in (("float32", False, False), ("TF32", False, True), ("bfloat16", True, True)):
        torch.backends.cudnn.allow_tf32 = tf32
        for kind, block in (("plain", DenseBlock), ("fused", FusedBlock)):
            pairs = list(zip(gradients(block, torch.float32, autocast), exact, strict=True))
            some = [float((a - b).norm() / b.norm()) for a, b in pairs]
            print(name, kind, f"median {statistics.median(some):.1e}, largest {max(some):.1e}", flush=True)
    torch.backends.cudnn.allow_tf32 = True


def median_ms(job, rounds=30):
    for _ in range(5):
        job()
    times = []
    for _ in range(rounds):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        job()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times)


def graphed(job):
    for _ in range(3):
        job()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        job()
    return graph.replay


def sweep(dtype=torch.bfloat16):
    windows = torch.randn(BATCH, 2, SAMPLES, device="cuda")
    gradient = torch.randn(BATCH, 258, device="cuda")
    packed = pack(*parameters(), dtype)  # type: ignore[call-arg]
    saved = fused_gpu.forward(windows, packed)[1]
    jobs = {
        "convolve": lambda: fused_gpu.forward(windows, packed),
        "pull": lambda: fused_gpu.backward(gradient, saved, packed),
        "correct": lambda: fused_gpu.backward(gradient, saved, packed),
        "weigh": lambda: fused_gpu.backward(gradient, saved, packed),
        "pull_entry": lambda: fused_gpu.backward(gradient, saved, packed),
        "weigh_entry": lambda: fused_gpu.backward(gradient, saved, packed),
    }
    for name, job in jobs.items():
        best, kept = None, fused_gpu.TUNING[dtype][name]
        some = [(b, w, s) for b in (64, 128) for w in (4, 8) for s in (1, 2, 3, 4) if not (b == 64 and w == 8)]
        if name == "correct":
            some = [(64, 4, 1), (128, 4, 1), (128, 8, 1), (256, 8, 1), (32, 4, 1)]
        if name.endswith("entry"):
            some = [(128, 4, 1), (128, 4, 2), (128, 4, 3), (64, 4, 2)]
        if name == "weigh":
            some += [(b, 2, s) for b in (64, 128) for s in (2, 3)] + [(64, 1, 3), (256, 4, 2)]
        if dtype is torch.float32:
            some = [x for x in some if x[2] < 4 and x[:2] != (128, 8) and x[0] < 256] + [(32, 4, 2)][: name == "weigh"]
        for tuning in some:
            fused_gpu.TUNING[dtype][name] = fused_gpu.Tuning(*tuning)
            try:
                start = time.time()
                taken = median_ms(graphed(job))
            except (RuntimeError, ValueError) as error:
                print(name, tuning, "failed", str(error)[:80])
                continue
            print(f"{name} {tuning} {taken:.3f} ms (tried in {time.time() - start:.1f} s)", flush=True)
            if best is None or taken < best[0]:
                best, kept = (taken, tuning), fused_gpu.Tuning(*tuning)
        fused_gpu.TUNING[dtype][name] = kept
        print("BEST", name, best, flush=True)
    for shares in (32, 64, 128):
        fused_gpu.SHARES = shares
        print("shares", shares, f"{median_ms(graphed(jobs['weigh'])):.3f} ms", flush=True)
    fused_gpu.SHARES = 64


def steps():
    windows = torch.randn(BATCH, 2, SAMPLES, device="cuda")
    labels = torch.arange(16, device="cuda").repeat_interleave(16)
    for precision in ("fp32", "bf16"):
        for name, block, make in (
            ("plain", DenseBlock, PlainStep),
            ("plain, graph", DenseBlock, GraphStep),
            ("fused", FusedBlock, PlainStep),
            ("fused, graph", FusedBlock, GraphStep),
        ):
            embedder, classifier = Embedder(block).cuda(), Classifier(500).cuda()
            step = make(embedder, classifier, precision)
            loss = [float(step(windows, labels)) for _ in range(3)]
            taken = median_ms(lambda step=step: step(windows, labels))
            print(f"{precision} {name}: {taken:.3f} ms, {BATCH / taken:.1f} k windows/s, losses {loss}", flush=True)


def profile():
    windows = torch.randn(BATCH, 2, SAMPLES, device="cuda")
    labels = torch.arange(16, device="cuda").repeat_interleave(16)
    step = GraphStep(Embedder(FusedBlock).cuda(), Classifier(500).cuda(), "bf16")
    step(windows, labels)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiled:
        for _ in range(10):
            step(windows, labels)
        torch.cuda.synchronize()
    print(profiled.key_averages().table(sort_by="cuda_time_total", row_limit=32, max_name_column_width=44))


if __name__ == "__main__":
    print(torch.cuda.get_device_name(), torch.__version__)
    for wanted in sys.argv[1:]:
        {
            "check": check,
            "far": far,
            "sweep": sweep,
            "sweep32": lambda: sweep(torch.float32),
            "steps": steps,
            "profile": profile,
        }[wanted]()
