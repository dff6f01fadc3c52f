// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// One polite voice for screen readers. It says only the latest thing, at most once in two seconds.
import { byId } from "./dom.js";

const PAUSE_MS = 2000;
let waiting = null;
let last = -PAUSE_MS;

export function announce(words) {
  const now = performance.now();
  clearTimeout(waiting);
  const say = () => {
    last = performance.now();
    byId("announcer").textContent = words;
  };
  if (now - last >= PAUSE_MS) say();
  else waiting = setTimeout(say, PAUSE_MS - (now - last));
}
