// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// The live trails as the gateway sends them: one JSON object a line, as long as the page wants them.
import { open } from "./api.js";

const AGAIN_MS = 1500;

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
  /** @param {object} on  `hello(told)`, `line(told)`, and `ended(hadRaw)` when the answer broke off. */
  constructor(on) {
    this.on = on;
    this.stopping = null;
    this.tracker = null;
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
    while (!signal.aborted) {
      const hadRaw = capability !== null;
      try {
        const answer = await open(path, signal, hadRaw ? { "Gazeveil-Raw": capability } : {});
        capability = null; // it works once
        for await (const line of lines(answer.body)) {
          if (signal.aborted) return;
          if (line.hello) this.on.hello(line.hello);
          else this.on.line(line);
        }
      } catch {
        if (signal.aborted) return; // else the pulse finds out what is wrong, and this tries again
        capability = null;
      }
      this.on.ended(hadRaw);
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }
}
