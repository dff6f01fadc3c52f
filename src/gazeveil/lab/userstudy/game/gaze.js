// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// Gaze as the game gets it: from its app's WebSocket, through the client that every page may use.
import { connect } from "./gazeveil.js";

const STALE_MS = 400;
const LOST_MS = 5000;

export class Gaze {
  constructor(url) {
    Object.assign(this, { x: NaN, y: NaN, at: -Infinity, heard: -Infinity, kept: null, shift: NaN, connected: false, ended: "" });
    this.stream = connect(url, {
      state: (state) => (this.connected = state === "open"),
      sample: (sample) => this.take(sample),
      silence: () => this.take({}),
      end: (reason) => (this.ended = reason),
    });
  }

  take({ t, x, y, unit, valid = true }) {
    this.heard = performance.now();
    const seconds = this.heard / 1000;
    // the stream's own times: several samples may arrive at once
    if (Number.isFinite(t) && !(Math.abs(seconds - t - this.shift) < 1)) this.shift = seconds - t;
    const when = Number.isFinite(t) ? t + this.shift : seconds;
    this.ended = "";
    const there = unit === "norm" && valid && Number.isFinite(x) && Number.isFinite(y);
    [this.x, this.y] = there ? [x, y] : [NaN, NaN];
    if (there) this.at = this.heard;
    this.kept?.push([when - this.start / 1000, there ? x : null, there ? y : null]);
  }

  /** Keep samples from now on, with seconds since `start`. */
  keep(start) {
    [this.kept, this.start] = [[], start];
  }

  now() {
    return performance.now() - this.at < STALE_MS && !Number.isNaN(this.x) ? [this.x, this.y] : null;
  }

  /** Whether no gaze comes any more, which a blink does not explain. */
  get lost() {
    return !this.connected || performance.now() - this.at > LOST_MS;
  }

  close() {
    this.stream.close();
  }
}
