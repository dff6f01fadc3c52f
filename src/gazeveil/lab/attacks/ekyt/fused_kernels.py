# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The passes of the fused block as Triton kernels; `reference` says in plain PyTorch what they compute.

A program handles ``block`` moments of one window. A tile is ``block`` moments x 32 channels, whose rows follow each
other in memory. Sums over windows and time leave a program as one number per channel; a second kernel adds them up in a
fixed order, so that a step gives the same bits whenever it is run.
"""

# mypy: disallow-untyped-defs=false, disallow-incomplete-defs=false, disallow-untyped-calls=false
# Triton reads annotations as code, so arguments have none.

from __future__ import annotations

import triton
import triton.language as tl

_EPSILON = tl.constexpr(1e-5)
_ADDED = tl.constexpr(2048)  # so many programs' sums are added at a time


@triton.jit
def _affine(scale, shift, mean, variance, norm, slot, channels):
    """Return what a norm multiplies by and adds, per channel."""
    place = (norm * 9 + slot) * 32 + channels
    factor = tl.load(scale + place) * tl.rsqrt(tl.load(variance + slot * 32 + channels) + _EPSILON)
    return factor, tl.load(shift + place) - tl.load(mean + slot * 32 + channels) * factor


@triton.jit
def _rounded(values, precision: tl.constexpr):
    """Round float32 to TF32, which would else cut the last bits off and make every product a little too small."""
    if precision == "tf32" and values.dtype == tl.float32:
        values = ((values.to(tl.int32, bitcast=True) + 4096) & -8192).to(tl.float32, bitcast=True)
    return values


@triton.jit
def _tile(base, window, moments, samples):
    """Load moments x 32 channels, 0 beyond the ends of the window, and say which moments are within."""
    there = (moments >= 0) & (moments < samples)
    places = (window * samples + moments)[:, None] * 32 + tl.arange(0, 32)[None, :]
    return tl.load(base + places, mask=there[:, None], other=0.0), there


@triton.jit
def _entry_tile(
    windows,
    scale,
    shift,
    mean,
    variance,
    window,
    times,
    samples,
    depth,
    dilation,
):
    """Load what a convolution sees of the velocities: moments x 16, column 2 * tap + channel, from 6 on 0."""
    columns = tl.arange(0, 16)
    channels = columns % 2
    moments = times[:, None] + (columns // 2 - 1)[None, :] * dilation
    there = (columns < 6)[None, :] & (moments >= 0) & (moments < samples)
    seen = tl.load(windows + (window * 2 + channels)[None, :] * samples + moments, mask=there, other=0.0)
    factor, added = _affine(scale, shift, mean, variance, tl.maximum(depth - 1, 0), 0, channels)
    factor = tl.where(depth > 0, factor, 1.0)  # the first convolution sees the velocities as they are
    added = tl.where(depth > 0, added, 0.0)
    floor = tl.where(depth > 0, 0.0, float("-inf"))
    return tl.where(there, tl.maximum(seen * factor[None, :] + added[None, :], floor), 0.0)


@triton.jit(do_not_specialize=["samples", "count", "depth"])
def convolve(
    windows,
    outputs,
    tiles,
    entry,
    scale,
    shift,
    mean,
    variance,
    sums,
    samples,
    count,
    depth,
    block: tl.constexpr,
    precision: tl.constexpr,
):
    """Normalise, rectify and convolve all slots so far; leave the sums of the new channels and of their squares."""
    window = tl.program_id(1)
    times = tl.program_id(0) * block + tl.arange(0, block)
    channels = tl.arange(0, 32)
    square = channels[:, None] * 32 + channels[None, :]
    dilation = 1 << (depth % 7)
    size = count * samples * 32
    seen = _entry_tile(windows, scale, shift, mean, variance, window, times, samples, depth, dilation)
    first = tl.load(entry + (depth * 16 + tl.arange(0, 16))[:, None] * 32 + channels[None, :])
    total = tl.dot(_rounded(seen.to(first.dtype), precision), _rounded(first, precision), input_precision=precision)
    for output in range(depth):
        factor, added = _affine(scale, shift, mean, variance, depth - 1, output + 1, channels)
        pair = depth * (depth - 1) // 2 + output
        for tap in tl.static_range(3):
            values, there = _tile(outputs + output * size, window, times + (tap - 1) * dilation, samples)
            values = tl.maximum(values.to(tl.float32) * factor[None, :] + added[None, :], 0.0)
            weights = _rounded(tl.load(tiles + (pair * 3 + tap) * 1024 + square), precision)
            values = _rounded(tl.where(there[:, None], values, 0.0).to(weights.dtype), precision)
            total = tl.dot(values, weights, total, input_precision=precision)
    inside = (times < samples)[:, None]
    kept = total.to(outputs.dtype.element_ty)
    places = (window * samples + times)[:, None] * 32 + channels[None, :]
    tl.store(outputs + depth * size + places, kept, mask=inside)
    kept = tl.where(inside, kept.to(tl.float32), 0.0)
    _leave_sums(sums, kept, kept * kept)


@triton.jit
def _leave_sums(sums, first, second):
    """Leave this program's sums over its moments: rows are channels, 32 of the first kind and 32 of the second."""
    programs = tl.num_programs(0) * tl.num_programs(1)
    place = tl.arange(0, first.shape[1]) * programs + tl.program_id(1) * tl.num_programs(0) + tl.program_id(0)
    tl.store(sums + place, tl.sum(first, 0))
    tl.store(sums + 32 * programs + place, tl.sum(second, 0))


