# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Model files, and the recogniser that enrols and finds people with them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gazeveil.errors import FileFormatError, InputError, OptionError
from gazeveil.lab.attacks import RECOGNISERS, Trial
from gazeveil.lab.attacks.ekyt.files import Fold, Model, load_model, save_arrays
from gazeveil.lab.attacks.ekyt.windows import Scale
from gazeveil.lab.attacks.recognisers import ekyt
from gazeveil.lab.attacks.recognisers.ekyt import Ekyt
from gazeveil.lab.attacks.recognisers.ekyt_tuned import TunedEkyt

RATE = 62.5


def trial(person: str, seed: int, seconds: float = 8.0, session: str = "1") -> Trial:
    rng = np.random.default_rng(seed)
    t = np.arange(round(seconds * 90)) / 90.0
    x, y = np.cumsum(rng.normal(0, 0.3, (2, len(t))), axis=1)
    return Trial(person, session, "1", t, x, y, 90.0)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch")
    from gazeveil.lab.attacks.ekyt.network import Embedder

    folds = tuple(
        Fold({name: values.numpy() for name, values in Embedder(seed=seed).state_dict().items()}, Scale(0.5, 40.0))
        for seed in (1, 2)
    )
    path = tmp_path_factory.mktemp("model") / "model.npz"
    Model(folds, RATE, 5.0, {"data": "none"}).save(path)
    return path


def test_a_model_comes_back_as_it_was(model: Path) -> None:
    loaded = load_model(model)
    assert len(loaded.folds) == 2
    assert (loaded.rate_hz, loaded.seconds, loaded.about) == (RATE, 5.0, {"data": "none"})
    assert loaded.folds[1].scale == Scale(0.5, 40.0)
    assert loaded.folds[0].state["embed.weight"].shape == (128, 258)
    assert not np.array_equal(loaded.folds[0].state["embed.weight"], loaded.folds[1].state["embed.weight"])


def test_half_a_model_takes_half_the_room_and_embeds_nearly_the_same(model: Path, tmp_path: Path) -> None:
    from gazeveil.lab.attacks.ekyt.network import Ensemble

    whole = load_model(model)
    whole.save(tmp_path / "half.npz", half=True)
    half = load_model(tmp_path / "half.npz")
    assert (tmp_path / "half.npz").stat().st_size < 0.6 * model.stat().st_size
    assert half.folds[0].state["embed.weight"].dtype == np.float32
    windows = np.random.default_rng(1).normal(0, 40, (4, 2, 200))
    ours, theirs = Ensemble(whole).embed(windows), Ensemble(half).embed(windows)
    assert np.abs(ours - theirs).max() < 0.01 * np.abs(ours).max()


