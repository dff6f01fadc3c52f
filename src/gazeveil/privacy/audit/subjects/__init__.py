# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What ``gazeveil lab audit`` knows: our samplers, a published mechanism, and two that are broken."""
