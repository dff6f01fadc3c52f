// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// The rules of the game, and nothing else: no drawing, no clock, no network. The same for everybody.
// Seven lanes on an arc of 90 degrees, ten metres away; things come nearer, faster and faster (Wilson et al. 2024, section 4).

export const LANES = 7;
export const FARTHEST_M = 10;
const ROWS = [0.38, 0.5, 0.62];
const [SMALLEST, GROWS] = [0.02, 0.05]; // radius in shares of the width: far away, and how much more when it arrives

/** A generator of numbers from 0 to 1 that follows from a text. */
export function drawing(text) {
  let state = 2166136261;
  for (const letter of text) state = Math.imul(state ^ letter.codePointAt(0), 16777619);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

export const radius = (distance) => SMALLEST + GROWS * (1 - distance / FARTHEST_M) ** 2;

/** What will appear when and where. Targets and distractors take turns while there are both. */
export function plan(rules, seed, seconds) {
  const draw = drawing(seed);
  const count = rules.targets + rules.distractors;
  const last = Math.max(seconds - (1.2 * FARTHEST_M) / rules.fastest, seconds / 2); // what comes last can still arrive
  const left = { target: rules.targets, distractor: rules.distractors };
  let [kind, lane] = [draw() < 0.5 ? "target" : "distractor", -1];
  return Array.from({ length: count }, (_, number) => {
    if (!left[kind]) kind = kind === "target" ? "distractor" : "target";
    left[kind] -= 1;
    const next = Math.floor(draw() * (lane < 0 ? LANES : LANES - 1));
    lane = lane < 0 || next < lane ? next : next + 1; // never the same lane twice in a row
    const angle = ((lane / (LANES - 1)) * 2 - 1) * (Math.PI / 4);
    const thing = { number, kind, lane, born: count > 1 ? (last * number) / (count - 1) : 0 };
    Object.assign(thing, { x: 0.5 + (0.42 * Math.tan(angle)) / Math.tan(Math.PI / 4), y: ROWS[Math.floor(draw() * ROWS.length)] });
    kind = kind === "target" ? "distractor" : "target";
    return thing;
  });
}

export class Round {
  /** @param {object} rules  Of the study. @param {string} control  "dwell" or "key". */
  constructor(rules, control, seed, seconds) {
    Object.assign(this, { rules, control, seconds, now: 0, held: null, since: 0, empty: 0 });
    this.coming = plan(rules, seed, seconds);
    this.here = [];
    this.gone = [];
    this.last = [0.5, 0.5];
  }

  get over() {
    return this.now >= this.seconds || (!this.coming.length && !this.here.length);
  }

  /** Go on to a time. `point` is where gaze is, in shares of the window, or null; `tall` is height over width. */
  step(now, point, pressed, tall) {
    const passed = Math.max(0, now - this.now);
    const share = Math.min(1, now / this.seconds);
    const speed = this.rules.slowest + (this.rules.fastest - this.rules.slowest) * share;
    this.now = now;
    if (point) this.last = point;
    while (this.coming.length && this.coming[0].born <= now) {
      const thing = this.coming.shift();
      this.here.push({ ...thing, born: now, distance: FARTHEST_M, from_x: this.last[0], from_y: this.last[1] });
    }
    for (const thing of this.here) thing.distance = Math.max(0, thing.distance - speed * passed);
    const under = point && this.under(point, tall);
    if (this.control === "dwell") this.dwell(under ?? null, passed);
    else if (pressed && under) this.end(under, "destroyed");
    if (pressed && !under && this.control === "key") this.empty += 1;
    for (const thing of this.here.filter((each) => each.distance <= 0)) this.end(thing, "reached");
    if (this.over) for (const thing of [...this.here]) this.end(thing, "left");
  }

  dwell(under, passed) {
    const number = under?.number ?? null;
    this.since = number !== null && number === this.held ? this.since + passed : 0;
    this.held = number;
    if (under && this.since >= this.rules.dwell_s) this.end(under, "destroyed");
  }

  under([x, y], tall) {
    const away = (thing) => Math.hypot(x - thing.x, (y - thing.y) * tall);
    const touched = this.here.filter((thing) => away(thing) <= radius(thing.distance));
    return touched.sort((one, other) => away(one) - away(other))[0] ?? null;
  }

  end(thing, fate) {
    this.here.splice(this.here.indexOf(thing), 1);
    this.gone.push({ ...thing, size: 2 * radius(thing.distance), ended: this.now, fate });
    if (this.held === thing.number) [this.held, this.since] = [null, 0];
  }
}
