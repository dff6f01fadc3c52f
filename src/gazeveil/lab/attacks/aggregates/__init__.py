# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Attacks on what is released of many participants together: was someone among them, and what did they do?"""
