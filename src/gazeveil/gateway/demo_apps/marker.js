// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// Shows where the app believes that gaze is.

export class Marker {
  constructor(node) {
    this.node = node;
  }

  show(point, width, height) {
    const hidden = point === null;
    if (this.node.hidden !== hidden) this.node.hidden = hidden;
    if (!hidden) this.node.style.transform = `translate(${point[0] * width}px, ${point[1] * height}px)`;
  }
}

/** The size of the window, without asking for it in every frame. */
export const size = { width: innerWidth, height: innerHeight };
addEventListener("resize", () => Object.assign(size, { width: innerWidth, height: innerHeight }));
