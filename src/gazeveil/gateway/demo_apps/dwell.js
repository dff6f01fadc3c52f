// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// Look at the target that asks for it until it is full. The app knows where gaze is from its veiled stream alone.
import { Gaze } from "./gaze.js";
import { listen, report } from "./host.js";
import { Marker, size } from "./marker.js";
import { median, Scores } from "./scores.js";

const DWELL_S = 0.8;
const EMPTIES_S = 0.4; // so fast a target empties again when gaze leaves it
const GIVE_UP_S = 15;
const FLASH_MS = 400;
const HIGH = 0.87; // the rest of the window is the bar
const [WIDE, TALL] = [0.24, 0.22];

const said = document.getElementById("said");
const gaze = new Gaze((words) => {
  if (said.textContent !== words) said.textContent = words;
});
const marker = new Marker(document.getElementById("marker"));
const scores = new Scores(() => ({ times: [], wrong: 0, missed: 0, played: false }));

const targets = Array.from({ length: 9 }, (_, i) => {
  const [x, y] = [((i % 3) + 0.5) / 3, (HIGH * (Math.floor(i / 3) + 0.5)) / 3];
  const fill = Object.assign(document.createElement("span"), { className: "fill" });
  const label = Object.assign(document.createElement("b"), { textContent: String(i + 1) });
  const node = Object.assign(document.createElement("div"), { className: "target" });
  node.style.left = `${100 * (x - WIDE / 2)}%`;
  node.style.top = `${100 * (y - TALL / 2)}%`;
  node.append(fill, label);
  document.getElementById("targets").append(node);
  return { name: String(i + 1), x, y, node, fill, full: 0 };
});

let asked = null;
let since = 0;
let last = performance.now();

function ask(now) {
  const others = targets.filter((one) => one !== asked);
  if (asked) delete asked.node.dataset.asked;
  asked = others[Math.floor(Math.random() * others.length)];
  asked.node.dataset.asked = "yes";
  since = now;
}

function flash(target, how) {
  target.node.dataset.flash = how;
  setTimeout(() => delete target.node.dataset.flash, FLASH_MS);
}

function selected(target, now) {
  const result = scores.now;
  result.played = true;
  target.full = 0;
  if (target === asked) {
    result.times.push((now - since) / 1000);
    flash(target, "right");
    ask(now);
  } else {
    result.wrong += 1;
    flash(target, "wrong");
  }
  tell();
}

function tell() {
  const { times, wrong, missed } = scores.now;
  const time = times.length ? `, ${median(times).toFixed(1)} s each` : "";
  document.getElementById("score").textContent = `${times.length} selected${time}, ${wrong} wrong, ${missed} missed`;
  report({
    columns: ["Selected", `Seconds each (${DWELL_S} is dwell)`, "Wrong", "Missed"],
    rows: scores.played.map(([level, one]) => [level, one.times.length, one.times.length ? Number(median(one.times).toFixed(1)) : null, one.wrong, one.missed]),
  });
}

const inside = (target, point) => Math.abs(point[0] - target.x) < WIDE / 2 && Math.abs(point[1] - target.y) < TALL / 2;

function frame(now) {
  requestAnimationFrame(frame);
  const passed = Math.min(0.1, (now - last) / 1000);
  last = now;
  const point = gaze.now();
  marker.show(point, size.width, size.height);
  for (const target of targets) {
    const on = gaze.area === null ? point !== null && inside(target, point) : gaze.area === target.name;
    const before = target.full;
    target.full = Math.max(0, before + (on ? passed / DWELL_S : -passed / EMPTIES_S));
    if (target.full !== before) target.fill.style.transform = `scaleX(${Math.min(1, target.full)})`;
    if (target.full >= 1) selected(target, now);
  }
  if (point === null && gaze.area === null) since += 1000 * passed; // nobody looks: the time does not count
  else if (now - since > 1000 * GIVE_UP_S) {
    scores.now.missed += 1;
    scores.now.played = true;
    ask(now);
    tell();
  }
}

listen((level) => {
  scores.level = level;
  tell();
});
ask(last);
tell();
requestAnimationFrame(frame);
