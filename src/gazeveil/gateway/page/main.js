// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// Puts the parts together: one status a second goes to all of them, one live answer goes to the trails.
import { announce } from "./announce.js";
import { appPath, get, post } from "./api.js";
import { Apps } from "./apps.js";
import { connected, disconnected } from "./banner.js";
import { Detail } from "./detail.js";
import { byId, fillSelect, mark, write } from "./dom.js";
import { startGuide } from "./guide.js";
import { Live } from "./live.js";
import { Pulse } from "./pulse.js";
import { RawView } from "./raw.js";
import { Scene } from "./scene.js";
import { exchange, forget, keyFromAddress, keyIn, token } from "./session.js";
import { SourceChoice } from "./source.js";
import { Stage } from "./stage.js";
import { summarise } from "./summary.js";
import { startTheme } from "./theme.js";
import { DemoApps } from "./demo_apps.js";
import { Trails } from "./trails.js";

const SUMMARY_MS = 3000;
const STAGE = "Where you look, what the app gets, and what an attacker can recover.";
const PLANE = { width: 16, height: 9, unit: "" };

class Page {
  constructor() {
    Object.assign(this, { status: null, tracker: null, app: null, changedAt: 0 });
    this.trails = new Trails();
    this.scene = new Scene();
    this.stage = new Stage({ trails: this.trails, scene: this.scene, level: () => this.levelNow });
    this.levelNow = { app: null, radius: 0 };
    this.live = new Live({
      hello: (hello) => this.hello(hello),
      line: (line) => this.trails.take(line, performance.now() / 1000),
      ended: (hadRaw, error) => {
        if (hadRaw) this.raw.ended();
        if (error?.words) write(byId("stage-what"), error.words);
      },
    });
    this.raw = new RawView(this.live, this.trails, () => this.tracker, () => this.stage.wipe("raw"));
    this.detail = new Detail((app) => this.changed(app));
    this.apps = new Apps({ stage: this.stage, choose: (name) => this.choose(name), pause: (name, paused) => this.pause(name, paused) });
    this.source = new SourceChoice(() => this.tracker, (kind) => this.sourceChanged(kind));
    this.demoApps = new DemoApps();
    this.pulse = new Pulse({
      ask: () => get("v1/status"),
      told: (status) => this.told(status),
      gone: (pause) => this.gone(pause),
      failed: (error) => this.failed(error),
    });
    startTheme(() => {
      this.stage.recolour();
      this.demoApps.recolour();
    });
    startGuide();
    byId("freeze").addEventListener("click", () => this.freeze());
    byId("tracker").addEventListener("change", (event) => this.follow(event.target.value));
    byId("banner-now").addEventListener("click", () => this.pulse.now());
    setInterval(() => this.summarise(), SUMMARY_MS);
  }

  run() {
    byId("locked").hidden = true;
    this.pulse.run();
  }

  told(status, begun) {
    if (this.away) {
      announce("The gateway answers again.");
      this.live.now();
    }
    this.away = false;
    connected();
    if (begun < this.changedAt) return; // it knows nothing of the last change
    this.status = status;
    byId("open").hidden = false;
    byId("open-guide").hidden = false;
    write(byId("latched"), status.latched ? `Nothing leaves any more: ${status.latched}` : "");
    byId("latched").hidden = !status.latched;
    byId("demo").hidden = !status.demo;
    if (status.version) write(byId("foot-version"), `gazeveil ${status.version}.`);
    const names = status.trackers.map((one) => one.name);
    fillSelect(byId("tracker"), names.map((name) => [name, name]), this.tracker ?? names[0]);
    byId("tracker-field").hidden = names.length < 2;
    if (!names.includes(this.tracker)) this.follow(names[0] ?? null);
    else this.paint();
  }

  hello(hello) {
    write(byId("stage-what"), STAGE);
    this.undoneBy = hello.undone_by ?? {};
    this.paint();
  }

