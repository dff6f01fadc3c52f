# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The privacy statement as a card for the web."""

from __future__ import annotations

import re
from base64 import b64encode
from html import escape
from typing import TYPE_CHECKING

from gazeveil.exact import decimal_up
from gazeveil.privacy.unit import WindowOfGaze

if TYPE_CHECKING:
    from gazeveil.privacy.statement import Statement

_STYLE = """
.gazeveil-card{--ink:#1c2430;--soft:#5a6577;--paper:#fff;--line:#dfe4ec;--good:#1f7a5c;--warn:#9a5b00;--bad:#a3352b;--track:#e9edf3;
box-sizing:border-box;max-width:40rem;margin:1rem auto;padding:1.5rem 1.75rem;border:1px solid var(--line);
border-radius:.9rem;background:var(--paper);color:var(--ink);font:1rem/1.55 system-ui,sans-serif;
box-shadow:0 1px 3px rgb(0 0 0/.06)}
.gazeveil-card h2{margin:0 0 .25rem;font-size:1.2rem;line-height:1.3}
.gazeveil-card p{margin:.4rem 0 0}
.gazeveil-card dl{margin:1rem 0 0}
.gazeveil-card dt{margin-top:.8rem;font-size:.8rem;font-weight:600;letter-spacing:.04em;text-transform:uppercase;
color:var(--soft)}
.gazeveil-card dd{margin:.15rem 0 0}
.gazeveil-card details{margin:.6rem 0 0}
.gazeveil-card summary{cursor:pointer;font-weight:600}
.gazeveil-card ul{margin:.15rem 0 0;padding-left:1.2rem}
.gazeveil-card .verdict{display:inline-block;margin:0 0 .75rem;padding:.1rem .6rem;border-radius:1rem;font-size:.8rem;
font-weight:600;color:#fff;background:var(--good)}
.gazeveil-card .verdict.weak{background:var(--warn)}
.gazeveil-card .verdict.none{background:var(--bad)}
.gazeveil-card .belief{position:relative;height:.9rem;margin:.7rem 0 .2rem;border-radius:.45rem;background:var(--track)}
.gazeveil-card .belief i{position:absolute;top:0;bottom:0;border-radius:.45rem;background:var(--good);opacity:.8}
.gazeveil-card .belief b{position:absolute;left:50%;top:-.2rem;bottom:-.2rem;width:2px;margin-left:-1px;
background:var(--ink)}
.gazeveil-card .scale{display:flex;justify-content:space-between;font-size:.75rem;color:var(--soft)}
.gazeveil-card img{max-width:100%;margin:.6rem 0 0}
.gazeveil-card .fine{margin-top:1rem;padding-top:.8rem;border-top:1px solid var(--line);font-size:.85rem;
color:var(--soft)}
@media (prefers-color-scheme:dark){.gazeveil-card{--ink:#e8ecf3;--soft:#a3aebf;--paper:#171c24;--line:#2c3542;
--good:#3fb48a;--warn:#d9a13b;--bad:#e0705f;--track:#2a3240}.gazeveil-card .verdict{color:#10151c}}
"""


def card(statement: Statement, *, title: str, whole_page: bool, picture: bytes | None = None) -> str:
    """Return a card, or a page that holds nothing but the card."""
    shown = _shown(statement, picture)
    body = _guarantee(statement, shown) if statement.proven else _no_guarantee(statement) + shown
    of_windows = isinstance(statement.guarantee.unit, WindowOfGaze)
    strength = f"{statement.strength} for one window" if of_windows else str(statement.strength)
    verdict, marked = (f"Proven, {strength}", "verdict") if statement.proven else ("Not proven", "verdict none")
    if statement.proven and (statement.weak or statement.conditional_on):
        but = [strength] if statement.weak else []
        but += ["conditional"] if statement.conditional_on else []
        verdict, marked = f"Proven, but {' and '.join(but)}", "verdict weak"
    plain = _in_plain_words(statement) if whole_page else ""
    fragment = (
        f'<section class="gazeveil-card" lang="en"><style>{_STYLE}</style>'
        f'<span class="{marked}">{verdict}</span><h2>{escape(title)}</h2>{plain}{body}</section>'
    )
    if not whole_page:
        return fragment
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<meta name="color-scheme" content="light dark"><title>{escape(title)}</title></head>'
        f"<body>{fragment}</body></html>\n"
    )


