# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What a paper that uses a release should cite, as BibTeX."""

from __future__ import annotations

from collections.abc import Iterable

from gazeveil import __version__

_ENTRIES = {
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
    return "\n\n".join(_ENTRIES[key] for key in dict.fromkeys(["gazeveil", *keys]))


def known() -> tuple[str, ...]:
    """Return the keys of all entries."""
    return tuple(_ENTRIES)
