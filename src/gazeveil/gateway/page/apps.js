// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// The rows of all apps. Rows stay the same elements while an app lives, so focus and reading place stay, too.
import { byId, write } from "./dom.js";
import { Filters } from "./filters.js";
import { Row } from "./row.js";

export class Apps {
  /** @param {object} on  `choose(name)`, `pause(name, paused)`, and `stage` for the small trails. */
  constructor(on) {
    Object.assign(this, { on, rows: new Map(), given: null });
    this.filters = new Filters(() => this.given && this.show(...this.given));
  }

  show(apps, chosen, personOf) {
    this.given = [apps, chosen, personOf];
    this.filters.offer(apps);
    const names = new Set(apps.map((app) => app.name));
    for (const [name, row] of this.rows) {
      if (names.has(name)) continue;
      row.node.remove();
      this.on.stage.forgetSmall(name);
      this.rows.delete(name);
    }
    let shown = 0;
    for (const app of apps) {
      if (!this.rows.has(app.name)) this.add(app.name);
      const row = this.rows.get(app.name);
      row.show(app, app.name === chosen, personOf(app));
      const hidden = !this.filters.passes(app);
      if (row.node.hidden !== hidden) row.node.hidden = hidden;
      shown += hidden ? 0 : 1;
    }
    byId("rows-none").hidden = shown > 0;
    const many = apps.length === 1 ? "1 app" : `${apps.length} apps`;
    write(byId("apps-count"), shown === apps.length ? `${many}. Choose one to see and steer it.` : `${shown} of ${many} shown.`);
  }

  add(name) {
    const row = new Row(name, this.on);
    this.rows.set(name, row);
    byId("rows").append(row.node);
    this.on.stage.addSmall(name, row.canvas);
  }
}
