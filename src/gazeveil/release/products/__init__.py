# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What can be released, one file each: how a mechanism meets a declared study."""
