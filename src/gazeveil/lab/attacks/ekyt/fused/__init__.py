# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The dense block without the growing concatenation, on any device and as GPU kernels."""
