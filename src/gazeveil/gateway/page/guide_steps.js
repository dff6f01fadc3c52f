// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// The steps of the guide: what each asks, and what it takes from the fields. `given` is what was answered so far.
import { make } from "./dom.js";
import { levelWords, OUTPUTS, PRESETS } from "./words.js";

function field(id, label, value, more = {}) {
  const input = make("input", { type: "text", id, autocomplete: "off", spellcheck: "false", ...more });
  input.value = value ?? "";
  return make("span", { class: "field" }, make("label", { for: id }, label), input);
}

function select(id, label, pairs, chosen) {
  const node = make("select", { id }, ...pairs.map(([value, words]) => make("option", { value }, words)));
  node.value = chosen;
  return make("span", { class: "field" }, make("label", { for: id }, label), node);
}

/** Choices as cards: `[[value, title, words], …]`. */
function cards(name, legend, choices, chosen) {
  const made = choices.map(([value, title, words]) => {
    const radio = make("input", { type: "radio", name, value });
    radio.checked = value === chosen;
    return make("label", {}, radio, title, make("small", {}, words));
  });
  return make("fieldset", { class: "choices" }, make("legend", {}, legend), ...made);
}

const text = (id) => document.getElementById(id).value.trim();
const picked = (name) => document.querySelector(`input[name="${name}"]:checked`)?.value;
const heading = (words) => make("h3", { tabindex: "-1" }, words);
const SCREEN = ["width_px", "height_px", "width_mm", "height_mm", "distance_mm"];
const SCREEN_WORDS = ["Width in pixels", "Height in pixels", "Width in mm", "Height in mm", "Distance of the eyes in mm"];

const tracker = {
  title: "Tracker",
  build: (given, choices) => [
    heading("Which tracker do you have?"),
    cards(
      "guide-protocol",
      "Choose “Simulated eyes” to try everything without one.",
      choices.sources.map(({ name, title, port }) => [name, title, port ? `usually on port ${port}` : "needs no hardware"]),
      given.tracker.protocol,
    ),
    make("div", { class: "fields" }, field("guide-tracker", "A name for it", given.tracker.name), field("guide-address", "Address, if not the usual one", given.tracker.address, { placeholder: "127.0.0.1:4242" })),
    select("guide-screen", "Screen", choices.screens.map(({ title }, i) => [String(i), title]), String(given.screen)),
    make("details", {}, make("summary", {}, "Measures of the screen"), make("div", { class: "fields" }, ...SCREEN.map((name, i) => field(`guide-${name}`, SCREEN_WORDS[i], given.tracker.screen[name], { inputmode: "numeric" })))),
  ],
  wire: (choices) => {
    document.getElementById("guide-screen").addEventListener("change", (event) => {
      for (const name of SCREEN) document.getElementById(`guide-${name}`).value = choices.screens[event.target.value][name];
    });
  },
  take: (given) => {
    given.screen = Number(text("guide-screen"));
    given.tracker = { protocol: picked("guide-protocol"), name: text("guide-tracker"), address: text("guide-address"), screen: {} };
    for (const name of SCREEN) given.tracker.screen[name] = Number(text(`guide-${name}`));
    if (!given.tracker.name) return "Give the tracker a name.";
    if (!Object.values(given.tracker.screen).every((value) => value > 0)) return "The measures of the screen must be numbers above 0.";
    return "";
  },
};

const participant = {
  title: "Participant",
  build: (given) => [
    heading("Whose gaze is it?"),
    make("p", {}, "The daily privacy budget belongs to this participant. A code is enough; no real name is needed."),
    make("div", { class: "fields" }, field("guide-participant", "Participant", given.participant), field("guide-budget", "Budget of ε in any 24 hours (empty: none)", given.budget, { inputmode: "decimal" })),
    make("p", { class: "quiet-text" }, "With the medium level, 5000 lasts about an hour and a half of gaze each day."),
  ],
  take: (given) => {
    given.participant = text("guide-participant");
    given.budget = text("guide-budget");
    if (!given.participant) return "Name the participant.";
    if (given.budget && !/^\d+(\.\d+)?$/.test(given.budget)) return "The budget must be a number, such as 5000.";
    return "";
  },
};

const app = {
  title: "App",
  build: (given, choices) => [
    heading("Which app wants gaze?"),
    make(
      "div",
      { class: "fields" },
      field("guide-app", "A name for it", given.app.name),
      select("guide-sink", "It speaks", choices.sinks.map(({ name, title }) => [name, title]), given.app.protocol),
      field("guide-port", "Port, if not the usual one", given.app.listen, { inputmode: "numeric" }),
    ),
    cards("guide-output", "What does it need? Give it no more than that.", ["samples", "fixations"].map((name) => [name, OUTPUTS[name][0], OUTPUTS[name][1]]), given.app.output),
  ],
  take: (given, choices) => {
    given.app = { name: text("guide-app"), protocol: text("guide-sink"), listen: text("guide-port"), output: picked("guide-output") };
    const sink = choices.sinks.find(({ name }) => name === given.app.protocol);
    if (!given.app.name) return "Give the app a name.";
    if (given.app.listen && !/^\d{1,5}$/.test(given.app.listen)) return "The port must be a number.";
    if (sink.outputs && !sink.outputs.includes(given.app.output)) return `${sink.title} cannot carry ${given.app.output}. Choose another protocol or every point.`;
    return "";
  },
};

const level = {
  title: "Privacy level",
  build: (given, choices) => [
    heading("How private should it be?"),
    cards(
      "guide-level",
      "You can change it later on this page, at any time.",
      choices.presets.map((preset) => {
        const [title, words] = PRESETS[preset.name] ?? [preset.name, ""];
        return [preset.name, `${title}${words ? `: ${words}` : ""}`, levelWords(preset, preset.unit ?? "px")];
      }),
      given.level,
    ),
    make("p", { class: "quiet-text" }, "ε, window and radius together say how well any stretch of gaze is hidden. They do not hide who the participant is."),
  ],
  take: (given) => {
    given.level = picked("guide-level");
    return given.level ? "" : "Choose a level.";
  },
};

export const STEPS = [tracker, participant, app, level];

/** What the gateway is asked for: fields that were left empty are left out. */
export function request(given) {
  const { tracker: one, app: other } = given;
  const asked = { name: one.name, protocol: one.protocol, screen: one.screen };
  if (one.address) asked.address = one.address;
  const wanted = { name: other.name, protocol: other.protocol, output: other.output };
  if (other.listen) wanted.listen = Number(other.listen);
  return { tracker: asked, participant: given.participant, app: wanted, level: given.level, budget: given.budget || null };
}
