# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Other groups' methods for whole data sets, judged as our own are: who is identified, and what is left of use."""
