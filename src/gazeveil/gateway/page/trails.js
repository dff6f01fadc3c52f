// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// All trails of one tracker: one raw, and for each app a veiled and an undone one.
import { Trail } from "./trail.js";

export class Trails {
  constructor() {
    this.raw = new Trail();
    this.apps = new Map();
  }

  of(app) {
    if (!this.apps.has(app)) this.apps.set(app, { veiled: new Trail(), undone: new Trail(), hit: null });
    return this.apps.get(app);
  }

  /** Take one line of the live answer. */
  take(line, now) {
    this.raw.take(line.raw, now);
    for (const [name, given] of Object.entries(line.apps ?? {})) {
      const kept = this.of(name);
      kept.veiled.take(given.veiled, now);
      kept.undone.take(given.undone, now);
      if (given.hits?.length) kept.hit = { area: given.hits[given.hits.length - 1][1], at: now };
    }
  }

  clear() {
    this.raw.clear();
    this.apps.clear();
  }
}

export const seconds = () => performance.now() / 1000;
