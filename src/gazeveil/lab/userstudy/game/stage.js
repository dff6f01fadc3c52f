// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// Draws and runs rounds: the accuracy check, and the game. If gaze is lost, a round is played again from its beginning.
import { Gaze } from "./gaze.js";
import { radius, Round } from "./rules.js";

const POINT_S = 1.4; // so long each point of the check is shown
const LOOKED_S = 0.7; // and of that the last part counts
const COLOURS = { target: "#e07b28", distractor: "#4f9bd9" };

const field = document.getElementById("field");
const ink = field.getContext("2d");
const said = document.getElementById("said");
let [wide, high] = [1, 1];
let pressed = false;
let round = null;

function fit() {
  const sharp = Math.min(devicePixelRatio || 1, 2);
  [wide, high] = [innerWidth, innerHeight];
  field.width = Math.round(wide * sharp);
  field.height = Math.round(high * sharp);
  ink.setTransform(sharp, 0, 0, sharp, 0, 0);
}
addEventListener("resize", fit);
addEventListener("keydown", (event) => {
  if (event.code !== "Space" || document.getElementById("stage").hidden) return;
  if (!event.repeat) pressed = true;
  event.preventDefault();
});

/** What can be seen now, in shares of the window: for players that are programs. */
window.gazeveilStage = () => ({
  playing: round !== null && !round.over,
  control: round?.control ?? "",
  check: window.gazeveilCheck ?? null,
  things: (round?.here ?? []).map(({ number, kind, x, y, distance }) => ({ number, kind, x, y, radius: radius(distance), distance })),
  cursor: window.gazeveilCursor ?? null,
  tall: high / wide,
});

function tell(words) {
  if (said.textContent !== words) said.textContent = words;
}

function circle(x, y, size, colour, dashed) {
  ink.beginPath();
  if (dashed) ink.rect(x - size, y - size, 2 * size, 2 * size);
  else ink.arc(x, y, size, 0, 2 * Math.PI);
  ink.fillStyle = colour;
  ink.fill();
}

function cursor(point) {
  window.gazeveilCursor = point;
  if (!point) return;
  ink.globalAlpha = 0.55;
  circle(point[0] * wide, point[1] * high, 14, "#ffffff");
  ink.globalAlpha = 1;
}

/** Call `draw` in every frame until it returns something, and return that. */
function frames(draw) {
  return new Promise((done) => {
    const frame = (now) => {
      ink.clearRect(0, 0, wide, high);
      const result = draw(now);
      if (result === undefined) requestAnimationFrame(frame);
      else done(result);
    };
    requestAnimationFrame(frame);
  });
}

const listening = new Map();

/** The stream of a condition: kept open, so that the next round of the same condition begins at once. */
function gazeOf(url) {
  for (const [other, gaze] of listening) {
    if (other !== url) {
      gaze.close();
      listening.delete(other);
    }
  }
  if (!listening.has(url)) listening.set(url, new Gaze(url));
  return listening.get(url);
}

async function gazeComes(gaze, words) {
  await frames(() => {
    tell(gaze.ended ? words.ended(gaze.ended) : words.waiting);
    return gaze.now() && !gaze.lost ? true : undefined;
  });
  tell("");
}

/** Nine points, one after the other; returns where gaze was for each. */
export async function check(step, words) {
  fit();
  const gaze = gazeOf(step.stream);
  for (let attempt = 1; ; attempt++) {
    await gazeComes(gaze, words);
    const points = [];
    for (let number = 0; number < 9; number++) {
      const [x, y] = [0.1 + 0.4 * (number % 3), 0.1 + 0.4 * Math.floor(number / 3)];
      const start = performance.now();
      gaze.keep(start);
      window.gazeveilCheck = [x, y];
      const seen = await frames((now) => {
        circle(x * wide, y * high, 12, "#ffffff");
        circle(x * wide, y * high, 4, "#16202b");
        if (gaze.lost) return null;
        return now - start > 1000 * POINT_S ? gaze.kept.filter(([t, gx]) => gx !== null && t > POINT_S - LOOKED_S) : undefined;
      });
      if (seen === null) break;
      const mean = (place) => (seen.length ? seen.reduce((sum, sample) => sum + sample[place], 0) / seen.length : null);
      points.push({ x, y, gaze_x: mean(1), gaze_y: mean(2), samples: seen.length });
    }
    window.gazeveilCheck = null;
    if (points.length === 9) return { points, attempts: attempt };
  }
}

/** One round of the game. Returns what became of each thing, and the gaze that came. */
export async function play(step, rules, words, levels) {
  fit();
  const gaze = gazeOf(step.stream);
  for (let attempt = 1; ; attempt++) {
    await gazeComes(gaze, words);
    round = new Round(rules, step.control, step.seed, step.seconds);
    const start = performance.now();
    const shown = { frames: 0, slowest_ms: 0, last: start };
    gaze.keep(start);
    levels?.begin(start);
    pressed = false;
    const whole = await frames((now) => {
      shown.frames += 1;
      shown.slowest_ms = Math.max(shown.slowest_ms, now - shown.last);
      shown.last = now;
      const point = gaze.now();
      round.step(Math.max(0, (now - start) / 1000), point, pressed, high / wide);
      pressed = false;
      for (const { kind, x, y, distance, number } of round.here) {
        const size = radius(distance) * wide;
        circle(x * wide, y * high, size, COLOURS[kind], kind === "distractor");
        if (round.held === number && round.control === "dwell") {
          ink.globalAlpha = 0.5;
          circle(x * wide, y * high, size * Math.min(1, round.since / rules.dwell_s), "#ffffff");
          ink.globalAlpha = 1;
        }
      }
      cursor(point);
      if (gaze.lost) return false;
      return round.over ? true : undefined;
    });
    const found = { things: round.gone, gaze: gaze.kept, empty: round.empty, attempts: attempt, seconds: round.now, ...levels?.end() };
    const targets = round.gone.filter(({ kind, fate }) => kind === "target" && fate !== "left");
    window.gazeveilLast = targets.length ? targets.filter(({ fate }) => fate === "destroyed").length / targets.length : 0;
    round = null;
    cursor(null);
    if (whole) return { ...found, frames: shown.frames, slowest_frame_ms: shown.slowest_ms, wide, high };
  }
}
