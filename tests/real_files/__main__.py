# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.real_files FOLDER``: read the listed real files and compare every sample with a plain parse.

FOLDER holds them as OWNER+NAME@COMMIT/path; they are no part of the project. It ends with 1 if a value differs, and
with 0 where the folder is not there, because then there is nothing to check.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.real_files.checking import check
from tests.real_files.page import page, table
from tests.real_files.sources import LIST, collect, sources


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.real_files", description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder of real files")
    parser.add_argument("--sources", type=Path, default=LIST, help="the list of files (default: the project's)")
    parser.add_argument("--collect", type=Path, metavar="CLONES", help="first copy the files out of these clones")
    parser.add_argument("--json", action="store_true", help="print what came of each file, as JSON")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="write the page of results; needs every file")
    given = parser.parse_args(words)
    if given.collect:
        for name in collect(given.collect, given.folder, given.sources):
            print(f"not in the clone: {name}", file=sys.stderr)
    if not given.folder.is_dir():
        print(f"{given.folder} is not there: no real files to check")
        return 0
    checked = [(source, check(source, given.folder)) for source in sources(given.sources)]
    outcomes = [outcome for _, outcome in checked if outcome is not None]
    absent = [source for source, outcome in checked if outcome is None]
    if given.json:
        print(json.dumps([outcome.to_dict() for outcome in outcomes], indent=2))
    else:
        for each in outcomes:
            if each.refusal or not each.equal:
                print(f"{each.repository}: {each.path}: {each.refusal or 'values differ'}")
        print(table(outcomes))
        for source in absent:
            print(f"not there: {source.repository}: {source.path}")
    if given.write and absent:
        print(f"the page is not written: {len(absent)} files are not there", file=sys.stderr)
        return 2
    if given.write:
        given.write.write_text(page(outcomes), encoding="utf-8")
    return 1 if any(outcome.equal is False for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
