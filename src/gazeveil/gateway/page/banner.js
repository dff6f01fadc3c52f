// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// Says that the gateway does not answer, and when the page tries again.
import { byId, mark, write } from "./dom.js";

let ticking = null;

export function connected() {
  clearInterval(ticking);
  byId("banner").hidden = true;
  mark(byId("connection"), "data-state", "good");
  write(byId("connection-words"), "Gateway runs");
}

export function disconnected(pause_s) {
  const until = performance.now() + 1000 * pause_s;
  const count = () => {
    const left = Math.max(0, Math.ceil((until - performance.now()) / 1000));
    write(byId("banner-count"), left > 0 ? `Next try in ${left} s.` : "Trying …");
  };
  clearInterval(ticking);
  write(byId("banner-words"), "The gateway does not answer. What you see below is old. Apps get nothing while it is gone.");
  count();
  ticking = setInterval(count, 500);
  byId("banner").hidden = false;
  mark(byId("connection"), "data-state", "bad");
  write(byId("connection-words"), "Gateway gone");
}
