# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What protects a series: eye-movement features and their private release (Bozkir 2020 and beyond)."""
