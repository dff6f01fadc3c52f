# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Released heatmaps of a whole study, or of a stretch of time, as a folder of files: there whole or not at all."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gazeveil.aggregate.movie_plan import MovieEstimate
from gazeveil.aggregate.strategy import Estimate
from gazeveil.aggregate.study_plan import StudyEstimate
from gazeveil.errors import FileFormatError
from gazeveil.files import replacing
from gazeveil.gaze.geometry import Geometry
from gazeveil.privacy.release import Release
from gazeveil.release import plots
from gazeveil.release.heatmap_files import enlarged, read_picture, table_of, write_promise
from gazeveil.release.video import Frames, write_videos
from gazeveil.types import Tell, silent

Picture = NDArray[np.uint8]

_LONGEST_NAME = 150


def read_weights(path: Path) -> dict[str, float]:
    """Read the weights of stimuli from a TOML file with a table ``weights``.

    Raises:
        FileFormatError: If it is not such a file.
    """
    wanted = 'TOML with a table [weights], such as "forest.png" = 2'
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FileFormatError(path, expected=wanted, found=str(error)) from None
    weights = values.get("weights")
    if not isinstance(weights, dict) or set(values) != {"weights"}:
        raise FileFormatError(path, expected=wanted, found=f"the keys {', '.join(values) or 'none'}")
    for name, weight in weights.items():
        if isinstance(weight, bool) or not isinstance(weight, int | float):
            raise FileFormatError(path, expected="a number", found=repr(weight), column=name)
    return weights


def read_pictures(folder: Path, stimuli: tuple[str, ...], geometry: Geometry) -> dict[str, Picture]:
    """Read the pictures of stimuli from a folder: ``NAME`` or ``NAME.png``; stimuli without one are left out.

    Raises:
        FileFormatError: If there is no such folder, or no picture of any stimulus in it.
        InputError: If a picture cannot be read, or has other proportions than the plane.
    """
    found = {}
    for name in stimuli:
        if "/" in name or "\\" in name or name in {"", ".", ".."}:
            continue
        for path in (folder / name, folder / f"{name}.png"):
            if path.is_file():
                found[name] = read_picture(path, geometry)
                break
    if not found:
        raise FileFormatError(folder, expected="pictures named like the stimuli", found="none of them")
    return found


def write_study(
    release: Release,
    geometry: Geometry,
    folder: Path,
    *,
    pictures: Mapping[str, Picture] | None = None,
    tell: Tell = silent,
) -> list[Path]:
    """Write the heatmaps of a study, whose charge is paid."""
    study: StudyEstimate = release.value
    with replacing(folder) as target:
        target.mkdir()
        _draw(study.mean, geometry, target, "mean", None, "private heatmap, mean over all stimuli")
        arrays: dict[str, Any] = {
            "mean": study.mean.map,
            "mean_noise_sd": study.mean.noise_sd,
            "prior": study.mean.prior,
        }
        tables = [table_of(study.mean, stimulus=None)]
        if study.maps:
            (target / "stimuli").mkdir()
            arrays["stimuli"] = np.array(list(study.maps))
            arrays["maps"] = np.stack([estimate.map for estimate in study.maps.values()])
            arrays["noise_sd"] = np.stack([estimate.noise_sd for estimate in study.maps.values()])
        for done, (name, estimate) in enumerate(study.maps.items()):
            tell(done, len(study.maps))
            tables.append(table_of(estimate, stimulus=name))
            picture = (pictures or {}).get(name)
            _draw(estimate, geometry, target / "stimuli", _file_name(name), picture, name)
        np.savez_compressed(target / "heatmaps.npz", **arrays)
        pl.concat(tables).write_parquet(target / "heatmaps.parquet")
        shares = {name: estimate.data_share for name, estimate in study.maps.items()}
        write_promise(release, target, {"data_share": {"mean": study.mean.data_share, "stimuli": shares}})
        names = _names(target)
    return [folder / name for name in names]


def write_movie(
    release: Release,
    geometry: Geometry,
    folder: Path,
    *,
    picture: Picture | None = None,
    speed: float = 1.0,
    tell: Tell = silent,
) -> list[Path]:
    """Write a dynamic heatmap, whose charge is paid: data, a picture for each bin, and videos."""
    movie: MovieEstimate = release.value
    drawn = movie.frames
    with replacing(folder) as target:
        target.mkdir()
        (target / "frames").mkdir()
        _draw(drawn.mean, geometry, target, "mean", picture, "private heatmap, mean over time")
        tables = []
        for number in range(len(drawn.maps)):
            tell(number, len(drawn.maps))
            estimate = drawn.estimate(number)
            start, stop = float(movie.edges[number]), float(movie.edges[number + 1])
            times = {"bin": pl.lit(number), "start": pl.lit(start), "stop": pl.lit(stop)}
            tables.append(table_of(estimate).with_columns(**times).select(*times, pl.exclude(*times)))
            _draw(estimate, geometry, target / "frames", f"{number:04d}", picture, f"{start:g} to {stop:g} s")
        np.savez_compressed(
            target / "movie.npz",
            maps=drawn.maps,
            noise_sd=drawn.noise_sd,
            edges=movie.edges,
            mean=drawn.mean.map,
            prior=drawn.mean.prior,
        )
        pl.concat(tables).write_parquet(target / "movie.parquet")
        write_videos(Frames.of(drawn.maps, movie.edges, geometry, picture), target, speed=speed)
        shares = [float(share) for share in drawn.data_share]
        write_promise(release, target, {"data_share": {"mean": drawn.mean.data_share, "bins": shares}})
        names = _names(target)
    return [folder / name for name in names]


def _draw(estimate: Estimate, geometry: Geometry, folder: Path, name: str, picture: Picture | None, title: str) -> None:
    (folder / f"{name}.png").write_bytes(plots.map_picture(estimate.map, geometry, title))
    errors = plots.map_picture(estimate.noise_sd, geometry, f"{title}: standard deviation of the noise")
    (folder / f"{name}.errors.png").write_bytes(errors)
    if picture is not None:
        large = enlarged(estimate.map, picture.shape[0], picture.shape[1])
        (folder / f"{name}.overlay.png").write_bytes(plots.heat_over_picture(picture, large, title))


def _file_name(stimulus: str) -> str:
    """Return a name that every file system takes, and that no two stimuli share."""
    safe = quote(stimulus, safe=" ()[]+,=@").replace("%20", " ")
    if len(safe) > _LONGEST_NAME:
        return f"{safe[:_LONGEST_NAME]}-{hashlib.sha256(stimulus.encode()).hexdigest()[:12]}"
    return "_" if safe in {"", ".", ".."} else safe


def _names(target: Path) -> list[str]:
    return sorted(str(path.relative_to(target)) for path in target.rglob("*") if path.is_file())
