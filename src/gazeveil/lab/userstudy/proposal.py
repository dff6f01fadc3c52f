# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What ``gazeveil lab userstudy init`` writes: a study with Wilson's conditions, its policy, texts for consent."""

from __future__ import annotations

from pathlib import Path

from gazeveil.errors import OutputError
from gazeveil.files import replacing

STUDY = """# A user study: what do mechanisms cost the participant who plays? Check every line.
# gazeveil lab userstudy serve userstudy.toml     starts the gateway and the game
# gazeveil lab userstudy play userstudy.toml      lets simulated participants play, before anyone comes
# gazeveil lab userstudy report userstudy.toml    analyses what there is
format = "gazeveil-user-study"
version = 1
name = "{name}"
policy = "policy.toml"
languages = ["en", "de"]
controls = ["dwell", "key"]        # look for half a second; or look and press a key
order = "latin"                    # or "random"
key = "{name}"                     # public: orders and places of targets follow from it
forms = ["sysuse", "comfort"]      # after each condition; known: {forms}
last_forms = ["privacy", "open"]
free = "game-free"                 # at the end participants choose the level themselves; remove the line if not
free_s = 120

[consent]
en = "consent.en.txt"
de = "consent.de.txt"

# As in Wilson et al. 2024, section 4: 15 targets and 15 distractors in 30 seconds, from 1 to 5 metres a second.
[trial]
seconds = 30
targets = 15
distractors = 15
repeats = 2
slowest = 1
fastest = 5
dwell_s = 0.5
practice_s = 15
"""
CONDITIONS = (
    ("none", "none", "none", "off"),
    ("gaussian-low", "gaussian", "low", "gaussian-low"),
    ("gaussian-high", "gaussian", "high", "gaussian-high"),
    ("spatial-low", "spatial", "low", "spatial-low"),
    ("spatial-high", "spatial", "high", "spatial-high"),
    ("smoothing-low", "smoothing", "low", "smoothing-low"),
    ("smoothing-high", "smoothing", "high", "smoothing-high"),
)
"""Name, mechanism, strength, and preset."""
CONDITION = """
[[condition]]
name = "{name}"
mechanism = "{mechanism}"
strength = "{strength}"
app = "game-{name}"
"""
POLICY = """# The gateway of a user study: one app for each condition, all of them the same game.
version = 1

[gateway]
ledger = "ledger.sqlite"
control = "127.0.0.1:{control}"
lease_s = 5

# The tracker. As written it is whatever sends gaze with the token (the mouse, a webcam page, a simulated participant).
# For a tracker of your own see the how-to "Write a policy": protocol = "opengaze", "pupil", "lsl" …
[[tracker]]
name = "eye"
protocol = "push"
listen = "127.0.0.1:{tracker}"
token_file = "tracker.token"
take_over = true
participant = "participant"
screen = {{ width_px = 1920, height_px = 1080, width_mm = 527, height_mm = 296, distance_mm = 600 }}
"""
APP = """
[[app]]
name = "game-{name}"
tracker = "eye"
protocol = "websocket"
listen = "127.0.0.1:{port}"
veil = {{ preset = "{preset}" }}
unproven = "allow"   # {why}
"""
FREE = """
[[app]]
name = "game-free"
tracker = "eye"
protocol = "websocket"
listen = "127.0.0.1:{port}"
veil = {{ preset = "lphu" }}
levels = ["lphu", "mpmu", "hplu"]
epsilon_at_most = 3
window_at_least = 0.5
window_at_most = 2
radius_at_least = "90px"

[[budget]]
participant = "participant"
epsilon_per_day = 1000000   # participants play made-up scenes; for gaze at private things set a real limit
unproven = "allow"            # conditions without a guarantee are what the study compares
radius = "90px"
"""
CONSENT = {
    "en": """You play a game with your eyes, in rounds of half a minute, and answer questions about it.
What is kept: what the game received of your gaze, your hits and misses, and your answers, under a label, not your name.
In rounds without protection that is your gaze as the tracker saw it.
You can stop at any time. If you do not agree, nothing is kept.
Replace this text by the one that your ethics board has approved.
""",
    "de": """Sie spielen mit den Augen ein Spiel in Runden von einer halben Minute und beantworten Fragen dazu.
Gespeichert wird: was das Spiel von Ihrem Blick erhielt, Ihre Treffer und Fehler und Ihre Antworten, unter einem Kürzel,
nicht unter Ihrem Namen. In Runden ohne Schutz ist das Ihr Blick, wie der Eyetracker ihn sah.
Sie können jederzeit aufhören. Wenn Sie nicht einwilligen, wird nichts gespeichert.
Ersetzen Sie diesen Text durch den, den Ihre Ethikkommission genehmigt hat.
""",
}


def propose(folder: Path, name: str, first_port: int = 7400) -> list[Path]:
    """Write a study, its policy and texts for consent into a folder; return the files.

    Raises:
        OutputError: If one of them is there already.
    """
    from gazeveil.lab.userstudy.design import FORMS  # noqa: PLC0415

    texts = {f"consent.{language}.txt": text for language, text in CONSENT.items()}
    texts["userstudy.toml"] = STUDY.format(name=name, forms=", ".join(FORMS)) + "".join(
        CONDITION.format(name=each, mechanism=mechanism, strength=strength)
        for each, mechanism, strength, _ in CONDITIONS
    )
    texts["policy.toml"] = policy_text(first_port)
    there = [file for file in texts if (folder / file).exists()]
    if there:
        raise OutputError(f"{folder / there[0]} is there already", hint="choose another folder, or move it away")
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in texts.items():
        with replacing(folder / file) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="\n")
    return [folder / file for file in texts]


def policy_text(first_port: int) -> str:
    """Return the gateway's policy: control API and tracker at the first two ports, then one app after the other."""
    apps = [
        APP.format(
            name=name, preset=preset, port=first_port + 2 + place,
            why="the condition without a mechanism: gaze as it is" if preset == "off" else "it has no proven guarantee",
        )
        for place, (name, _, _, preset) in enumerate(CONDITIONS)
    ]  # fmt: skip
    free = FREE.format(port=first_port + 2 + len(CONDITIONS))
    return POLICY.format(control=first_port, tracker=first_port + 1) + "".join(apps) + free
