# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``evidence.html``: what a reviewer asks about a release, in the order of NIST SP 800-226's pyramid.

At the top stands what is guaranteed, below it what makes that true, at the base who can read the raw data. A question
without an answer is shown as such: in red, in bold, and in words.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any, NamedTuple

from gazeveil.privacy.guarantee import GazeStreamDP, Guarantee
from gazeveil.privacy.statement import neighbours_in_words
from gazeveil.release import methods
from gazeveil.release.release import Release
from gazeveil.release.shares import Shares
from gazeveil.release.words import exactly, formal, plain, stated_facts

SIDE_CHANNELS = (
    "How long the release took: it depends on how much gaze there is.",
    "Memory and disk use, which others on the same machine can observe.",
    "Whether a release was made at all, and when: the date is the date of the charge.",
)
_MISSING = "not stated"
_TRUST = "Central: the holder of the raw data is trusted. All others see only what was released."
_STYLE = """
:root{--ink:#1c2430;--soft:#5a6577;--paper:#fff;--line:#dfe4ec;--bad:#a3352b;--band:#f4f6fa}
@media (prefers-color-scheme:dark){:root{--ink:#e8ecf3;--soft:#a3aebf;--paper:#171c24;--line:#2c3542;--bad:#ff8a7a;
--band:#1e2530}}
body{margin:0 auto;padding:1.5rem;max-width:56rem;background:var(--paper);color:var(--ink);
font:1rem/1.5 system-ui,sans-serif}
h1{margin:0 0 .2rem;font-size:1.5rem}
p.about{margin:0 0 1.2rem;color:var(--soft)}
section{margin:0 auto 1rem;padding:.9rem 1.2rem;border:1px solid var(--line);border-radius:.6rem;background:var(--band);
break-inside:avoid}
section.top{max-width:36rem}section.middle{max-width:46rem}
h2{margin:0 0 .5rem;font-size:1.1rem}
table{width:100%;border-collapse:collapse}
th,td{padding:.35rem 0;border-top:1px solid var(--line);text-align:left;vertical-align:top;overflow-wrap:anywhere}
th{width:10rem;padding-right:1rem;font-weight:600}
tr:first-child>*{border-top:0}
ul{margin:0;padding-left:1.2rem}
code{font-size:.9em}
strong.missing{color:var(--bad)}
strong.missing::before{content:"\\26A0\\00A0"}
@media print{:root{--ink:#000;--soft:#333;--paper:#fff;--line:#888;--bad:#000;--band:#fff}body{padding:0;font-size:10pt}
section.top,section.middle{max-width:none}}
"""


class _Row(NamedTuple):
    name: str
    html: str


def evidence(release: Release, about_the_value: Mapping[str, Any]) -> str:
    """Return the page."""
    layers = [
        ("top", "What is guaranteed", _guaranteed(release)),
        ("middle", "What makes it true", [*_built(release), *_worth(release, about_the_value)]),
        ("base", "Who can read the raw data", _custody(release)),
    ]
    body = "".join(
        f'<section class="{place}"><h2>{escape(title)}</h2><table>'
        + "".join(f'<tr><th scope="row">{escape(row.name)}</th><td>{row.html}</td></tr>' for row in rows)
        + "</table></section>"
        for place, title, rows in layers
    )
    title = f"Evidence: {release.product} of {release.measurement.study.name}"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<meta name="color-scheme" content="light dark"><title>{escape(title)}</title><style>{_STYLE}</style></head>'
        f'<body><h1>{escape(title)}</h1><p class="about">Release {escape(release.id)}, {escape(release.date[:10])}. '
        "The order is that of the pyramid in NIST SP 800-226: each layer rests on the one below it.</p>"
        f"{body}</body></html>\n"
    )


def _guaranteed(release: Release) -> list[_Row]:
    guarantee, stated = release.guarantee, release.statement()
    rows = [_Row("Guarantee", _said(formal(guarantee)) if guarantee.proven else _missing(formal(guarantee)))]
    rows += [_Row(_LETTERS[name], escape(exactly(value))) for name, value in guarantee.numbers().items()]
    rows += [
        _Row("Unit of protection", _said(guarantee.unit.in_words())),
        _Row("Neighbours", f"{escape(str(guarantee.neighbours))}. {escape(neighbours_in_words(guarantee))}"),
        _Row("Total so far", _total(release.total) if release.receipt else _missing(methods.account(release))),
        _Row("Public facts", _list(f"{fact.name}: {fact.text}" for fact in stated_facts(release.facts))),
    ]
    if (found := release.identification) is not None:
        how = f"Recogniser {found.row.recogniser}, {found.row.attack or 'no attack'} ({found.row.threat_model})"
        rows.append(
            _Row(
                "Identification",
                f"{escape(found.in_words())} {escape(how)}, on {escape(found.row.data)}; {escape(found.row.software)}, "
                f"{escape(found.row.date)}, version {found.version} of the table: "
                "<code>gazeveil lab attack table</code>.",
            )
        )
    if stated.conditional_on:
        rows.append(_Row("Conditional on", _missing(stated.condition())))
    return rows


