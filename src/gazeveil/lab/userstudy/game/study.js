// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// The way through the study: the server says what is next, the page does it and sends what came of it.
import { ask, close, say, welcome } from "./forms.js";
import { check, play } from "./stage.js";
import { wordsOf } from "./words.js";

const AGAIN_MS = 1000;
const [words, stage] = [document.getElementById("words"), document.getElementById("stage")];
const place = document.getElementById("levels");
const away = document.getElementById("away");
let text = wordsOf("en");

/** Ask the server until it answers: what was done must not be lost because it was away for a while. */
async function send(way, body) {
  for (;;) {
    try {
      const answer = await fetch(`api/${way}`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
      const told = await answer.json();
      away.textContent = "";
      if (answer.ok) return told;
      if (answer.status === 400) throw new Error(told.error);
    } catch (error) {
      if (!(error instanceof TypeError || error instanceof SyntaxError)) throw error;
    }
    away.textContent = text.again;
    await new Promise((done) => setTimeout(done, AGAIN_MS));
  }
}

/** The levels that may be chosen while playing, and when which was. */
function choosing(levels, participant) {
  const chosen = [];
  let start = 0;
  const choose = async (level, button) => {
    await send("level", { participant, level });
    chosen.push([(performance.now() - start) / 1000, level]);
    for (const other of place.children) other.setAttribute("aria-pressed", String(other === button));
  };
  const buttons = levels.map((level, number) => {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: `${number + 1}: ${level}` });
    button.addEventListener("click", () => choose(level, button));
    return button;
  });
  const keys = (event) => buttons[Number(event.key) - 1]?.click();
  return {
    begin(now) {
      start = now;
      chosen.length = 0;
      place.replaceChildren(...buttons);
      place.hidden = false;
      buttons[0]?.click(); // everybody begins at the first level, whatever the one before them had chosen
      addEventListener("keydown", keys);
    },
    end() {
      removeEventListener("keydown", keys);
      place.hidden = true;
      return { levels: [...chosen] };
    },
  };
}

async function onStage(act) {
  words.replaceChildren();
  [words.hidden, stage.hidden] = [true, false];
  try {
    return await act();
  } finally {
    [words.hidden, stage.hidden] = [false, true];
  }
}

async function doStep(step, rules, participant) {
  document.body.dataset.step = `${step.index} ${step.kind}`;
  if (step.kind === "form") return ask(words, step.asks, text);
  if (step.kind === "pause") {
    await say(words, ...[text.pause[0], [text.pause[1], text.control[step.control]]], text.next);
    return {};
  }
  if (step.kind === "check") {
    await say(words, text.check[0], [text.check[1]], text.go);
    return onStage(() => check(step, text));
  }
  const free = step.kind === "free";
  const lines = [text.control[step.control], ...(free ? [text.free[1]] : [])];
  await say(words, free ? text.free[0] : step.kind === "practice" ? text.practice : text.round, lines, text.go);
  return onStage(() => play(step, rules, text, free ? choosing(step.levels, participant) : null));
}

async function main() {
  const study = await (await fetch("api/study")).json();
  document.title = study.name;
  const label = new URLSearchParams(location.search).get("participant") ?? "";
  let answer = null;
  let who = null;
  while (!answer) {
    who = await welcome(words, study, wordsOf, label);
    speak(who.language);
    try {
      answer = await send("begin", who);
    } catch (error) {
      await say(words, study.name, [text.refused, error.message], text.next);
    }
  }
  if (answer.declined) return close(words, ...text.declined);
  speak(answer.language); // whoever goes on does so in the language in which they began
  while (answer.step.kind !== "done") {
    const data = await doStep(answer.step, study.rules, who.participant);
    answer = await send("done", { participant: who.participant, index: answer.step.index, data });
  }
  document.body.dataset.step = "done";
  close(words, ...text.done);
}

function speak(language) {
  text = wordsOf(language);
  document.documentElement.lang = language;
  document.getElementById("field").setAttribute("aria-label", text.game);
  place.setAttribute("aria-label", text.free[0]);
}

main();
