# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What the auditor can try of this package: importing a module here enters its subjects."""

from __future__ import annotations

from gazeveil.aggregate import _joint_audits as _joint  # noqa: F401
from gazeveil.aggregate.aoi import audited as _aoi  # noqa: F401
from gazeveil.aggregate.liu import audits as _liu  # noqa: F401
from gazeveil.aggregate.strategies import _audits as _strategies  # noqa: F401
