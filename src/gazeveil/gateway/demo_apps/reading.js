// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// The text follows the reader line by line. A line is lost when gaze seems to be elsewhere for a while.
import { Gaze } from "./gaze.js";
import { listen, report } from "./host.js";
import { Marker, size } from "./marker.js";
import { Scores } from "./scores.js";
import { TEXT } from "./reading_text.js";

const HIGH = 0.87; // the rest of the window is the bar
const SHOWN = 8; // lines in the window
const ROW = 2; // where the line that is read stands
const LEFT = 0.05;
const NEAR = 1; // lines off that still count as this line
const LOST_S = 0.7;
const START = 0.4; // a line is begun on its left
const DONE = 0.8; // share of a line after which it counts as read
const SMOOTH_S = 0.12;

const said = document.getElementById("said");
const gaze = new Gaze((words) => {
  if (said.textContent !== words) said.textContent = words;
});
const marker = new Marker(document.getElementById("marker"));
const scores = new Scores(() => ({ read: 0, lost: 0, seconds: 0, played: false }));
const box = document.getElementById("lines");
const lines = TEXT.map((words, i) => {
  const reach = Object.assign(document.createElement("span"), { className: "reach" });
  const text = Object.assign(document.createElement("span"), { className: "words", textContent: words });
  const node = Object.assign(document.createElement("div"), { className: "line" });
  node.style.top = `${(100 * i) / SHOWN}%`;
  text.append(reach);
  node.append(text);
  box.append(node);
  return { node, text, reach, wide: 1 };
});

/** How much of the window each line takes; asked when the window changes, never while reading. */
function measure() {
  for (const line of lines) line.wide = line.text.offsetWidth / size.width;
}
measure();
addEventListener("resize", measure);

let now = 0; // the line that is read
let begun = false;
let reached = 0;
let away = 0;
let seen = null;
let last = performance.now();
let top = 0; // the line at the window's upper edge

function goTo(line) {
  lines[now].reach.style.transform = "scaleX(0)";
  delete lines[now].node.dataset.now;
  now = (line + lines.length) % lines.length;
  reached = 0;
  begun = false;
  away = 0;
  lines[now].node.dataset.now = "yes";
  top = Math.min(Math.max(0, now - ROW), lines.length - SHOWN);
  box.style.transform = `translateY(${(-100 * top) / SHOWN}%)`;
}

function tell() {
  const { read, lost, seconds } = scores.now;
  const pace = read ? `, ${(seconds / read).toFixed(1)} s a line` : "";
  document.getElementById("score").textContent = `${read} lines read${pace}, ${lost} lost`;
  report({
    columns: ["Lines read", "Seconds a line", "Lines lost"],
    rows: scores.played.map(([level, one]) => [level, one.read, one.read ? Number((one.seconds / one.read).toFixed(1)) : null, one.lost]),
  });
}

function follow([x, y], passed) {
  const result = scores.now;
  result.seconds += passed;
  const row = top + (y / HIGH) * SHOWN - 0.5; // 0 is the middle of the first line
  const share = Math.min(1, Math.max(0, (x - LEFT) / lines[now].wide));
  const next = now + 1;
  if (reached >= DONE && (share < 0.5 || row > now + 0.6)) {
    result.read += 1;
    result.played = true;
    goTo(next);
    tell();
  } else if (Math.abs(row - now) <= NEAR) {
    away = 0;
    begun ||= share < START;
    if (begun) reached = Math.max(reached, share);
    lines[now].reach.style.transform = `scaleX(${reached})`;
  } else if ((away += passed) > LOST_S) {
    result.lost += 1;
    result.played = true;
    goTo(Math.min(lines.length - 1, Math.max(0, Math.round(row))));
    tell();
  }
}

function frame(ms) {
  requestAnimationFrame(frame);
  const passed = Math.min(0.1, (ms - last) / 1000);
  last = ms;
  const point = gaze.now();
  if (point === null) seen = null;
  else if (seen === null) seen = [...point];
  else {
    const share = 1 - Math.exp(-passed / SMOOTH_S);
    seen = [seen[0] + share * (point[0] - seen[0]), seen[1] + share * (point[1] - seen[1])];
  }
  marker.show(seen, size.width, size.height);
  if (seen !== null) follow(seen, passed);
}

listen((level) => {
  scores.level = level;
  tell();
});
goTo(0);
tell();
requestAnimationFrame(frame);
