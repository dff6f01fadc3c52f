// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// One app as a row: who it is, what it gets behind which mechanism, what that costs, and how it fares.
import { make, mark, write } from "./dom.js";
import { isLevel } from "./scale.js";
import { OUTPUTS, presetName, short, STATES } from "./words.js";

const HUES = 4;
const hue = (tag) => [...tag].reduce((sum, letter) => sum + letter.codePointAt(0), 0) % HUES;

export class Row {
  /** @param {object} on  `choose(name)` and `pause(name, on)`. */
  constructor(name, on) {
    const cell = (label, ...inside) => make("td", { role: "cell", "data-label": label }, ...inside);
    const number = (label, ...nodes) => make("td", { role: "cell", "data-label": label, class: "number" }, ...nodes);
    this.canvas = make("canvas", { "aria-hidden": "true" });
    this.button = make("button", { type: "button", click: () => on.choose(name) }, name);
    this.who = make("span", { class: "who" });
    this.tags = make("span", { class: "app-tags" });
    this.mechanism = make("span");
    this.levelLine = make("span", { class: "small" });
    this.output = make("span");
    this.dot = make("span", { class: "dot", "aria-hidden": "true" });
    this.state = make("span");
    this.budget = make("span");
    this.back = make("span", { class: "small" });
    this.bar = make("progress", { max: 1, value: 0, "aria-label": `Budget left for ${name}` });
    this.latency = make("span");
    this.slowest = make("span", { class: "small" });
    this.drops = make("span");
    this.listeners = make("span");
    this.pause = make("button", { type: "button", click: () => on.pause(name, this.paused) }, "Pause");
    this.node = make(
      "tr",
      { role: "row" },
      make("th", { role: "rowheader", scope: "row" }, make("div", { class: "app-name" }, this.canvas, this.button, this.who, this.tags)),
      cell("Mechanism and level", this.mechanism, this.levelLine),
      cell("What leaves", this.output, make("span", { class: "state small" }, this.dot, this.state)),
      cell("Budget left today", make("div", { class: "left" }, this.budget, this.bar, this.back)),
      number("Latency", this.latency, this.slowest),
      number("Drops", this.drops),
      number("Listeners", this.listeners),
      make("td", { role: "cell", class: "steer", "data-label": "Steer" }, this.pause),
    );
  }

  show(app, chosen, participant) {
    this.paused = app.state === "off";
    mark(this.node, "data-chosen", chosen ? "yes" : null);
    mark(this.button, "aria-current", chosen ? "true" : null);
    write(this.who, `${participant} · ${app.protocol}`);
    this.paintTags(app.tags ?? []);
    write(this.mechanism, `${app.veil ?? "mechanism"}${app.level?.preset ? `, ${presetName(app.level.preset).toLowerCase()}` : ""}`);
    const level = app.level;
    const numbers = level && isLevel(level) ? `ε ${short(level.epsilon)} / ${short(level.window_s)} s / ${short(level.radius)} ${level.unit}` : "";
    write(this.levelLine, app.proven ? numbers : "no guarantee");
    write(this.output, (OUTPUTS[app.output] ?? [app.output])[0]);
    mark(this.dot, "data-state", app.state);
    write(this.state, STATES[app.state] ?? app.state);
    this.paintBudget(app.budget);
    const times = app.latency_ms;
    const timed = times && times.p50 !== null;
    write(this.latency, timed ? `${short(times.p50)} ms` : "–");
    write(this.slowest, timed ? `99 %: ${short(times.p99)} ms` : "");
    write(this.drops, String(app.dropped ?? 0));
    write(this.listeners, String(app.listeners ?? 0));
    write(this.pause, this.paused ? "Resume" : "Pause");
    mark(this.pause, "aria-label", `${this.paused ? "Resume" : "Pause"} ${app.name}`);
  }

  paintTags(tags) {
    const key = tags.join("\n");
    if (this.tags.dataset.key === key) return;
    this.tags.dataset.key = key;
    this.tags.replaceChildren(...tags.map((tag) => make("span", { class: "tag", "data-hue": hue(tag) }, tag)));
  }

  paintBudget(budget) {
    const known = budget && budget.per_day > 0;
    write(this.back, known && budget.spent ? `${budget.spent}. Back: ${budget.back}` : "");
    this.bar.hidden = !known || budget.left === null;
    if (!known) write(this.budget, "no budget set");
    else if (budget.left === null) write(this.budget, `ε ${short(budget.per_day)}, not used yet`);
    else {
      write(this.budget, `ε ${short(budget.left)} of ${short(budget.per_day)}`);
      const share = Math.min(1, Math.max(0, budget.left / budget.per_day)).toFixed(4);
      if (this.bar.getAttribute("value") !== share) this.bar.setAttribute("value", share);
    }
  }
}
