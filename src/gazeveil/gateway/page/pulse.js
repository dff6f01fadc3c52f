// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// Asks for the status again and again. If nobody answers, it tries again after growing pauses, for ever.
import { Gone } from "./api.js";

const BEAT_MS = 1000;
const HIDDEN_BEAT_MS = 5000;
const PAUSES_S = [1, 2, 4, 8, 15];

/**
 * @param {object} on  `ask()` gets the status; `told(status, begun)` takes it, with when it was asked for; `gone(pause_s)` is called before every pause;
 *   `failed(error)` is called for any other error, and ends the pulse if it returns true.
 */
export class Pulse {
  constructor(on) {
    this.on = on;
    this.wake = null;
    this.hurry = false;
    document.addEventListener("visibilitychange", () => document.hidden || this.now());
  }

  /** Ask at once instead of waiting; a question that is under way is followed by another. */
  now() {
    this.hurry = true;
    this.wake?.();
  }

  async run() {
    for (let misses = 0; ; ) {
      try {
        const begun = performance.now();
        const status = await this.on.ask();
        misses = 0;
        this.on.told(status, begun);
        await this.rest(document.hidden ? HIDDEN_BEAT_MS : BEAT_MS);
      } catch (error) {
        if (!(error instanceof Gone) && this.on.failed(error)) return;
        const pause = PAUSES_S[Math.min(misses++, PAUSES_S.length - 1)];
        this.on.gone(pause);
        await this.rest(1000 * pause);
      }
    }
  }

  async rest(ms) {
    let timer;
    if (!this.hurry) {
      await new Promise((resolve) => {
        timer = setTimeout(resolve, ms);
        this.wake = resolve;
      });
    }
    clearTimeout(timer);
    this.wake = null;
    this.hurry = false;
  }
}
