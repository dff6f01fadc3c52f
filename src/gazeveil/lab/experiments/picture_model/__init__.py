# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The training of the picture model: pictures with fixations of many viewers in, a small readout out."""
