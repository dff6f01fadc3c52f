// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// The stimulus under the trails: the last keyframe and its regions, where the gateway knows a scene.
import { blob, get, trackerPath } from "./api.js";
import { byId, write } from "./dom.js";
import { short } from "./words.js";

export class Scene {
  constructor() {
    this.clear();
  }

  clear() {
    this.picture?.close();
    this.picture = null;
    this.regions = [];
    this.frame = null;
  }

  /** Look at the scene of a tracker again; `known` says whether there is one. */
  async look(tracker, known) {
    if (!known) {
      this.clear();
      write(byId("scene-line"), "No scene is known: the plain grid stands for the screen.");
      return;
    }
    const told = await get(trackerPath(tracker, "scene"));
    this.regions = told.regions ?? [];
    const applied = told.applied ?? {};
    const many = this.regions.length === 1 ? "1 region" : `${this.regions.length} regions`;
    const radius = applied.radius ? ` Radius ${short(applied.radius)} ${told.unit ?? ""}, window ${short(applied.window_s)} s` : "";
    write(byId("scene-line"), `Scene from ${told.source}: ${many} of interest.${radius}${applied.why ? ` (${applied.why})` : ""}${radius ? "." : ""}`);
    if (told.frame !== null && told.frame !== this.frame) await this.fetchPicture(tracker, told.frame);
  }

  async fetchPicture(tracker, frame) {
    try {
      const picture = await createImageBitmap(await blob(trackerPath(tracker, "scene/frame")));
      this.picture?.close();
      this.picture = picture;
      this.frame = frame;
    } catch {
      // The grid stays; the next look tries again.
    }
  }
}
