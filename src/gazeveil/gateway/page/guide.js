// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// The first-run guide: tracker, participant, app, level, and a policy file to save.
import { get, post } from "./api.js";
import { saveAs } from "./detail.js";
import { byId, make, mark, write } from "./dom.js";
import { request, STEPS } from "./guide_steps.js";

const TITLES = [...STEPS.map(({ title }) => title), "Policy file"];

class Guide {
  constructor() {
    this.at = 0;
    byId("open-guide").addEventListener("click", () => this.open());
    byId("guide-back").addEventListener("click", () => this.go(this.at - 1));
    byId("guide-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.next();
    });
    byId("guide-steps").replaceChildren(...TITLES.map((title) => make("li", {}, title)));
  }

  async open() {
    try {
      this.choices = await get("v1/guide");
    } catch (error) {
      this.choices = null;
      byId("guide-body").replaceChildren(make("p", {}, error.words ?? "The gateway does not answer."));
      byId("guide").showModal();
      return;
    }
    const { sources, sinks, presets, screens } = this.choices;
    const first = (list, wanted) => (list.find(({ name }) => name === wanted) ?? list[0]).name;
    this.given = {
      screen: 0,
      tracker: { name: "desk", protocol: first(sources, "simulate"), address: "", screen: { ...screens[0] } },
      participant: "participant-1",
      budget: "5000",
      app: { name: "reader", protocol: first(sinks, "websocket"), listen: "", output: "samples" },
      level: first(presets, "mpmu"),
    };
    this.go(0);
    byId("guide").showModal();
    byId("guide-body").querySelector("h3")?.focus();
  }

  go(at) {
    this.at = Math.max(0, at);
    write(byId("guide-problem"), "");
    const step = STEPS[this.at];
    if (step) {
      byId("guide-body").replaceChildren(...step.build(this.given, this.choices));
      step.wire?.(this.choices);
    }
    for (const [i, item] of [...byId("guide-steps").children].entries()) {
      mark(item, "aria-current", i === this.at ? "step" : null);
      mark(item, "data-done", i < this.at ? "yes" : null);
    }
    byId("guide-back").disabled = this.at === 0;
    write(byId("guide-next"), this.at === STEPS.length ? "Save policy.toml" : "Next");
    if (byId("guide").open) byId("guide-body").querySelector("h3")?.focus();
  }

  async next() {
    if (!this.choices) return;
    if (this.at === STEPS.length) {
      saveAs(new Blob([this.toml], { type: "application/toml" }), "policy.toml");
      return;
    }
    const problem = STEPS[this.at].take(this.given, this.choices);
    write(byId("guide-problem"), problem);
    if (problem) return;
    if (this.at < STEPS.length - 1) this.go(this.at + 1);
    else await this.finish();
  }

  async finish() {
    try {
      const { toml, problems } = await post("v1/guide/policy", request(this.given));
      if (problems.length) {
        write(byId("guide-problem"), problems.join(" "));
        return;
      }
      this.toml = toml;
    } catch (error) {
      write(byId("guide-problem"), error.words ?? "The gateway did not answer.");
      return;
    }
    this.go(STEPS.length);
    byId("guide-body").replaceChildren(
      make("h3", { tabindex: "-1" }, "Your policy"),
      make("p", {}, "Save it, then run these two commands where you saved it:"),
      make("pre", { tabindex: "0", "aria-label": "Commands" }, make("code", {}, "gazeveil policy check policy.toml\ngazeveil serve policy.toml --create-ledger")),
      make("pre", { tabindex: "0", "aria-label": "The policy file", id: "guide-toml" }, make("code", {}, this.toml)),
    );
    byId("guide-body").querySelector("h3").focus();
  }
}

export const startGuide = () => new Guide();