def test_a_file_that_is_no_model_is_told(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.npz"
    with pytest.raises(InputError, match="there is no file"):
        load_model(path)
    path.write_bytes(model.read_bytes()[:5000])
    with pytest.raises(FileFormatError, match="expected a model of EKYT"):
        load_model(path)
    path.write_bytes(b"not a model")
    with pytest.raises(FileFormatError, match="expected a model of EKYT"):
        load_model(path)
    np.savez(path, about=np.array({"code": "evil"}, dtype=object))
    with pytest.raises(FileFormatError, match="allow_pickle"):
        load_model(path)
    save_arrays(path, {}, {"kind": "checkpoint"})
    with pytest.raises(FileFormatError, match=r"checkpoint"):
        load_model(path)
    save_arrays(path, {}, {"kind": "model", "scales": [], "rate_hz": 1, "seconds": 1, "about": {}})
    with pytest.raises(FileFormatError, match="without parameters"):
        load_model(path)
    save_arrays(path, {}, {"kind": "model"})
    with pytest.raises(FileFormatError, match="faulty description"):
        load_model(path)


def test_parameters_that_do_not_fit_are_told() -> None:
    pytest.importorskip("torch")
    from gazeveil.lab.attacks.ekyt.network import Ensemble

    with pytest.raises(InputError, match="do not fit"):
        Ensemble(Model((Fold({"embed.weight": np.zeros((3, 3))}, Scale(0, 1)),), RATE, 5.0, {}))


def test_it_is_found_by_name_and_sees_velocity_alone() -> None:
    assert RECOGNISERS["ekyt"] is Ekyt
    assert Ekyt().sees == frozenset()


def test_everybody_is_scored_by_their_most_alike_window(model: Path) -> None:
    reference = [trial("cleo", 3), trial("ann", 1), trial("bob", 2, seconds=5.0), trial("ann", 4, session="2")]
    gallery = Ekyt(model).enrol(reference)
    assert gallery.people == ("ann", "bob", "cleo")
    scores = gallery.windows(trial("", 1))
    assert scores.shape == (4, 3)
    np.testing.assert_allclose(scores[:, 0], 1.0, atol=1e-5)
    assert (scores[:, 1:] < 0.999).all()
    assert (scores <= 1.0 + 1e-5).all()


def test_windows_slide_as_asked(model: Path) -> None:
    gallery = Ekyt(model, seconds=2.0, step=0.5).enrol([trial("ann", 1)])
    assert gallery.windows(trial("", 1)).shape == (13, 1)


def test_where_gaze_is_does_not_matter(model: Path) -> None:
    gallery = Ekyt(model).enrol([trial("ann", 1), trial("bob", 2)])
    query = trial("", 5)
    moved = Trial("", "1", "1", query.t, query.x + 7.0, query.y - 3.0, 90.0)
    np.testing.assert_allclose(gallery.windows(query), gallery.windows(moved), atol=1e-4)


def test_a_query_without_a_usable_window_has_no_row(model: Path) -> None:
    gallery = Ekyt(model).enrol([trial("ann", 1)])
    assert gallery.windows(trial("", 1, seconds=3.0)).shape == (0, 1)
    lost = trial("", 1)
    assert gallery.windows(lost.with_gaze(np.full_like(lost.x, np.nan), lost.y)).shape == (0, 1)


def test_nobody_to_enrol_is_an_error(model: Path) -> None:
    with pytest.raises(InputError, match="usable window"):
        Ekyt(model).enrol([trial("ann", 1, seconds=2.0)])


def test_no_model_at_all_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(ekyt, "SHIPPED", tmp_path / "none.npz")
    with pytest.raises(InputError, match="gazeveil lab attack train ekyt"):
        Ekyt().enrol([trial("ann", 1)])
    pytest.importorskip("torch")
    with pytest.raises(InputError, match="there is no file"):
        Ekyt(tmp_path / "lost.npz").enrol([trial("ann", 1)])


def test_a_model_that_was_replaced_is_read_again(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.npz"
    folds = load_model(model).folds
    Model(folds[:1], RATE, 5.0, {}).save(path)
    before = Ekyt(path).enrol([trial("ann", 1), trial("bob", 2)]).windows(trial("", 7))
    Model(folds[1:], RATE, 5.0, {}).save(path)
    after = Ekyt(path).enrol([trial("ann", 1), trial("bob", 2)]).windows(trial("", 7))
    assert not np.allclose(before, after)


def unlike(person: int, session: int) -> Trial:
    """Gaze that everybody moves alike but for a tremor of their own."""
    rng = np.random.default_rng([person, session])
    t = np.arange(12 * 90) / 90.0
    x, y = np.cumsum(rng.normal(0, 0.1, (2, len(t))), axis=1)
    tremor = 0.15 * np.sin(2 * np.pi * (6 + 2 * person) * t + rng.uniform(0, 6))
    return Trial(f"p{person}", str(session), "1", t, x + tremor, y - tremor, 90.0)


def test_a_last_layer_learnt_on_the_reference_tells_its_people_apart(model: Path) -> None:
    known = [unlike(person, session) for person in range(4) for session in (1, 2)]
    asked = [unlike(person, session) for person in range(4) for session in (3, 4, 5)]
    right = {}
    for kind in (Ekyt, TunedEkyt):
        gallery = kind(model).enrol(known)
        scores = [gallery.windows(trial.anonymous()).mean(axis=0) for trial in asked]
        names = [gallery.people[int(row.argmax())] for row in scores]
        right[kind] = sum(name == trial.person for name, trial in zip(names, asked, strict=True))
    assert right[TunedEkyt] >= 10  # of 12
    assert right[TunedEkyt] > right[Ekyt]


def test_what_the_last_layer_sees_gives_the_embedding(model: Path) -> None:
    from gazeveil.lab.attacks.ekyt.network import Ensemble

    loaded = load_model(model)
    ensemble = Ensemble(loaded)
    velocity = np.random.default_rng(1).normal(0, 40, (2, 600))
    for samples, step in ((312, 62), (100, 100)):
        averages = ensemble.averages_sliding(velocity, samples, step)
        layers = [(fold.state["embed.weight"], fold.state["embed.bias"]) for fold in loaded.folds]
        made = [averages[:, number] @ weight.T + offset for number, (weight, offset) in enumerate(layers)]
        expected = ensemble.embed_sliding(velocity, samples, step)
        np.testing.assert_allclose(np.concatenate(made, axis=1), expected, atol=1e-4)


def test_behind_a_veil_the_tuned_network_learns_from_the_veiled_reference_alone(model: Path) -> None:
    recogniser = TunedEkyt(model)
    assert recogniser.trained_on([trial("ann", 1)]) is recogniser


def test_bad_windows_are_refused() -> None:
    with pytest.raises(OptionError, match="step"):
        Ekyt(step=0.0)
    with pytest.raises(OptionError, match="seconds"):
        Ekyt(seconds=float("inf"))


def test_the_registry_works_without_torch_and_use_says_what_to_install(model: Path) -> None:
    code = f"""
import sys
sys.modules["torch"] = None
import numpy as np
from pathlib import Path
from gazeveil.lab.attacks import RECOGNISERS, Trial
from gazeveil.errors import MissingExtra
t = np.arange(900) / 90.0
try:
    RECOGNISERS["ekyt"](Path({str(model)!r})).enrol([Trial("ann", "1", "1", t, t, t, 90.0)])
except MissingExtra as error:
    print(error)
"""
    told = subprocess.run([sys.executable, "-c", code], check=True, timeout=100, capture_output=True, text=True).stdout
    assert "gazeveil[attacks]" in told
