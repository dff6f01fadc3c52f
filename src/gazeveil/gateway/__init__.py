# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Live gaze: trackers in, veiled gaze out, to unmodified apps.

One straight line: a tracker's bytes → `protocols` → `RawSample` → a veil → `VeiledSample` → `protocols` → an app's
bytes. Everything but one file works without sockets: bytes and a clock in, bytes out.
"""
