# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What is tried in a fresh environment: ``python -I trials.py NAME VERSION``, in an empty folder.

It runs beside the installed package, away from the repository, and imports nothing of it.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path


def plain(version: str) -> str:
    """Go the whole way of a release; an extra that is missing is asked for by name."""
    import gazeveil
    from gazeveil.display import canvas
    from gazeveil.errors import MissingExtra

    home = Path(gazeveil.__file__).resolve()
    _expect(home.is_relative_to(Path(sys.prefix).resolve()), f"gazeveil was imported from {home}")
    _expect(gazeveil.__version__ == version, f"version {gazeveil.__version__}")
    _expect(version in _run("--version"), "the command has another version")
    try:
        canvas()
        _expect(False, "pictures were drawn without the extra")
    except MissingExtra as error:
        _expect("gazeveil[plots]" in str(error.hint), f"the hint is {error.hint}")
    _run("simulate", "--participants", "8", "--stimuli", "1", "--out", "lab")
    _run("info", "lab")
    _run("study", "init", "lab", "--out", "study.toml")
    _run(
        "heatmap",
        "lab",
        "--study",
        "study.toml",
        "--stimulus",
        "scene-01",
        "--epsilon",
        "1",
        "--no-ledger",
        "--anyway",
        "--out",
        "map",
    )
    _run("verify", "map")
    _run("policy", "example", "policy.toml")
    return "simulate, info, study init, heatmap, verify"


def plots() -> str:
    """Draw a picture."""
    from gazeveil.display import canvas, png

    figure, axes = canvas()
    axes.plot([0, 1])
    _expect(png(figure).startswith(b"\x89PNG"), "no picture")
    return "a picture is drawn"


def accounting() -> str:
    """Account tightly for two releases."""
    from fractions import Fraction

    from gazeveil.privacy.composition import GaussianEvent, loss_distribution_epsilon

    epsilon = loss_distribution_epsilon([GaussianEvent("4", count=2)], Fraction(1, 10**6))
    _expect(0 < epsilon < 4, f"ε = {float(epsilon)}")
    return f"two Gaussian releases: ε = {float(epsilon):.3f}"


def live() -> str:
    """Load every protocol, and check a policy."""
    import importlib
    import pkgutil

    from gazeveil.gateway import protocols

    names = [name for _, name, _ in pkgutil.iter_modules(protocols.__path__)]
    for name in [f"gazeveil.gateway.protocols.{name}" for name in names] + ["gazeveil.gateway.serve"]:
        importlib.import_module(name)
    for name in ("msgpack", "msgspec", "prometheus_client", "pylsl", "starlette", "uvicorn", "websockets", "zmq"):
        importlib.import_module(name)
    _run("policy", "example", "policy.toml")
    _run("policy", "check", "policy.toml")
    return f"{len(names)} modules of protocols, a policy is checked"


def onnx() -> str:
    """Find out that a file is no detector."""
    from gazeveil.errors import FileFormatError
    from gazeveil.scene.onnx_finder import Detector

    path = Path("none.onnx")
    path.write_bytes(b"nothing")
    try:
        Detector.load(path)
    except FileFormatError:
        return "a file that is no detector is refused"
    raise SystemExit("a file that is no detector was loaded")


def picture() -> str:
    """Predict gaze from pixels."""
    import numpy as np

    from gazeveil.gaze.picture_model import content_of

    pixels = np.zeros((120, 160, 3), dtype=np.uint8)
    pixels[40:60, 100:130] = 255
    found = content_of(pixels)
    _expect(bool(np.isfinite(found).all()), "a prediction that is no number")
    return f"a map of {found.shape[0]} x {found.shape[1]} cells is predicted"


def postgres() -> str:
    """Fail to reach a server, with an error of ours."""
    from gazeveil import GazeveilError, Ledger
    from gazeveil.errors import MissingExtra

    try:
        Ledger.open("postgresql://127.0.0.1:1/none?connect_timeout=2", patience_s=1)
    except MissingExtra:
        raise
    except GazeveilError as error:
        return f"{type(error).__name__} where no server is"
    raise SystemExit("a ledger was opened where no server is")


def scene() -> str:
    """Look at a picture."""
    import cv2
    import mss
    import numpy as np

    pixels = np.zeros((120, 160, 3), dtype=np.uint8)
    pixels[30:60, 40:80] = 255
    cv2.imwrite("scene.png", pixels)
    _run("scene", "scene.png", "--json")
    return f"a picture is looked at; mss {mss.__version__}"


def userstudy() -> str:
    """Say how many participants a user study needs."""
    _run("lab", "userstudy", "power", "--difference", "1", "--conditions", "2")
    return "lab userstudy power"


def browser() -> str:
    """Open a browser, where there is one."""
    from gazeveil.errors import InputError
    from gazeveil.lab.userstudy.playing import opened_browser

    try:
        with opened_browser() as found:
            return f"Chromium {found.version}"
    except InputError as error:
        return str(error)


def attacks() -> str:
    """Load the network that identifies participants, and shrink wavelets."""
    import pywt
    import skimage
    import sklearn
    import torch

    from gazeveil.lab.attacks.ekyt.files import load_model
    from gazeveil.lab.attacks.recognisers.ekyt import SHIPPED

    folds = len(load_model(SHIPPED).folds)
    others = ", ".join(f"{each.__name__} {each.__version__}" for each in (torch, skimage, sklearn, pywt))
    return f"{folds} folds of EKYT; {others}"


def spark() -> str:
    """Start Spark, where there is Java."""
    from gazeveil.engines.spark import context_at

    if shutil.which("java") is None:
        import pyspark

        return f"pyspark {pyspark.__version__} is there; no Java to start it"
    context = context_at("local[1]")
    _expect(context.parallelize([1, 2]).sum() == 3, "Spark cannot add")
    version = context.version
    context.stop()
    return f"Spark {version} adds"


EXTRAS: dict[str, Callable[[], str]] = {
    each.__name__: each
    for each in (plots, accounting, live, onnx, picture, postgres, scene, userstudy, browser, attacks, spark)
}


def _run(*arguments: str) -> str:
    """Run a command of the environment as a user would."""
    done = subprocess.run(
        [sys.executable, "-I", "-m", "gazeveil", *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode:
        words = (done.stderr or done.stdout).strip().replace("\n", " / ")
        raise SystemExit(f"gazeveil {' '.join(arguments)}: exit {done.returncode}: {words[-400:]}")
    return done.stdout


def _expect(right: bool, otherwise: str) -> None:
    if not right:
        raise SystemExit(otherwise)


def main() -> None:
    """Run the trial that is named."""
    name, version = sys.argv[1:]
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    print(plain(version) if name == "plain" else EXTRAS[name]())


if __name__ == "__main__":
    main()
