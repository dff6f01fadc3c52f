# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The judge: attacks, metrics of utility, experiments, papers measured again, data sets, user studies, baselines."""