def _built(release: Release) -> list[_Row]:
    measurement = release.measurement
    method = measurement.method()
    proof = (
        f"<code>docs/proofs/{escape(measurement.proof)}.md</code>" if measurement.proof else _missing("no proof given")
    )
    if not measurement.guarantee.proven:
        proof = _missing("nothing is proven about this mechanism")
    audit = (
        "Not run for this release. The mechanism can be audited on its worst neighbouring inputs with "
        f"<code>gazeveil lab audit {escape(method.audit)}</code>; it states a lower bound of ε and its confidence."
        if method.audit
        else "Not run for this release. <code>gazeveil lab audit --list</code> shows what can be audited."
    )
    pages = "".join(f", <code>docs/proofs/{escape(page)}.md</code>" for page in method.samplers)
    sampler = (
        _missing(methods.noise(release))
        if not release.guarantee.proven
        else f"{escape(methods.noise(release))} See <code>docs/decisions/0010-exact-noise.md</code>{pages}."
    )
    return [
        _Row("Mechanism", _said(methods.without_citations(method.sentence))),
        _Row("Proof", proof),
        _Row("Audit", audit),
        _Row("Sampler", sampler),
        _Row(
            "Floating point",
            "Noise lies on a lattice, so no bit pattern of an output reveals its input. "
            "Tested by <code>tests/noise/test_bit_patterns.py</code>, explained in "
            "<code>docs/concepts/differential-privacy.md</code>.",
        ),
        _Row("Known side channels", _list(SIDE_CHANNELS + _stream_channels(release))),
        _Row("Trust model", escape(_TRUST)),
    ]


def _worth(release: Release, about_the_value: Mapping[str, Any]) -> list[_Row]:
    forecast = release.measurement.forecast()
    expected = "No forecast is known for this product."
    if forecast is not None:
        expected = f"Expected before the release: {forecast.in_words()}. {forecast.basis}"
    stated = {key: value for key, value in about_the_value.items() if isinstance(value, int | float | str)}
    rows = [_Row("Utility", escape(expected))]
    if (shares := Shares.from_record(about_the_value)) is not None:
        for name in shares.to_dict():
            stated.pop(name, None)
        rows.append(_Row("Prior", _list((*shares.in_words(), *shares.warnings()))))
    elif isinstance(share := stated.pop("data_share", None), float):
        rows.append(
            _Row("Prior", f"{share:.0%} of the value comes from the data, {1 - share:.0%} from a public prior.")
        )
    if stated:
        rows.append(
            _Row("About the value", _list(f"{key.replace('_', ' ')}: {plain(each)}" for key, each in stated.items()))
        )
    if release.post_processing:
        rows.append(_Row("Post-processing", _list(release.post_processing)))
    return rows


def _custody(release: Release) -> list[_Row]:
    custody = release.measurement.study.custody
    asked = {
        "Holder": custody.holder,
        "Where the raw data lie": custody.place,
        "Who can read them": custody.access,
        "Deleted": custody.until,
    }
    return [_Row(name, escape(answer) if answer.strip() else _missing(_MISSING)) for name, answer in asked.items()]


def _total(total: Guarantee | None) -> str:
    if total is None:
        return _missing("the account records charges and has no budget")
    return escape(f"{formal(total)}, for {total.unit.in_words()} ({total.neighbours})")


def _stream_channels(release: Release) -> tuple[str, ...]:
    if isinstance(release.measurement.guarantee, GazeStreamDP):
        return (
            "When gaze was recorded: time stamps are public.",
            "That gaze was missing, as in a blink: ε is for gaze that is missing at the same times. Where it comes or "
            "goes, the bound is ε times the diagonal of the space over the radius, and a long absence shows.",
            "Identity: windows add up over time, and a participant may be recognised by their eye movements.",
        )
    return ()


def _said(text: str) -> str:
    first = text[:1]
    return escape((first.upper() if first.isascii() else first) + text[1:])  # ε stays ε


def _missing(text: str) -> str:
    return f'<strong class="missing">{_said(text)}</strong>'


def _list(items: Any) -> str:
    return "<ul>" + "".join(f"<li>{_said(item)}</li>" for item in items) + "</ul>"


_LETTERS = {"epsilon": "ε", "delta": "δ", "rho": "ρ"}
