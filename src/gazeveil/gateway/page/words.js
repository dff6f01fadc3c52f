// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// What codes are called in plain words.

export const PRESETS = {
  lphu: ["Light", "sharp gaze"],
  mpmu: ["Medium", "balanced"],
  hplu: ["Strong", "most private"],
  off: ["Off", "no guarantee"],
  policy: ["As in the policy", ""],
};

export const presetName = (name) => (PRESETS[name] ?? [name])[0];

export const STATES = {
  flowing: "Receives gaze",
  "no listener": "No listener",
  silent: "No gaze now",
  ended: "Ended",
  off: "Paused",
};

export const OUTPUTS = {
  samples: ["every point", "Each veiled point, many per second."],
  fixations: ["fixations only", "Where gaze rested and for how long, after the veil."],
  hits: ["hits only", "Only the name of the area that was looked at, after the veil."],
};

export const SOURCES = {
  policy: ["Your tracker", "Gaze comes from the tracker in the policy."],
  simulate: ["Simulated eyes", "A made-up participant looks around."],
  replay: ["Replay", "A recording is played again."],
  mouse: ["Mouse as an eye", "Move the pointer over a picture or a demo app, or focus one and use the arrow keys."],
};

/** A number with as many digits as help, and no more. */
export function short(value) {
  if (value === null || value === undefined || !Number.isFinite(Number(value))) return "–";
  const number = Number(value);
  if (Math.abs(number) >= 1000) return Math.round(number).toLocaleString("en");
  return String(Number(number.toPrecision(3)));
}

export const inHundred = (share) => Math.round(100 * share);

/** A level in one line. */
export function levelWords({ epsilon, window_s: seconds, radius }, unit) {
  return `ε ${short(epsilon)} for any ${short(seconds)} s, up to ${short(radius)} ${unit}`;
}

/** A guarantee as people write a sentence. */
export const sentence = (words) => (words ? words.replace(/^[a-z]/, (letter) => letter.toUpperCase()) + (/[.!?]$/.test(words) ? "" : ".") : "");
