# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The software bill of materials: what comes with gazeveil when it is installed, in CycloneDX's JSON."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from tools.release.words import NotReady


def write_bill(environment: Path, tool: Path, target: Path, version: str) -> str:
    """Write the bill of an environment; return how much it lists.

    Raises:
        NotReady: If it cannot be made, or gazeveil or one of its dependencies is not on it.
    """
    # No time and no random number inside: the same environment gives the same file.
    command = [str(tool), "environment", "--output-reproducible", "--output-format", "JSON"]
    command += ["--output-file", str(target), str(environment)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONUTF8": "1"}, check=False)
    if done.returncode:
        raise NotReady(f"no bill of materials: {done.stderr.strip().splitlines()[-1]}")
    document = json.loads(target.read_text(encoding="utf-8"))
    return check_bill(document, version)


def check_bill(document: dict[str, Any], version: str) -> str:
    """Return how much a bill lists.

    Raises:
        NotReady: If gazeveil or one of its dependencies is not on it.
    """
    if document.get("bomFormat") != "CycloneDX":
        raise NotReady("the bill of materials is not CycloneDX")
    listed = {part["bom-ref"]: part for part in document.get("components", [])}
    ours = [part for part in listed.values() if part["name"] == "gazeveil"]
    if [part["version"] for part in ours] != [version]:
        raise NotReady(f"the bill of materials does not list gazeveil {version}")
    needs = {part["ref"]: part.get("dependsOn", []) for part in document.get("dependencies", [])}
    direct = needs.get(ours[0]["bom-ref"], [])
    if not direct or not set(direct) <= set(listed):
        raise NotReady("the bill of materials does not list what gazeveil depends on")
    without = sorted(part["name"] for part in listed.values() if not part.get("licenses"))
    unstated = f"; without a stated licence: {', '.join(without)}" if without else ""
    return f"{len(listed)} packages, {len(direct)} of them asked for by gazeveil{unstated}"
