# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What the auditor can try of this package: importing a module here enters its subjects."""

from __future__ import annotations

from gazeveil.samples import _combined_audits as _combined  # noqa: F401
from gazeveil.samples import _head_audits as _head  # noqa: F401
from gazeveil.samples import _knob_audits as _knob  # noqa: F401
from gazeveil.samples import _sphere_audits as _sphere  # noqa: F401
from gazeveil.samples import _stream_audits as _streams  # noqa: F401
from gazeveil.samples import _tick_audits as _ticks  # noqa: F401
