# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Rewrite golden copies, and say what changed: `python -m tests.golden [NAME …]`; `--check` rewrites nothing.

A name also stands for all copies whose names begin with it: `python -m tests.golden heatmap`.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path


def main(arguments: list[str]) -> int:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from tests.golden import copies
    from tests.golden.comparing import DATA, as_text, differences, path_of

    only_check = "--check" in arguments
    wanted = [each for each in arguments if not each.startswith("-")]
    chosen = [
        name
        for name in copies.names()
        if not wanted or any(name.startswith(each) or name.split("/")[1].startswith(each) for each in wanted)
    ]
    changed = 0
    with tempfile.TemporaryDirectory() as place:
        for name in chosen:
            copy = copies.made(name, Path(place))
            lines = differences(name, copy)
            changed += bool(lines)
            for line in lines:
                print(f"{name}: {line}", flush=True)
            if lines and not only_check:
                path_of(name).parent.mkdir(parents=True, exist_ok=True)
                path_of(name).write_text(as_text(copy), encoding="utf-8", newline="\n")
    if not wanted:
        for name in sorted(copies.kept() - set(chosen)):
            changed += 1
            print(f"{name}: nothing makes this copy any more")
            if not only_check:
                path_of(name).unlink()
    size = sum(path.stat().st_size for path in DATA.rglob("*") if path.is_file())
    done = "differ" if only_check else "were rewritten"
    print(f"{changed} of {len(chosen)} golden copies {done}; {size / 1e6:.1f} MB in all")
    return 1 if only_check and changed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