@triton.jit
def _added(sums, programs):
    index = tl.arange(0, _ADDED)
    total = tl.zeros((_ADDED,), tl.float32)
    for first in range(0, programs, _ADDED):
        total += tl.load(sums + first + index, mask=first + index < programs, other=0.0)
    return tl.sum(total)


@triton.jit(do_not_specialize=["programs", "total", "slot"])
def measure(sums, mean, variance, programs, total, slot):
    """Turn sums into the mean and the variance of a slot's channels; one program per channel."""
    channel = tl.program_id(0)
    first = _added(sums + channel * programs, programs) / total
    second = _added(sums + (32 + channel) * programs, programs) / total
    tl.store(mean + slot * 32 + channel, first)
    tl.store(variance + slot * 32 + channel, tl.maximum(second - first * first, 0.0))


@triton.jit(do_not_specialize=["samples", "count"])
def average(
    outputs,
    averages,
    scale,
    shift,
    mean,
    variance,
    samples,
    count,
    block: tl.constexpr,
):
    """Average the last norm's rectified channels over time; one program per window and slot."""
    window, output = tl.program_id(0), tl.program_id(1)
    channels = tl.arange(0, 32)
    factor, added = _affine(scale, shift, mean, variance, 7, output + 1, channels)
    total = tl.zeros((block, 32), tl.float32)
    for first in range(0, samples, block):
        moments = first + tl.arange(0, block)
        values, there = _tile(outputs + output * count * samples * 32, window, moments, samples)
        values = tl.maximum(values.to(tl.float32) * factor[None, :] + added[None, :], 0.0)
        total += tl.where(there[:, None], values, 0.0)
    tl.store(averages + window * 258 + 2 + output * 32 + channels, tl.sum(total, 0) / samples)


@triton.jit
def _standard(values, mean, variance, slot, channels):
    inverse = tl.rsqrt(tl.load(variance + slot * 32 + channels) + _EPSILON)
    return (values.to(tl.float32) - tl.load(mean + slot * 32 + channels)[None, :]) * inverse[None, :]


@triton.jit
def _blocked(arrived, standard, inside, scale, shift, place):
    """Return a gradient behind a ReLU as it is before it, and that times the norm's scale."""
    factor = tl.load(scale + place)[None, :]
    arrived = tl.where(inside & (factor * standard + tl.load(shift + place)[None, :] > 0), arrived, 0.0)
    return arrived, factor * arrived


