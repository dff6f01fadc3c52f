// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// The live trails as the gateway sends them: one JSON object a line, as long as the page wants them.
import { open } from "./api.js";

const PAUSES_MS = [1000, 2000, 4000, 8000, 15000];

async function* lines(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n");
    rest = parts.pop();
    for (const part of parts) if (part) yield JSON.parse(part);
  }
}

export class Live {
  /** @param {object} on  `hello(told)`, `line(told)`, and `ended(hadRaw, error)` when there is no answer any more. */
  constructor(on) {
    Object.assign(this, { on, stopping: null, tracker: null, wake: null });
  }

  /** Try again at once instead of waiting. */
  now() {
    this.wake?.();
  }

  /** Follow a tracker; with a capability its raw gaze comes too, until the answer ends. */
  follow(tracker, capability = null) {
    this.stopping?.abort();
    this.stopping = new AbortController();
    this.tracker = tracker;
    this.run(tracker, capability, this.stopping.signal);
  }

  stop() {
    this.stopping?.abort();
    this.tracker = null;
  }

  async run(tracker, capability, signal) {
    const path = `v1/page/live?tracker=${encodeURIComponent(tracker)}`;
    for (let misses = 0; !signal.aborted; misses++) {
      const hadRaw = capability !== null;
      let problem = null;
      try {
        const answer = await open(path, signal, hadRaw ? { "Gazeveil-Raw": capability } : {});
        capability = null; // it works once
        for await (const line of lines(answer.body)) {
          if (signal.aborted) return;
          misses = 0;
          if (line.hello) this.on.hello(line.hello);
          else this.on.line(line);
        }
      } catch (error) {
        if (signal.aborted) return;
        capability = null;
        problem = error;
      }
      this.on.ended(hadRaw, problem);
      await new Promise((resolve) => {
        this.wake = resolve;
        setTimeout(resolve, PAUSES_MS[Math.min(misses, PAUSES_MS.length - 1)]);
      });
    }
  }
}
