// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// Gaze as an app gets it: veiled, from the app's WebSocket. It knows no other source.

const PAUSES_MS = [500, 1000, 2000, 4000, 8000];
const STALE_MS = 400;

export class Gaze {
  /** @param {Function} said  Takes words about the connection; empty while gaze comes. */
  constructor(said) {
    Object.assign(this, { said, x: NaN, y: NaN, area: null, at: -Infinity, tries: 0 });
    const where = new URLSearchParams(location.search).get("ws") ?? "";
    if (!/^wss?:\/\/(127\.0\.0\.1|localhost)(:\d+)?\/?$/.test(where)) {
      said("This app needs the address of its stream: open it from the control page.");
      return;
    }
    this.connect(where);
  }

  connect(where) {
    const socket = new WebSocket(where);
    socket.onopen = () => {
      this.tries = 0;
      this.said("Waiting for gaze.");
    };
    socket.onmessage = (event) => this.heard(JSON.parse(event.data));
    socket.onclose = () => {
      this.lose();
      const pause = PAUSES_MS[Math.min(this.tries++, PAUSES_MS.length - 1)];
      if (!this.ended) this.said("No connection. Trying again.");
      setTimeout(() => this.connect(where), pause);
    };
  }

  heard(told) {
    this.ended = false;
    if (told.type === "silence") {
      this.lose();
      this.said("No gaze at present.");
    } else if (told.type === "end") {
      this.lose();
      this.ended = true;
      this.said(`The gateway ended the stream: ${told.reason}.`);
    } else if (told.type === "hit") {
      this.lose();
      this.area = told.area;
      this.said(told.area === null ? "" : `Only hits come: area ${told.area}.`);
    } else if (told.type === undefined || told.type === "fixation") this.point(told);
  }

  point({ x, y, unit, valid = true }) {
    if (unit !== "norm" || !valid || x === null) return;
    this.area = null;
    this.x = x;
    this.y = y;
    this.at = performance.now();
    this.said("");
  }

  lose() {
    this.x = this.y = NaN;
    this.area = null;
  }

  /** Where gaze is now, as `[x, y]` in shares of this window; null if nothing came lately. */
  now(stale_ms = STALE_MS) {
    return performance.now() - this.at < stale_ms && !Number.isNaN(this.x) ? [this.x, this.y] : null;
  }
}
