# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""From a declared study to a folder that can be verified: every release takes the path in `gazeveil.release.plan`.

Declare (`study`, `study_toml`, `study_proposal`, `check`), plan (`plan`, `forecast`, `sample_size`, `products`), read
the data under the study's rules (`data`), state what was released (`release`), write it (`record`, `documents`,
`map_files`, `visual_report`), and check what was written (`verify`).
"""
