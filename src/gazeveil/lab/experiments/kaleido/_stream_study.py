# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What the study that decided the design of the stream mechanisms measured.

RMSE in pixels, 20 repeats, four values of ε.

It drew floats, and had none of this package's code. To measure the same again is therefore a test of both.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

COLUMNS: Final = (
    "kaleido as published", "kaleido, scales corrected", "kaleido, tuned", "sparse vector", "budget absorption",
    "clock, no filter", "clock",
)  # fmt: skip
"""Which of our contenders each column of numbers is, after radius, window and ε; the last column is clock's standard
error over recordings."""

_VR = """
 60 0.5 0.5  857  829 349 313 330 379 296  6
 60 0.5   1  710  692 307 281 288 303 260  5
 60 0.5   2  454  522 262 256 261 239 216  5
 60 0.5   3  314  422 233 241 247 215 190  6
 60   1 0.5  921  905 368 337 352 444 330  7
 60   1   1  847  805 333 317 324 384 296  6
 60   1   2  697  665 300 292 310 303 256  6
 60   1   3  561  569 273 276 287 263 231  6
 60 1.5 0.5  944  940 374 350 378 479 347  8
 60 1.5   1  895  861 353 335 345 426 318  7
 60 1.5   2  795  744 314 312 329 354 282  6
 60 1.5   3  698  658 291 296 304 304 257  6
 60   2 0.5  966  959 378 364 370 498 356  8
 60   2   1  919  897 355 342 352 448 330  7
 60   2   2  848  796 333 322 341 385 297  6
 60   2   3  773  722 304 311 318 337 273  6
300 0.5 0.5  990  986 406 398 406 764 378  8
300 0.5   1  962  942 385 360 373 590 350  7
300 0.5   2  891  864 360 325 365 421 310  6
300 0.5   3  811  798 338 303 338 352 286  6
300   1 0.5  995 1005 411 394 413 785 391  8
300   1   1  987  978 400 372 385 625 366  7
300   1   2  959  928 375 346 367 477 339  7
300   1   3  923  883 359 332 346 421 324  7
300 1.5 0.5  997 1013 411 412 407 795 396  8
300 1.5   1  993  994 399 379 392 647 375  8
300 1.5   2  978  957 391 356 369 511 353  7
300 1.5   3  957  923 372 345 367 460 343  7
300   2 0.5  998 1018 413 403 413 802 400  8
300   2   1  995 1003 406 395 395 660 381  8
300   2   2  987  973 389 370 380 526 361  8
300   2   3  973  945 372 360 364 479 352  8
"""

_LUND = """
 60 0.5 0.5  587  588 252 231 245 301 220 10
 60 0.5   1  499  510 229 205 219 217 188  8
 60 0.5   2  303  404 194 188 187 181 156  6
 60 0.5   3  189  337 176 175 184 150 139  5
 60   1 0.5  621  625 259 246 254 341 241 12
 60   1   1  576  576 244 234 239 273 222 10
 60   1   2  475  501 221 215 225 216 189  8
 60   1   3  364  443 203 200 209 195 167  7
 60 1.5 0.5  637  646 262 252 261 368 247 13
 60 1.5   1  603  612 254 238 246 310 230 11
 60 1.5   2  545  562 234 227 230 244 206  9
 60 1.5   3  479  527 215 219 222 217 190  8
 60   2 0.5  654  657 263 258 261 384 254 13
 60   2   1  623  630 254 250 253 328 239 12
 60   2   2  580  592 243 235 247 272 216 10
 60   2   3  541  565 226 230 232 232 201  9
300 0.5 0.5  659  671 264 264 265 561 261 15
300 0.5   1  646  647 262 258 261 460 253 14
300 0.5   2  603  608 255 241 258 339 231 11
300 0.5   3  551  568 247 226 248 274 213  9
300   1 0.5  661  679 265 264 265 571 264 15
300   1   1  656  663 264 262 263 479 258 14
300   1   2  639  639 262 252 260 376 246 12
300   1   3  619  613 257 242 253 319 234 11
300 1.5 0.5  666  684 265 265 264 582 264 15
300 1.5   1  656  674 264 261 264 495 260 15
300 1.5   2  650  658 263 256 260 401 251 14
300 1.5   3  636  638 260 249 258 353 242 13
300   2 0.5  668  685 265 265 264 588 264 15
300   2   1  662  676 264 263 265 507 262 15
300   2   2  656  664 264 258 263 413 258 14
300   2   3  646  650 261 256 260 364 252 13
"""


def _read(text: str) -> Mapping[tuple[float, float, float], tuple[float, ...]]:
    rows = [tuple(map(float, line.split())) for line in text.strip().splitlines()]
    return MappingProxyType({(row[0], row[1], row[2]): row[3:] for row in rows})


MEASURED: Final[Mapping[str, Mapping[tuple[float, float, float], tuple[float, ...]]]] = MappingProxyType(
    {"vr": _read(_VR), "lund": _read(_LUND)}
)
"""By set, then by (radius, window, ε): the columns, then clock's standard error."""
