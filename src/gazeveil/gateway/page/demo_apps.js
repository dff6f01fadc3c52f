// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// The demo apps in frames. They come from an origin of their own, and are told colours and the level's name, never gaze.
// What they tell back is a score: labels and numbers, shown as text. They are trusted with nothing else.
import { byId, make } from "./dom.js";
import { isLevel } from "./scale.js";
import { themeNow } from "./theme.js";
import { levelWords, OUTPUTS, presetName } from "./words.js";

export class DemoApps {
  constructor() {
    this.frames = new Map();
    addEventListener("message", (event) => this.asked(event));
  }

  show(demoApps, apps, plane) {
    byId("demo-apps").hidden = demoApps.length === 0;
    for (const demo of demoApps) {
      if (!this.frames.has(demo.app)) this.add(demo);
      const kept = this.frames.get(demo.app);
      if (kept.url !== demo.url) this.move(kept, demo.url);
      kept.box.style.aspectRatio = `${plane.width} / ${plane.height}`;
      kept.words = wordsOf(apps.find((app) => app.name === demo.app));
      this.tell(kept);
    }
  }

  add({ app, title, url }) {
    const frame = make("iframe", { src: url, title: `${title}, a demo app`, sandbox: "allow-scripts allow-same-origin", referrerpolicy: "no-referrer" });
    const costs = make("div", { class: "costs" });
    const box = make("div", { class: "demo-app-box eye-surface", "data-eye": title }, frame);
    const link = make("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, "Open alone", make("span", { class: "unseen" }, `: ${title}, in a new tab`));
    byId("demo-app-frames").append(make("div", { class: "demo-app" }, make("div", { class: "demo-app-head" }, make("h3", {}, title), link), box, costs));
    this.frames.set(app, { frame, box, link, costs, url, origin: new URL(url).origin, words: "", told: "", ready: false });
  }

  /** After a restart a gateway may serve its demo apps elsewhere. */
  move(kept, url) {
    Object.assign(kept, { url, origin: new URL(url).origin, ready: false });
    kept.frame.src = kept.link.href = url;
  }

  /** A demo app that has loaded asks what to show, and later says how it fares. */
  asked({ source, origin, data }) {
    for (const kept of this.frames.values()) {
      if (source !== kept.frame.contentWindow || origin !== kept.origin) continue;
      if (data?.score) showCosts(kept, data.score);
      else {
        kept.ready = true;
        kept.told = "";
        this.tell(kept);
      }
    }
  }

  tell(kept) {
    const message = { level: kept.words, theme: themeNow() };
    const key = JSON.stringify(message);
    if (kept.told === key || !kept.ready) return;
    kept.told = key;
    kept.frame.contentWindow.postMessage(message, kept.origin);
  }

  recolour() {
    for (const kept of this.frames.values()) this.tell(kept);
  }
}

/** What the app gets at which level, as a label of its results. */
function wordsOf(app) {
  const { level, output } = app ?? {};
  if (!level || !isLevel(level)) return "";
  const named = [level.preset && presetName(level.preset), output !== "samples" && OUTPUTS[output]?.[0]].filter(Boolean);
  return `${named.length ? `${named.join(", ")}: ` : ""}${levelWords(level, level.unit)}`;
}

const MOST_ROWS = 6;
const label = (value) => String(value ?? "").slice(0, 80);
const figure = (value) => (Number.isFinite(value) ? String(value) : "–");

/** Show what each level cost the app, one row a level. */
function showCosts(kept, { columns, rows }) {
  if (!Array.isArray(columns) || !Array.isArray(rows)) return;
  const played = rows.filter(Array.isArray).slice(-MOST_ROWS);
  const key = JSON.stringify(played);
  if (kept.costsKey === key) return;
  kept.costsKey = key;
  if (played.length === 0) {
    kept.costs.replaceChildren();
    return;
  }
  const head = ["Level", ...columns.slice(0, 5)].map((name) => make("th", { scope: "col" }, label(name)));
  const body = played.map(([level, ...numbers]) =>
    make("tr", {}, make("th", { scope: "row" }, label(level) || "–"), ...numbers.slice(0, 5).map((value) => make("td", {}, figure(value)))),
  );
  const caption = make("caption", {}, "What each level costs this app");
  kept.costs.replaceChildren(make("table", {}, caption, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...body)));
}
