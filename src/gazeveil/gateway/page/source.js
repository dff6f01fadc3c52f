// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// Where gaze comes from: the policy's tracker, simulated eyes, a replay, or the mouse.
import { announce } from "./announce.js";
import { post, trackerPath } from "./api.js";
import { byId, make, write } from "./dom.js";
import { PointerEye } from "./pointer_eye.js";
import { SOURCES } from "./words.js";

const STALE_MS = 5000; // how long a status from before the choice may still come

export class SourceChoice {
  /** @param {Function} tracker  Returns the name of the tracker that is shown; `decided` takes the kind that was chosen. */
  constructor(tracker, decided) {
    Object.assign(this, { tracker, decided, told: "", awaited: null, until: 0 });
    this.eye = new PointerEye((words) => {
      write(byId("source-words"), words);
      announce(words);
      this.told = words;
    });
    byId("source-take-now").addEventListener("click", () => this.choose("mouse"));
    byId("source-choices").addEventListener("change", (event) => this.choose(event.target.value));
  }

  show(source) {
    byId("source").hidden = !source;
    if (!source || this.choosing) return;
    if (this.awaited && source.kind !== this.awaited && performance.now() < this.until) return;
    this.awaited = null;
    const box = byId("source-choices");
    const choices = source.choices.includes(source.kind) ? source.choices : [source.kind, ...source.choices];
    const key = choices.join();
    if (box.dataset.key !== key) {
      box.dataset.key = key;
      const radios = choices.map((kind) => {
        const radio = make("input", { type: "radio", name: "source", value: kind, disabled: choices.length < 2 });
        return make("label", {}, radio, (SOURCES[kind] ?? [kind])[0]);
      });
      box.replaceChildren(box.querySelector("legend"), ...radios);
    }
    for (const radio of box.querySelectorAll("input")) radio.checked = radio.value === source.kind;
    if (this.eye.on && source.kind !== "mouse") this.eye.stop();
    byId("source-take").hidden = source.kind !== "mouse" || this.eye.on;
    if (!this.told) write(byId("source-words"), (SOURCES[source.kind] ?? ["", ""])[1]);
  }

  async choose(kind) {
    this.told = "";
    this.choosing = true;
    try {
      const taken = await post(trackerPath(this.tracker(), "source"), { kind });
      Object.assign(this, { awaited: taken.kind, until: performance.now() + STALE_MS });
      this.decided(taken.kind);
      if (taken.url) this.eye.start(taken, document.querySelectorAll(".eye-surface"));
      else this.eye.stop();
      write(byId("source-words"), (SOURCES[kind] ?? ["", ""])[1]);
      announce(`Gaze comes from: ${(SOURCES[kind] ?? [kind])[0]}.`);
    } catch (error) {
      this.told = error.words ?? "The gateway did not answer.";
      write(byId("source-words"), this.told);
      announce(this.told);
    } finally {
      this.choosing = false;
    }
  }
}
