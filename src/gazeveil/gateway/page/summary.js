// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// What the trails show, in words: for everybody below the pictures, and as the pictures' text alternative.
import { byId, write } from "./dom.js";
import { KEPT_S } from "./trail.js";
import { seconds } from "./trails.js";

const OVER_S = 2;
const NEWEST = 0.2; // how much the newest two seconds count in a mean distance
const means = new Map();

function place([x, y]) {
  const across = x < 1 / 3 ? "left" : x > 2 / 3 ? "right" : "middle";
  const down = y < 1 / 3 ? "top" : y > 2 / 3 ? "bottom" : "centre";
  return `${down} ${across}`;
}

function read(trail, now) {
  let points = 0;
  trail.each(now, OVER_S, (age, x) => {
    points += Number.isNaN(x) ? 0 : 1;
  });
  return { rate: Math.round(points / OVER_S), head: trail.head(now) };
}

/** How far the points of a trail are from raw gaze of the same moment, on average, as a share of the width. */
function distance(trail, raw, now, shape) {
  const truth = [];
  raw.each(now, KEPT_S, (age, x, y, t) => Number.isNaN(x) || truth.push([t, x, y]));
  if (truth.length < 10) return null;
  let sum = 0;
  let n = 0;
  let i = 0;
  trail.each(now, OVER_S, (age, x, y, t) => {
    if (Number.isNaN(x) || t < truth[0][0]) return;
    while (i < truth.length - 1 && truth[i + 1][0] <= t) i++;
    sum += Math.hypot(x - truth[i][1], (y - truth[i][2]) * shape);
    n++;
  });
  return n ? sum / n : null;
}

function smoothed(key, far) {
  if (far === null) return null;
  const before = means.get(key) ?? far;
  means.set(key, before + NEWEST * (far - before));
  return means.get(key);
}

function words({ rate, head }, far, plane) {
  if (!head) return "No points now.";
  const off = far === null ? "" : `, off by ${Math.round(far * plane.width)} ${plane.unit} on average`;
  return `${rate} points per second, now ${place(head)}${off}.`;
}

/** Write the summaries; called now and then, never for each sample. */
export function summarise(trails, app, plane, rawShown, filter) {
  const now = seconds();
  const shape = plane.height / plane.width;
  if (!rawShown) means.clear();
  write(byId("raw-summary"), rawShown ? words(read(trails.raw, now), null, plane) : "Not shown.");
  for (const kind of ["veiled", "undone"]) {
    if (!app) {
      write(byId(`${kind}-summary`), "No app is selected.");
      continue;
    }
    const { [kind]: trail, hit } = trails.of(app);
    if (hit && now - hit.at < OVER_S) {
      write(byId(`${kind}-summary`), kind === "veiled" ? `Hits only: ${hit.area ? `area ${hit.area}` : "no area"}.` : "Nothing to undo: no points leave.");
      continue;
    }
    const far = rawShown ? smoothed(`${app} ${kind}`, distance(trail, trails.raw, now, shape)) : null;
    const told = words(read(trail, now), far, plane);
    write(byId(`${kind}-summary`), kind === "undone" && filter ? `${told} Filter: ${filter}.` : told);
  }
}
