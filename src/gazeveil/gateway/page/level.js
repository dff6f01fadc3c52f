// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// The privacy level of the selected app: presets, the slider between them, exact values, and from when it holds.
import { announce } from "./announce.js";
import { appPath, post } from "./api.js";
import { byId, make, mark, write } from "./dom.js";
import { allowed, isLevel, levelAt, movable, nearestStop, positionOf, stopsOf } from "./scale.js";
import { levelWords, PRESETS, presetName, short } from "./words.js";

const SETTLE_MS = 350; // after the last movement of the slider
const FIELDS = { epsilon: "level-epsilon", window_s: "level-window", radius: "level-radius" };

export class LevelForm {
  /** @param {Function} changed  Takes the app as the gateway says it is now. */
  constructor(changed) {
    Object.assign(this, { changed, app: null, settling: null, busy: false, until: 0 });
    byId("level-slider").addEventListener("input", () => this.slid());
    byId("level-presets").addEventListener("change", (event) => this.send({ preset: event.target.value }));
    byId("level").addEventListener("submit", (event) => {
      event.preventDefault();
      this.useFields();
    });
    setInterval(() => this.count(), 250);
  }

  show(app) {
    const another = this.app?.name !== app?.name;
    this.app = app;
    if (another) {
      clearTimeout(this.settling);
      this.settling = null;
      this.until = 0;
      write(byId("level-problem"), "");
      write(byId("level-when"), "");
    }
    const level = app?.level ?? null;
    byId("level-some").hidden = level === null;
    byId("level-none").hidden = level !== null;
    if (level === null || this.settling !== null || this.busy) return;
    this.stops = stopsOf(level);
    this.free = Object.values(movable(level)).every(Boolean);
    this.paintPresets(level);
    this.paintSlider(level);
    this.paintFields(level, another);
    if (this.until && !(level.weaker_in_s > 0)) write(byId("level-when"), "Holds now.");
    this.until = level.weaker_in_s > 0 ? performance.now() + 1000 * level.weaker_in_s : 0;
    this.count();
  }

  paintPresets(level) {
    const box = byId("level-presets");
    const key = JSON.stringify(level.presets);
    if (box.dataset.key !== key) {
      box.dataset.key = key;
      const radios = level.presets.map(({ name }) => {
        const [title, words] = PRESETS[name] ?? [name, ""];
        const radio = make("input", { type: "radio", name: "preset", value: name });
        return make("label", {}, radio, title, make("small", {}, words || name));
      });
      box.replaceChildren(box.querySelector("legend"), ...radios);
    }
    for (const radio of box.querySelectorAll("input")) radio.checked = radio.value === level.preset;
  }

  paintSlider(level) {
    const slider = byId("level-slider");
    const useful = this.stops.length > 1 && isLevel(level);
    slider.hidden = !useful;
    document.querySelector(".slider-label").hidden = !useful;
    if (useful) slider.value = positionOf(level, this.stops);
    this.read(level);
  }

  read(level) {
    const words = isLevel(level) ? levelWords(level, this.app.level.unit) : "This level has no numbers.";
    write(byId("level-reading"), words);
    mark(byId("level-slider"), "aria-valuetext", words);
  }

  paintFields(level, another) {
    const can = movable(level);
    byId("level-exact").hidden = !Object.values(can).some(Boolean);
    write(byId("level-unit"), level.unit);
    for (const [part, id] of Object.entries(FIELDS)) {
      const field = byId(id);
      field.disabled = !can[part];
      if (another || (document.activeElement !== field && !byId("level-exact").contains(document.activeElement))) {
        field.value = level[part] ?? "";
      }
    }
    const bounds = [];
    if (can.epsilon) bounds.push(`ε at most ${short(level.epsilon_at_most)}`);
    if (can.window_s) {
      const most = level.window_at_most ? ` and at most ${short(level.window_at_most)} s` : "";
      bounds.push(`window at least ${short(level.window_at_least)} s${most}`);
    }
    if (can.radius) bounds.push(`radius at least ${short(level.radius_at_least)} ${level.unit}`);
    write(byId("level-bounds"), bounds.length ? `The policy allows: ${bounds.join(", ")}.` : "");
  }

  slid() {
    const position = Number(byId("level-slider").value);
    const target = this.free ? levelAt(position, this.stops) : nearestStop(position, this.stops);
    this.read(target);
    for (const radio of byId("level-presets").querySelectorAll("input")) radio.checked = radio.value === target.name;
    clearTimeout(this.settling);
    this.settling = setTimeout(() => {
      this.settling = null;
      this.send(target.name ? { preset: target.name } : this.wish(target));
    }, SETTLE_MS);
  }

  /** A level as the gateway takes it: only what the policy lets people change, as exact decimals. */
  wish(target) {
    const { level } = this.app;
    const can = movable(level);
    const text = (part) => String(allowed(target[part], part, level));
    const wish = {};
    if (can.epsilon) wish.epsilon = text("epsilon");
    if (can.window_s) wish.window = text("window_s");
    if (can.radius) wish.radius = `${text("radius")}${level.unit}`;
    return wish;
  }

  useFields() {
    const { level } = this.app;
    const can = movable(level);
    const wish = {};
    for (const [part, id] of Object.entries(FIELDS)) {
      if (!can[part]) continue;
      const text = byId(id).value.trim().replace(",", ".");
      if (!/^\d+(\.\d+)?$/.test(text) || Number(text) <= 0) {
        write(byId("level-problem"), "Expected a number above 0, such as 1.5.");
        byId(id).focus();
        return;
      }
      if (part === "radius") wish.radius = `${text}${level.unit}`;
      else wish[part === "epsilon" ? "epsilon" : "window"] = text;
    }
    this.send(wish);
  }

  async send(wish) {
    const { name } = this.app;
    this.busy = true;
    write(byId("level-problem"), "");
    try {
      const app = await post(appPath(name, "level"), wish);
      this.busy = false;
      this.changed(app);
      const level = app.level ?? {};
      this.until = level.weaker_in_s > 0 ? performance.now() + 1000 * level.weaker_in_s : 0;
      const when = this.until ? `holds in ${short(level.weaker_in_s)} seconds` : "holds now";
      const title = level.preset ? `${presetName(level.preset)}: ` : "";
      announce(`${title}${isLevel(level) ? levelWords(level, level.unit) : "no numbers"}, ${when}.`);
      if (!this.until) write(byId("level-when"), "Holds now: a stricter level holds at once.");
      this.count();
    } catch (error) {
      this.busy = false;
      write(byId("level-problem"), error.words ?? "The gateway did not answer.");
      this.show(this.app);
    }
  }

  /** Say when a looser level holds. Written for eyes; the announcer has said it once. */
  count() {
    if (!this.until) return;
    const left = (this.until - performance.now()) / 1000;
    const clock = new Date(Date.now() + 1000 * left).toLocaleTimeString("en-GB");
    if (left > 0) write(byId("level-when"), `Looser, so it waits until what was shown is over: holds from ${clock}.`);
    else {
      this.until = 0;
      write(byId("level-when"), "Holds now.");
    }
  }
}
