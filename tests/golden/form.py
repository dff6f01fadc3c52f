# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What was written, as text that can be compared: documents as they are, tables and pictures by their content."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

TEXT = {".txt", ".md", ".html", ".json", ".csv", ".tsv", ".toml", ".bib", ".svg", ".jsonl"}
BLOCKS = (8, 6)
"""Into how many blocks a picture is cut, across and down, each of which is added up."""
_INLINE = re.compile(r"data:image/png;base64,([A-Za-z0-9+/=]+)")


def of_folder(folder: Path) -> dict[str, str]:
    """Return every file below a folder as text, by its name; digests that are true are named, not written out."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    true = {hashlib.sha256(path.read_bytes()).hexdigest(): path.relative_to(folder).as_posix() for path in paths}
    true |= _seals(folder)
    made = {path.relative_to(folder).as_posix(): of_file(path) for path in paths}
    return {name: named(text, true) for name, text in made.items()}


def named(text: str, digests: dict[str, str]) -> str:
    """Write names in place of digests, which would change with the last digit of any number."""
    return re.sub(
        r"\b[0-9a-f]{64}\b", lambda found: f"SHA-256 of {digests[found[0]]}" if found[0] in digests else found[0], text
    )


def _seals(folder: Path) -> dict[str, str]:
    """Return the digest of each record, which `gazeveil verify` checks."""
    records = folder.rglob("release.json")
    return {json.loads(path.read_text(encoding="utf-8"))["digest"]: "this record" for path in records}


def of_file(path: Path) -> str:
    """Return one file as text."""
    kind = path.suffix.lower()
    if kind in TEXT:
        text = path.read_bytes().decode("utf-8")
        return _INLINE.sub(lambda found: f"picture {of_picture(base64.b64decode(found[1]))}", text)
    if kind == ".parquet":
        return of_parquet(path)
    if kind in {".npz", ".npy"}:
        return of_arrays(path)
    if kind in {".png", ".gif"}:
        return of_picture(path.read_bytes())
    if kind == ".mp4":
        return of_film(path)
    return f"{path.stat().st_size} bytes, SHA-256 {hashlib.sha256(path.read_bytes()).hexdigest()}\n"


def of_table(table: pl.DataFrame) -> str:
    """Return a table as text, a row a line, numbers with all of their digits."""
    head = " | ".join(f"{name}: {kind}" for name, kind in table.schema.items())
    return "\n".join([head, *(" | ".join(map(_value, row)) for row in table.iter_rows())]) + "\n"


def of_parquet(path: Path) -> str:
    """Return a Parquet file as text: its label, and its table."""
    return label_of(path) + of_table(pl.read_parquet(path, hive_partitioning=False))


def label_of(path: Path) -> str:
    """Return what a Parquet file says about itself."""
    label = {name: text for name, text in pl.read_parquet_metadata(path).items() if name != "ARROW:schema"}
    return "".join(f"{name} = {text}\n" for name, text in sorted(label.items()))


def of_arrays(path: Path) -> str:
    """Return arrays as text: what each is called, its shape and type, and its numbers, a row a line."""
    with np.load(path, allow_pickle=False) if path.suffix == ".npz" else _one(path) as held:
        return "".join(_array(name, held[name]) for name in sorted(held))


class _one(dict[str, Any]):  # noqa: N801  (a context like a file of arrays)
    def __init__(self, path: Path) -> None:
        super().__init__({"array": np.load(path, allow_pickle=False)})

    def __enter__(self) -> _one:
        return self

    def __exit__(self, *_: object) -> None:
        return None


def _array(name: str, array: Any) -> str:
    rows = array.reshape(-1, array.shape[-1]) if array.ndim else array.reshape(1, 1)
    lines = "".join(" ".join(map(_value, row.tolist())) + "\n" for row in rows)
    return f"[{name}] {array.dtype.str.lstrip('<>|=')} {'x'.join(map(str, array.shape)) or 'one value'}\n{lines}"


def of_picture(data: bytes) -> str:
    """Return a picture, or a moving one, as the sums of its blocks of pixels."""
    from PIL import Image, ImageSequence

    with Image.open(io.BytesIO(data)) as opened:
        frames = [np.asarray(frame.convert("RGBA"), dtype=np.int64) for frame in ImageSequence.Iterator(opened)]
        head = f"{opened.format} {opened.width}x{opened.height}, {len(frames)} frames\n"
    return head + "".join(f"frame {number}\n{_blocks(frame)}" for number, frame in enumerate(frames))


def of_film(path: Path) -> str:
    """Return how large and how long a film is; its frames lie beside it, and no encoder is asked to be the same."""
    import cv2

    film = cv2.VideoCapture(str(path))
    facts = [
        int(film.get(each)) for each in (cv2.CAP_PROP_FRAME_WIDTH, cv2.CAP_PROP_FRAME_HEIGHT, cv2.CAP_PROP_FRAME_COUNT)
    ]
    rate = film.get(cv2.CAP_PROP_FPS)
    film.release()
    return f"film {facts[0]}x{facts[1]}, {facts[2]} frames, {rate:.3f} a second\n"


def _blocks(pixels: Any) -> str:
    """Return the sums of all channels in each block, a row of blocks a line."""
    across, down = BLOCKS
    rows = np.array_split(pixels.sum(axis=2), down, axis=0)
    return "".join(" ".join(f"Σ{block.sum()}" for block in np.array_split(row, across, axis=1)) + "\n" for row in rows)


def _value(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
