# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Tests over participants who meet every condition: ranks, variance, Bayes factors, and power before the study.

Distributions come from scipy (extra ``userstudy``); everything else is computed here.
"""
