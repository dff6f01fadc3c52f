// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// A canvas that knows its size without asking for it while it draws.

export class Surface {
  constructor(canvas) {
    this.canvas = canvas;
    this.ctx = canvas.getContext("2d");
    this.scale = 1;
    this.watching = new ResizeObserver(([entry]) => this.resize(entry));
    this.watching.observe(canvas);
  }

  resize(entry) {
    this.scale = devicePixelRatio || 1;
    this.canvas.width = Math.max(1, Math.round(entry.contentRect.width * this.scale));
    this.canvas.height = Math.max(1, Math.round(entry.contentRect.height * this.scale));
  }

  drop() {
    this.watching.disconnect();
  }
}