  gone(pause) {
    if (this.status === null) byId("open").hidden = true;
    this.away = true;
    disconnected(pause);
  }

  /** Any answer but a status: without a good token there is nothing to show. */
  failed(error) {
    if (error.status === 401 || error.status === 403) {
      forget();
      lock("This session is over.");
      return true;
    }
    return false;
  }

  follow(tracker) {
    this.tracker = tracker;
    this.trails.clear();
    this.scene.clear();
    this.raw.ended();
    this.live.stop();
    if (tracker !== null) this.live.follow(tracker);
    const known = this.status.apps.filter((app) => app.tracker === tracker);
    if (!known.some((app) => app.name === this.app)) this.app = known[0]?.name ?? null;
    this.paint();
  }

  choose(name) {
    this.app = name;
    const tracker = this.status.apps.find((app) => app.name === name)?.tracker;
    if (tracker !== this.tracker) this.follow(tracker);
    else this.paint();
  }

  async pause(name, paused) {
    try {
      this.changed(await post(appPath(name, "switch"), { on: paused }));
      announce(`${name} is ${paused ? "on again" : "paused: it gets nothing"}.`);
    } catch (error) {
      announce(error.words ?? "The gateway did not answer.");
    }
  }

  /** Something was decided here: an older status must not undo it on the page. */
  decided() {
    this.changedAt = performance.now();
    this.pulse.now();
  }

  sourceChanged(kind) {
    this.status.trackers.find((one) => one.name === this.tracker).source.kind = kind;
    this.decided();
  }

  changed(app) {
    this.status.apps = this.status.apps.map((one) => (one.name === app.name ? app : one));
    this.paint();
    this.decided();
  }

  paint() {
    const { apps, trackers, demo_apps: demoApps = [] } = this.status;
    const here = trackers.find((one) => one.name === this.tracker);
    const plane = here?.plane ?? PLANE;
    const app = apps.find((one) => one.name === this.app) ?? null;
    this.plane = plane;
    this.stage.shape(plane);
    const followed = here?.scene?.apps?.[this.app];
    this.levelNow = { app: this.app, radius: (followed?.radius ?? app?.level?.radius ?? 0) / plane.width };
    this.detail.show(app);
    this.apps.show(apps, this.app, (one) => trackers.find((tracker) => tracker.name === one.tracker)?.participant ?? "");
    this.source.show(here?.source ?? null);
    this.raw.allow(here?.raw_view ?? true);
    this.demoApps.show(demoApps, apps, plane);
    if (here) this.scene.look(here.name, here.scene ?? null, this.app);
  }

  freeze() {
    const on = !this.stage.frozen;
    this.stage.freeze(on);
    mark(byId("freeze"), "aria-pressed", String(on));
  }

  summarise() {
    if (this.status !== null && !this.stage.frozen) summarise(this.trails, this.app, this.plane, this.raw.shown, this.undoneBy?.[this.app]);
  }
}

function lock(why) {
  byId("open").hidden = true;
  byId("open-guide").hidden = true;
  byId("banner").hidden = true;
  byId("locked").hidden = false;
  mark(byId("connection"), "data-state", "off");
  write(byId("connection-words"), "Locked");
  write(byId("locked-why"), `${why} Only the user of this computer may see this page. Open it with a one-time link:`.trim());
}

async function enter(key, page) {
  try {
    if (key !== null && !(await exchange(key)) && !token()) return lock("This link was used or is too old.");
  } catch {
    if (!token()) return lock("The gateway does not answer.");
  }
  if (!token()) return lock("");
  page.run();
}

const page = new Page();
byId("locked-form").addEventListener("submit", (event) => {
  event.preventDefault();
  enter(keyIn(byId("locked-link").value) ?? "", page);
});
addEventListener("hashchange", async () => {
  const key = keyFromAddress();
  if (key !== null && (await exchange(key).catch(() => false))) location.reload();
});
enter(keyFromAddress(), page);
