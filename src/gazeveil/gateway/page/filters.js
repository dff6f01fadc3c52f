// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// Which rows are shown: by words, by state, by tag.
import { byId, fillSelect } from "./dom.js";

export class Filters {
  constructor(changed) {
    for (const id of ["search", "filter", "tag-filter"]) byId(id).addEventListener("input", changed);
    byId("filters").addEventListener("submit", (event) => event.preventDefault());
  }

  /** Offer the tags there are. */
  offer(apps) {
    const tags = [...new Set(apps.flatMap((app) => app.tags ?? []))].sort();
    const chosen = byId("tag-filter").value;
    fillSelect(byId("tag-filter"), [["", "any tag"], ...tags.map((tag) => [tag, tag])], tags.includes(chosen) ? chosen : "");
  }

  passes(app) {
    const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const text = [app.name, app.tracker, app.protocol, app.output, app.veil, app.state, ...(app.tags ?? [])].join(" ").toLowerCase();
    const tag = byId("tag-filter").value;
    return words.every((word) => text.includes(word)) && this.kind(app) && (!tag || (app.tags ?? []).includes(tag));
  }

  kind(app) {
    switch (byId("filter").value) {
      case "flowing":
        return app.state === "flowing";
      case "quiet":
        return app.state !== "flowing";
      case "off":
        return app.state === "off";
      case "unproven":
        return !app.proven;
      default:
        return true;
    }
  }
}
