# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The documents of a release: for participants, authors, reviewers, and the public registry of deployments.

`write_documents` writes them all: the participants' statement (`gazeveil.privacy.statement`), ``methods.md`` with
citations, ``evidence.html`` and ``registry-entry.json``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from gazeveil import __version__
from gazeveil.exact import decimal_up
from gazeveil.privacy.composition import is_seeded
from gazeveil.privacy.guarantee import ApproxDP, GazeStreamDP, Guarantee, PureDP, ZeroConcentratedDP
from gazeveil.privacy.statement import AGAINST, neighbours_in_words
from gazeveil.release.release import Release, Shares, formal_guarantee, number_text, plain_text, stated_facts

METHODS, EVIDENCE, REGISTRY_ENTRY = "methods.md", "evidence.html", "registry-entry.json"
PARTS, MOVIE_PARTS = "heatmap.parts.png", "movie.parts.png"
"""What a heatmap, or the mean of a movie, is made of, three maps side by side; shown by the statement's page, too."""


def write_documents(release: Release, about_the_value: Mapping[str, Any], folder: Path) -> None:
    """Write all documents of a release into its folder."""
    picture = parts_in(folder)
    texts = {
        **release.statement().files(picture),
        METHODS: methods_text(release, about_the_value),
        EVIDENCE: evidence_page(release, about_the_value),
    }
    if (entry := registry_entry(release, about_the_value)) is not None:
        texts[REGISTRY_ENTRY] = json.dumps(entry, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def parts_in(folder: Path) -> bytes | None:
    """Return the picture of what the value is made of, where the folder holds one."""
    parts = [folder / name for name in (PARTS, MOVIE_PARTS) if (folder / name).is_file()]
    return parts[0].read_bytes() if parts else None


# --- ``methods.md``: a paragraph for a paper with all numbers of a release, and what to cite, as BibTeX.


_STREAM_SOURCES = ("li2021",)


def methods_text(release: Release, about_the_value: Mapping[str, Any]) -> str:
    """Return the document."""
    sources = release.measurement.method().sources
    if isinstance(release.measurement.guarantee, GazeStreamDP):
        sources = (*sources, *_STREAM_SOURCES)
    return (
        "# Methods\n\n"
        "Paste this paragraph into a paper and keep what its readers need. Citations are written as `[@key]`, with the "
        "keys of the BibTeX entries below; entries that it does not cite are further sources of the method.\n\n"
        f"{methods_paragraph(release, about_the_value)}\n\n"
        "## BibTeX\n\n"
        f"```bibtex\n{bibtex(sources)}\n```\n"
    )


def methods_paragraph(release: Release, about_the_value: Mapping[str, Any]) -> str:
    """Return the paragraph: mechanism, guarantee, unit, neighbours, facts, noise, what was done afterwards, account."""
    measurement = release.measurement
    parts = [
        f"We released the product “{release.product}” of the study “{measurement.study.name}” with gazeveil "
        f"{__version__} [@gazeveil] (release {release.id}, {release.date[:10]}).",
        measurement.method().sentence,
        _guarantee_paragraph(release),
        neighbours_in_words(measurement.guarantee),
        release.statement().over_time(),
        _facts(release),
        noise_in_words(release),
        _post_processing_text(release, about_the_value),
        account_in_words(release),
        release.statement().condition(),
    ]
    return " ".join(part for part in parts if part)


def without_citations(text: str) -> str:
    """Return a text of this paragraph for readers who do not have its list of sources."""
    return re.sub(r" \[@[a-z0-9]+\]", "", text)


def noise_in_words(release: Release) -> str:
    """Say where the noise came from."""
    if release.guarantee.proven:
        return (
            "Noise came from the operating system's cryptographic generator; the sum of data and noise was taken "
            "exactly and rounded to a lattice, so that floating-point errors reveal nothing."
        )
    if is_seeded(release.guarantee):
        return "The noise came from a seed, for testing: anyone who knows the seed can remove it."
    return "Nothing is proven about noise in this release."


def account_in_words(release: Release) -> str:
    """Say what all releases of the account guarantee together."""
    if release.receipt is None:
        return "No privacy budget was kept: what other releases from the same data cost is not included."
    named = f"the account “{release.receipt.account.dataset}”"
    if release.total is None:
        return f"The release was charged to {named}."
    return (
        f"The release was charged to {named}; all its releases up to this one together satisfy "
        f"{formal_guarantee(release.total)} for {release.total.unit.in_words()} ({release.total.neighbours})."
    )


def _guarantee_paragraph(release: Release) -> str:
    if not release.guarantee.proven:
        return f"The release has {formal_guarantee(release.guarantee)}."
    cited = " [@li2021]" if isinstance(release.guarantee, GazeStreamDP) else " [@dwork2014]"
    return (
        f"The release satisfies {formal_guarantee(release.guarantee)}{cited}; the unit of protection is "
        f"{release.guarantee.unit.in_words()} ({release.guarantee.neighbours})."
    )


def _facts(release: Release) -> str:
    listed = "; ".join(f"{fact.name}: {fact.text}" for fact in stated_facts(release.facts))
    return f"Public facts: {listed}." if listed else ""


def _post_processing_text(release: Release, about_the_value: Mapping[str, Any]) -> str:
    forecast = release.measurement.forecast()
    said = [] if forecast is None else [f"Expected before the release: {forecast.in_words()}."]
    if simple := {key: value for key, value in about_the_value.items() if isinstance(value, int | float | str)}:
        said.append(f"Reported with the released value: {plain_text(simple)}.")
    if release.post_processing:
        said.append(f"Post-processing, which costs no privacy: {'; '.join(release.post_processing)}.")
    return " ".join(said)


# --- ``evidence.html``: what a reviewer asks about a release, in the order of NIST SP 800-226's pyramid.
# A question without an answer is shown as such: in red, in bold, and in words.


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
_LETTERS = {"epsilon": "ε", "delta": "δ", "rho": "ρ"}


class _Row(NamedTuple):
    name: str
    html: str


def evidence_page(release: Release, about_the_value: Mapping[str, Any]) -> str:
    """Return the page."""
    layers = [
        ("top", "What is guaranteed", _guarantee_rows(release)),
        ("middle", "What makes it true", [*_mechanism_rows(release), *_quality_rows(release, about_the_value)]),
        ("base", "Who can read the raw data", _custody_rows(release)),
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


def _guarantee_rows(release: Release) -> list[_Row]:
    guarantee, stated = release.guarantee, release.statement()
    rows = [
        _Row(
            "Guarantee",
            _capitalised(formal_guarantee(guarantee)) if guarantee.proven else _missing(formal_guarantee(guarantee)),
        )
    ]
    rows += [_Row(_LETTERS[name], escape(number_text(value))) for name, value in guarantee.numbers().items()]
    rows += [
        _Row("Unit of protection", _capitalised(guarantee.unit.in_words())),
        _Row("Neighbours", f"{escape(str(guarantee.neighbours))}. {escape(neighbours_in_words(guarantee))}"),
        _Row("Total so far", _total(release.total) if release.receipt else _missing(account_in_words(release))),
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


def _mechanism_rows(release: Release) -> list[_Row]:
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
        _missing(noise_in_words(release))
        if not release.guarantee.proven
        else f"{escape(noise_in_words(release))} See <code>docs/decisions/0010-exact-noise.md</code>{pages}."
    )
    return [
        _Row("Mechanism", _capitalised(without_citations(method.sentence))),
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


def _quality_rows(release: Release, about_the_value: Mapping[str, Any]) -> list[_Row]:
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
            _Row(
                "About the value", _list(f"{key.replace('_', ' ')}: {plain_text(each)}" for key, each in stated.items())
            )
        )
    if release.post_processing:
        rows.append(_Row("Post-processing", _list(release.post_processing)))
    return rows


def _custody_rows(release: Release) -> list[_Row]:
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
    return escape(f"{formal_guarantee(total)}, for {total.unit.in_words()} ({total.neighbours})")


def _stream_channels(release: Release) -> tuple[str, ...]:
    if isinstance(release.measurement.guarantee, GazeStreamDP):
        return (
            "When gaze was recorded: time stamps are public.",
            "That gaze was missing, as in a blink: ε is for gaze that is missing at the same times. Where it comes or "
            "goes, the bound is ε times the diagonal of the space over the radius, and a long absence shows.",
            "Identity: windows add up over time, and a participant may be recognised by their eye movements.",
        )
    return ()


def _capitalised(text: str) -> str:
    first = text[:1]
    return escape((first.upper() if first.isascii() else first) + text[1:])  # ε stays ε


def _missing(text: str) -> str:
    return f'<strong class="missing">{_capitalised(text)}</strong>'


def _list(items: Any) -> str:
    return "<ul>" + "".join(f"<li>{_capitalised(item)}</li>" for item in items) + "</ul>"


# --- ``registry-entry.json``: a draft entry for the public registry of differential privacy deployments.
# JSON is YAML too, so the file can be submitted as it is, under a name that ends in .yaml.


TO_FILL_IN = "To be filled in"


def registry_entry(release: Release, about_the_value: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the entry; None where nothing is proven, since that is no deployment of differential privacy."""
    guarantee, measurement = release.guarantee, release.measurement
    if not guarantee.proven:
        return None
    study, facts = measurement.study, stated_facts(release.facts)
    holder = study.custody.holder.strip()
    unprotected = "; ".join(f"{fact.name}: {fact.text}" for fact in facts)
    return {
        "url_slug": _slug(f"{study.name} {release.product} {release.date[:10]}"),
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": {
                "name": f"{study.name}: {release.product}",
                "data_curators": [holder or TO_FILL_IN],
                "intended_use": f"{TO_FILL_IN}. Eye-tracking research.",
                "data_product_type": "Dataset" if isinstance(guarantee, GazeStreamDP) else "Summary statistics",
                "data_product_region": TO_FILL_IN,
                "description": f"Eye-tracking data of a study, released as {release.product}: {measurement.files}.",
                "publication_date": release.date[:10],
            },
            "dp_variant": {
                "variant_name": _variant(guarantee),
                "data_domain": "All recordings that the study declares; what contradicts its declaration is absent.",
                "unprotected_quantities": f"Public facts: {unprotected}. {release.statement().condition()}".rstrip(),
            },
            "privacy_loss": {
                "privacy_unit": guarantee.unit.in_words(),
                "privacy_unit_details": _relation(guarantee),
                "privacy_parameters": {name: _number(value) for name, value in guarantee.numbers().items()},
                "privacy_parameters_details": f"{formal_guarantee(guarantee)}. {account_in_words(release)}",
            },
            "deployment_model": {
                "model_name": "Central",
                "actors": f"The holder of the raw data ({holder or TO_FILL_IN}), the participants, and {AGAINST}.",
                "release_type": "One release",
                "data_source_type": "Static",
                "access_type": "Non-interactive",
            },
            "accounting": {
                "post_processing": "; ".join(release.post_processing) or "As described under mechanisms.",
                "composition": account_in_words(release),
            },
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": (
                    "Parameters follow from the public facts above; nothing was tuned on the protected data."
                ),
                "mechanisms": _mechanisms(release),
                "justification": _justification(release, about_the_value),
            },
            "administrative": {
                "sources": f"release.json of the release {release.id}; `gazeveil verify` checks it.",
                "registry_authors": [TO_FILL_IN],
            },
        },
    }


def _variant(guarantee: Guarantee) -> str:
    if isinstance(guarantee, GazeStreamDP):
        return "Custom"
    names: dict[type[Guarantee], str] = {
        PureDP: "Pure DP",
        ApproxDP: "Approximate DP",
        ZeroConcentratedDP: "Zero-concentrated DP",
    }
    return names.get(type(guarantee), "Custom")


def _relation(guarantee: Guarantee) -> str:
    """Say which inputs are adjacent; for a custom variant the whole privacy relation."""
    adjacent = neighbours_in_words(guarantee)
    if not isinstance(guarantee, GazeStreamDP):
        return f"{guarantee.neighbours}. {adjacent}"
    head = "" if guarantee.head_radius is None else f" (the head: {number_text(guarantee.head_radius)} deg)"
    return (
        f"{adjacent} Input metric: two gaze streams are at distance 1 if they have the same time stamps, the same "
        f"missing samples, and differ only within one closed window of {number_text(guarantee.window)} s, there by "
        f"at most {number_text(guarantee.radius)} {guarantee.radius_unit}{head} at each sample. "
        "Bound on the input distance: 1. "
        "Output measure: max divergence. Bound on the output distance: epsilon."
    )


def _mechanisms(release: Release) -> str:
    method = without_citations(release.measurement.method().sentence)
    return f"{method} {noise_in_words(release)} Software: gazeveil {__version__}."


def _justification(release: Release, about_the_value: Mapping[str, Any]) -> str:
    forecast = release.measurement.forecast()
    proof = release.measurement.proof
    parts = [
        f"The guarantee is proven in docs/proofs/{proof}.md of gazeveil." if proof else "",
        "" if forecast is None else f"Expected before the release: {forecast.in_words()}.",
        f"About the released value: {plain_text(dict(about_the_value))}." if about_the_value else "",
    ]
    return " ".join(part for part in parts if part) or TO_FILL_IN


def _number(value: Fraction) -> float:
    """Return a parameter as the number that JSON writes: rounded up, so that nothing looks better than it is."""
    return float(decimal_up(value, 12))


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")


# --- What the documents cite, as BibTeX.


_BIBTEX = {
    "gazeveil": f"""@software{{gazeveil,
  author  = {{{{The gazeveil authors}}}},
  title   = {{gazeveil: The Privacy Layer for Eye Tracking}},
  version = {{{__version__}}},
  year    = {{2026}}
}}""",
    "dwork2014": """@article{dwork2014,
  author  = {Dwork, Cynthia and Roth, Aaron},
  title   = {The Algorithmic Foundations of Differential Privacy},
  journal = {Foundations and Trends in Theoretical Computer Science},
  volume  = {9},
  number  = {3--4},
  pages   = {211--407},
  year    = {2014},
  doi     = {10.1561/0400000042}
}""",
    "balle2018": """@inproceedings{balle2018,
  author    = {Balle, Borja and Wang, Yu-Xiang},
  title     = {Improving the {Gaussian} Mechanism for Differential Privacy: Analytical Calibration
               and Optimal Denoising},
  booktitle = {Proceedings of the 35th International Conference on Machine Learning},
  series    = {Proceedings of Machine Learning Research},
  volume    = {80},
  year      = {2018}
}""",
    "liu2019": """@inproceedings{liu2019,
  author    = {Liu, Ao and Xia, Lirong and Duchowski, Andrew and Bailey, Reynold and Holmqvist, Kenneth
               and Jain, Eakta},
  title     = {Differential Privacy for Eye-Tracking Data},
  booktitle = {2019 Symposium on Eye Tracking Research and Applications (ETRA '19)},
  publisher = {ACM},
  year      = {2019},
  doi       = {10.1145/3314111.3319823}
}""",
    "bozkir2021": """@article{bozkir2021,
  author  = {Bozkir, Efe and G{\\"u}nl{\\"u}, Onur and Fuhl, Wolfgang and Schaefer, Rafael F. and Kasneci, Enkelejda},
  title   = {Differential Privacy for Eye Tracking with Temporal Correlations},
  journal = {PLOS ONE},
  volume  = {16},
  number  = {8},
  pages   = {e0255979},
  year    = {2021},
  doi     = {10.1371/journal.pone.0255979}
}""",
    "li2021": """@inproceedings{li2021,
  author    = {Li, Jingjie and Roy Chowdhury, Amrita and Fawaz, Kassem and Kim, Younghyun},
  title     = {{Kal{$\\varepsilon$}ido}: Real-Time Privacy Control for Eye-Tracking Systems},
  booktitle = {30th {USENIX} Security Symposium},
  year      = {2021},
  isbn      = {978-1-939133-24-3}
}""",
    "wilson2024": """@article{wilson2024,
  author  = {Wilson, Ethan and Ibragimov, Azim and Proulx, Michael J. and Tetali, Sai Deep and Butler, Kevin
             and Jain, Eakta},
  title   = {Privacy-Preserving Gaze Data Streaming in Immersive Interactive Virtual Reality: Robustness
             and User Experience},
  journal = {IEEE Transactions on Visualization and Computer Graphics},
  volume  = {30},
  number  = {5},
  pages   = {2257--2268},
  year    = {2024}
}""",
}


def bibtex(keys: Iterable[str]) -> str:
    """Return the entries with these keys, gazeveil itself first."""
    return "\n\n".join(_BIBTEX[key] for key in dict.fromkeys(["gazeveil", *keys]))


def known_sources() -> tuple[str, ...]:
    """Return the keys of all entries."""
    return tuple(_BIBTEX)
