// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// The last seconds of one stream of points, in a ring that never grows.
// A point is shown a moment after it arrived, spread as it was spread in time: batches then move as smoothly as gaze did.
// A batch waits as long as it lasted, so that the next one is there when it ends.

export const KEPT_S = 3;
const SLOTS = 1024;
const DELAY_S = 0.04;
const LONGEST_DELAY_S = 0.5;

export class Trail {
  constructor() {
    this.at = new Float64Array(SLOTS);
    this.t = new Float64Array(SLOTS);
    this.x = new Float32Array(SLOTS);
    this.y = new Float32Array(SLOTS);
    this.clear();
  }

  clear() {
    this.next = 0;
    this.size = 0;
    this.taken = 0;
  }

  /** Take `[[t, x, y], …]` that arrived at `now`; x and y are shares of the plane, null where gaze was lost. */
  take(points, now) {
    if (!points || points.length === 0) return;
    const end = points[points.length - 1][0];
    const delay = DELAY_S + Math.min(Math.max(end - points[0][0], 0), LONGEST_DELAY_S);
    for (const [t, x, y] of points) {
      const age = Math.min(Math.max(end - t, 0), 1);
      this.at[this.next] = now + delay - age;
      this.t[this.next] = t;
      this.x[this.next] = x ?? NaN;
      this.y[this.next] = y ?? NaN;
      this.next = (this.next + 1) % SLOTS;
      this.size = Math.min(this.size + 1, SLOTS);
    }
    this.taken += points.length;
  }

  /** Call `see(age, x, y, t)` for every point of the last `seconds`, oldest first. */
  each(now, seconds, see) {
    for (let i = this.size; i > 0; i--) {
      const slot = (this.next - i + SLOTS) % SLOTS;
      const age = now - this.at[slot];
      if (age >= 0 && age <= seconds) see(age, this.x[slot], this.y[slot], this.t[slot]);
    }
  }

  /** The point that is shown at `now` (the newest that is due), or null. */
  head(now) {
    for (let i = 1; i <= this.size; i++) {
      const slot = (this.next - i + SLOTS) % SLOTS;
      const age = now - this.at[slot];
      if (age > KEPT_S) return null;
      if (age >= 0) return Number.isNaN(this.x[slot]) ? null : [this.x[slot], this.y[slot]];
    }
    return null;
  }
}
