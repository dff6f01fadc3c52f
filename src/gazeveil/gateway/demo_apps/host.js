// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// What the page around this app says: colours and the name of the level. And what this app says back: its score.

const inFrame = window.parent !== window;

/** @param {Function} levelled  Takes the level's name whenever it changes. */
export function listen(levelled) {
  if (!inFrame) return;
  addEventListener("message", (event) => {
    if (event.source !== window.parent || typeof event.data !== "object" || event.data === null) return;
    const { theme, level } = event.data;
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
    if (typeof level === "string") levelled(level);
  });
  window.parent.postMessage({ ready: true }, "*");
}

/** Tell the page around how this app fares: labels and numbers, nothing that came from gaze directly. */
export function report(score) {
  if (inFrame) window.parent.postMessage({ score }, "*");
}