def _in_plain_words(statement: Statement) -> str:
    """Return the statement for participants, in English and, folded away, in German."""
    english, german = (escape(statement.for_participants(language)) for language in ("en", "de"))
    return f'<p>{english}</p><details lang="de"><summary>Auf Deutsch</summary><p>{german}</p></details>'


def _guarantee(statement: Statement, shown: str) -> str:
    from gazeveil.privacy.statement import AGAINST, neighbours_in_words  # noqa: PLC0415

    parts = [
        ("What is protected", _words(statement.protects)),
        ("Against whom", _words(AGAINST)),
        ("How much", _words(statement.how_much()) + _belief(statement)),
        ("What is compared", _words(neighbours_in_words(statement.guarantee))),
        ("Over time", _words(statement.over_time())),
        ("When it fails", _words(statement.failure() or "It holds without exception (δ = 0).")),
        ("Public facts", _facts(statement)),
        ("Who you are", _words(statement.identification)),
        ("So far", _words(statement.together())),
        ("What is shown", shown),
    ]
    listed = "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in parts if text)
    return f'<dl>{listed}</dl><p class="fine">{escape(statement.limits())}<br>{escape(str(statement.guarantee))}</p>'


def _shown(statement: Statement, picture: bytes | None) -> str:
    """Say and show what the released value is made of."""
    said = "".join(f"<p>{_words(each)}</p>" for each in statement.shows)
    if picture is None:
        return said
    alt = "Three maps: the prior, the release, and what the data changed"
    return f'{said}<img alt="{alt}" src="data:image/png;base64,{b64encode(picture).decode()}"/>'


def _words(text: str) -> str:
    """Return a text for the page: a capital first, powers raised."""
    return re.sub(r"e\^([0-9][0-9.,]*(?:e-?[0-9]+)?)", r"e<sup>\1</sup>", escape(text[:1].upper() + text[1:]))


def _belief(statement: Statement) -> str:
    """Draw the range of beliefs that remain for someone who was undecided."""
    at_most = statement.belief_at_most()
    if at_most is None:
        return ""
    high = float(decimal_up(100 * at_most, 3))
    said = f"from 50 percent to between {100 - high:.1f} and {high:.1f} percent"
    return (
        f'<div class="belief" role="img" aria-label="A belief may shift {said}">'
        f'<i style="left:{100 - high:.2f}%;right:{100 - high:.2f}%"></i><b></b></div>'
        f'<div class="scale"><span>surely not</span><span>undecided</span><span>surely</span></div>'
    )


def _facts(statement: Statement) -> str:
    """List the public facts; those that nobody declared are marked in words and in bold."""
    if not statement.facts:
        return ""
    rows = [
        f"<li>{escape(fact.name)}: {escape(fact.text)}"
        + ("" if fact.declared else " <strong>(read from the data, not protected)</strong>")
        + "</li>"
        for fact in statement.facts
    ]
    condition = f"<p>{escape(statement.condition())}</p>" if statement.conditional_on else ""
    return f"<ul>{''.join(rows)}</ul>{condition}"


def _no_guarantee(statement: Statement) -> str:
    from gazeveil.privacy.statement import NOTHING_PROVEN  # noqa: PLC0415

    said = statement
    parts = [said.how_much(), NOTHING_PROVEN, said.identification, said.rests_on(), said.together()]
    return "".join(f"<p>{_words(part)}</p>" for part in parts if part)
