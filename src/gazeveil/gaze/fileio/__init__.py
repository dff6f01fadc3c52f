# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What the file formats share: tables, text, numbers, messages, BIDS and EyeLink."""
