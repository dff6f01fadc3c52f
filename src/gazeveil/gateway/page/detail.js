// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// The selected app: what is guaranteed, what was measured, and everything that can be decided for it.
import { announce } from "./announce.js";
import { appPath, blob, post } from "./api.js";
import { byId, fillSelect, make, mark, write } from "./dom.js";
import { showGauge } from "./gauge.js";
import { LevelForm } from "./level.js";
import { OUTPUTS, sentence, STATES } from "./words.js";

export class Detail {
  /** @param {Function} changed  Takes the app as the gateway says it is now. */
  constructor(changed) {
    Object.assign(this, { changed, app: null });
    this.level = new LevelForm(changed);
    byId("detail-pause").addEventListener("click", () => this.pause());
    byId("rule").addEventListener("change", () => this.rule());
    byId("tags-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.tags();
    });
    byId("export-csv").addEventListener("click", () => this.save("csv"));
    byId("export-json").addEventListener("click", () => this.save("json"));
  }

  show(app) {
    const another = this.app?.name !== app?.name;
    this.app = app;
    for (const part of byId("detail").querySelectorAll(":scope > :not(.section-head)")) part.hidden = app === null;
    byId("detail-pause").hidden = app === null;
    write(byId("detail-title"), app === null ? "No app is selected" : app.name);
    this.level.show(app);
    if (app === null) return;
    write(byId("detail-state"), sentence(app.why ? `${STATES[app.state] ?? app.state}: ${app.why}` : (STATES[app.state] ?? app.state)));
    write(byId("detail-pause"), app.state === "off" ? "Resume" : "Pause");
    showGauge(app.recognised ?? null);
    mark(document.querySelector(".guarantee"), "data-proven", app.proven ? "yes" : "no");
    write(byId("guarantee-words"), sentence(app.guarantee));
    this.paintRule(app);
    if (another) byId("tags-field").value = (app.tags ?? []).join(", ");
  }

  paintRule(app) {
    const choices = app.outputs ?? [app.output];
    const pairs = choices.map((name) => [name, (OUTPUTS[name] ?? [name])[0]]);
    fillSelect(byId("rule"), pairs, app.output);
    byId("rule").disabled = choices.length < 2;
    const one = choices.length < 2 ? " The policy gives nothing else to choose." : "";
    write(byId("rule-words"), `${(OUTPUTS[app.output] ?? ["", ""])[1]}${one}`);
  }

  async decide(what, body, said) {
    try {
      const app = await post(appPath(this.app.name, what), body);
      this.changed(app);
      announce(said(app));
    } catch (error) {
      announce(error.words ?? "The gateway did not answer.");
      write(byId("level-problem"), error.words ?? "The gateway did not answer.");
    }
  }

  pause() {
    const on = this.app.state === "off";
    return this.decide("switch", { on }, (app) => `${app.name} is ${on ? "on again" : "paused: it gets nothing"}.`);
  }

  rule() {
    const output = byId("rule").value;
    return this.decide("rule", { output }, (app) => `${app.name} gets ${(OUTPUTS[output] ?? [output])[0]}.`);
  }

  tags() {
    const tags = byId("tags-field").value.split(",").map((tag) => tag.trim()).filter(Boolean);
    return this.decide("tags", { tags: [...new Set(tags)] }, (app) => `Tags of ${app.name} are saved.`);
  }

  async save(format) {
    try {
      const kept = await blob(appPath(this.app.name, `received?format=${format}`));
      saveAs(kept, `${this.app.name}-received.${format}`);
    } catch (error) {
      announce(error.words ?? "The gateway did not answer.");
    }
  }
}

/** Let the browser save a blob as a file. */
export function saveAs(kept, name) {
  const url = URL.createObjectURL(kept);
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