@triton.jit(do_not_specialize=["samples", "count", "output"])
def pull(
    outputs,
    into,
    tiles,
    scale,
    shift,
    mean,
    variance,
    gradient,
    sums,
    samples,
    count,
    output,
    block: tl.constexpr,
    precision: tl.constexpr,
):
    """Pull together the gradient of one convolution's output, without the share of the batch statistics."""
    window = tl.program_id(1)
    times = tl.program_id(0) * block + tl.arange(0, block)
    channels = tl.arange(0, 32)
    square = channels[:, None] * 32 + channels[None, :]
    size = count * samples * 32
    programs = tl.num_programs(0) * tl.num_programs(1)
    values, there = _tile(outputs + output * size, window, times, samples)
    inside = there[:, None]
    standard = _standard(values, mean, variance, output + 1, channels)
    place = (output + 1) * 32 + channels
    arrived = tl.load(gradient + window * 258 + 2 + output * 32 + channels)[None, :] / samples
    arrived, pulled = _blocked(arrived, standard, inside, scale, shift, 7 * 288 + place)
    _leave_sums(sums + 7 * 64 * programs, arrived, arrived * standard)
    for depth in range(output + 1, 8):
        dilation = 1 << (depth % 7)
        pair = depth * (depth - 1) // 2 + output
        total = tl.zeros((block, 32), tl.float32)
        for tap in tl.static_range(3):
            sent, _ = _tile(into + depth * size, window, times - (tap - 1) * dilation, samples)
            weights = _rounded(tl.load(tiles + (pair * 3 + tap) * 1024 + square), precision)
            total = tl.dot(sent, tl.trans(weights), total, input_precision=precision)
        arrived, scaled = _blocked(total, standard, inside, scale, shift, (depth - 1) * 288 + place)
        pulled += scaled
        _leave_sums(sums + (depth - 1) * 64 * programs, arrived, arrived * standard)
    places = (window * samples + times)[:, None] * 32 + channels[None, :]
    tl.store(into + output * size + places, pulled.to(into.dtype.element_ty), mask=inside)


@triton.jit(do_not_specialize=["samples", "count"])
def pull_entry(
    windows,
    into,
    entry,
    scale,
    shift,
    mean,
    variance,
    gradient,
    sums,
    samples,
    count,
    block: tl.constexpr,
    precision: tl.constexpr,
):
    """Leave the sums that the norms' gradients on the two velocities need; columns from 2 on are 0."""
    window = tl.program_id(1)
    times = tl.program_id(0) * block + tl.arange(0, block)
    columns = tl.arange(0, 16)
    inside = (times < samples)[:, None] & (columns < 2)[None, :]
    size = count * samples * 32
    programs = tl.num_programs(0) * tl.num_programs(1)
    values = tl.load(windows + (window * 2 + columns)[None, :] * samples + times[:, None], mask=inside, other=0.0)
    standard = _standard(values, mean, variance, 0, columns)
    arrived = tl.load(gradient + window * 258 + columns, mask=columns < 2, other=0.0)[None, :] / samples
    arrived, _ = _blocked(arrived, standard, inside, scale, shift, 7 * 288 + columns)
    _leave_sums(sums + 7 * 64 * programs, arrived, arrived * standard)
    for depth in range(1, 8):
        dilation = 1 << (depth % 7)
        total = tl.zeros((block, 16), tl.float32)
        for tap in tl.static_range(3):
            sent, _ = _tile(into + depth * size, window, times - (tap - 1) * dilation, samples)
            rows = (depth * 16 + tap * 2 + columns)[:, None] * 32 + tl.arange(0, 32)[None, :]
            weights = _rounded(tl.load(entry + rows, mask=(columns < 2)[:, None], other=0.0), precision)
            total = tl.dot(sent, tl.trans(weights), total, input_precision=precision)
        arrived, _ = _blocked(total, standard, inside, scale, shift, (depth - 1) * 288 + columns)
        _leave_sums(sums + (depth - 1) * 64 * programs, arrived, arrived * standard)


@triton.jit(do_not_specialize=["programs", "slot", "norm"])
def settle(sums, scale_gradient, shift_gradient, programs, slot, norm):
    """Add up the gradients of the norms on one slot; one program per channel and norm from ``norm`` up."""
    channel = tl.program_id(0)
    norm += tl.program_id(1)
    place = (norm * 9 + slot) * 32 + channel
    tl.store(shift_gradient + place, _added(sums + (norm * 64 + channel) * programs, programs))
    tl.store(scale_gradient + place, _added(sums + (norm * 64 + 32 + channel) * programs, programs))


