# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How the decoder of `gazeveil.aggregate.neural_decoder` is trained: on public fixations, made scenes, and many noises."""