@triton.jit(do_not_specialize=["samples", "count", "output"])
def correct(
    outputs,
    into,
    scale,
    mean,
    variance,
    scale_gradient,
    shift_gradient,
    samples,
    count,
    output,
    block: tl.constexpr,
    precision: tl.constexpr,
):
    """Take the share of the batch statistics off a pulled gradient, in place, and round it for the products to come."""
    window = tl.program_id(1)
    times = tl.program_id(0) * block + tl.arange(0, block)
    channels = tl.arange(0, 32)
    offset = output * count * samples * 32
    level = tl.zeros((32,), tl.float32)
    slope = tl.zeros((32,), tl.float32)
    for norm in range(output, 8):
        place = (norm * 9 + output + 1) * 32 + channels
        factor = tl.load(scale + place)
        level += factor * tl.load(shift_gradient + place)
        slope += factor * tl.load(scale_gradient + place)
    values, there = _tile(outputs + offset, window, times, samples)
    pulled, _ = _tile(into + offset, window, times, samples)
    standard = _standard(values, mean, variance, output + 1, channels)
    inverse = tl.rsqrt(tl.load(variance + (output + 1) * 32 + channels) + _EPSILON)
    total = (count * samples).to(tl.float32)
    result = (pulled.to(tl.float32) - (level / total)[None, :] - (slope / total)[None, :] * standard) * inverse[None, :]
    places = (window * samples + times)[:, None] * 32 + channels[None, :]
    tl.store(into + offset + places, _rounded(result.to(into.dtype.element_ty), precision), mask=there[:, None])


@triton.jit(do_not_specialize=["samples", "count", "share"])
def weigh(
    outputs,
    into,
    scale,
    shift,
    mean,
    variance,
    partial,
    samples,
    count,
    share,
    block: tl.constexpr,
    precision: tl.constexpr,
):
    """Sum up the gradient of one pair's three tiles over ``share`` windows; one program per pair and share."""
    pair = tl.program_id(0)
    depth = 1
    for later in tl.static_range(1, 7):
        depth += (pair >= later * (later + 1) // 2).to(tl.int32)
    output = pair - depth * (depth - 1) // 2
    dilation = 1 << (depth % 7)
    channels = tl.arange(0, 32)
    size = count * samples * 32
    factor, added = _affine(scale, shift, mean, variance, depth - 1, output + 1, channels)
    blocks = tl.cdiv(samples, block)
    start = tl.program_id(1) * share
    past = tl.zeros((32, 32), tl.float32)
    now = tl.zeros((32, 32), tl.float32)
    future = tl.zeros((32, 32), tl.float32)
    for step in range(start * blocks, tl.minimum(start + share, count) * blocks):
        window = step // blocks
        times = (step % blocks) * block + tl.arange(0, block)
        values, there = _tile(outputs + output * size, window, times, samples)
        seen = tl.maximum(values.to(tl.float32) * factor[None, :] + added[None, :], 0.0)
        seen = tl.trans(_rounded(tl.where(there[:, None], seen, 0.0).to(into.dtype.element_ty), precision))
        # what is seen at one moment went into the outputs a dilation later (tap 0), at once, and a dilation earlier
        sent, _ = _tile(into + depth * size, window, times + dilation, samples)
        past = tl.dot(seen, sent, past, input_precision=precision)
        sent, _ = _tile(into + depth * size, window, times, samples)
        now = tl.dot(seen, sent, now, input_precision=precision)
        sent, _ = _tile(into + depth * size, window, times - dilation, samples)
        future = tl.dot(seen, sent, future, input_precision=precision)
    partial += (tl.program_id(1) * tl.num_programs(0) + pair) * 3072
    square = channels[:, None] * 32 + channels[None, :]
    tl.store(partial + square, past)
    tl.store(partial + 1024 + square, now)
    tl.store(partial + 2048 + square, future)


@triton.jit(do_not_specialize=["samples", "count", "share"])
def weigh_entry(
    windows,
    into,
    scale,
    shift,
    mean,
    variance,
    partial,
    samples,
    count,
    share,
    block: tl.constexpr,
    precision: tl.constexpr,
):
    """Sum up the gradient of what one convolution takes from the velocities, over ``share`` windows."""
    depth = tl.program_id(0)
    dilation = 1 << (depth % 7)
    size = count * samples * 32
    blocks = tl.cdiv(samples, block)
    start = tl.program_id(1) * share
    total = tl.zeros((16, 32), tl.float32)
    for step in range(start * blocks, tl.minimum(start + share, count) * blocks):
        window = step // blocks
        times = (step % blocks) * block + tl.arange(0, block)
        seen = _entry_tile(windows, scale, shift, mean, variance, window, times, samples, depth, dilation)
        sent, _ = _tile(into + depth * size, window, times, samples)
        seen = _rounded(seen.to(sent.dtype), precision)
        total = tl.dot(tl.trans(seen), sent, total, input_precision=precision)
    rows = tl.arange(0, 16)[:, None] * 32 + tl.arange(0, 32)[None, :]
    tl.store(partial + (tl.program_id(1) * tl.num_programs(0) + depth) * 512 + rows, total)
