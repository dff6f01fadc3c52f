// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// The stimulus under the trails: the last keyframe and its regions, where the gateway knows a scene.
import { blob, trackerPath } from "./api.js";
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

  /** Show what the status says of a tracker's scene; `told` is null where there is none. */
  async look(tracker, told, app) {
    if (!told) {
      this.clear();
      write(byId("scene-line"), "No scene is known: the plain grid stands for the screen.");
      return;
    }
    this.regions = told.regions ?? [];
    write(byId("scene-line"), inWords(told, told.apps?.[app]));
    if (told.frame === null || told.frame === this.frame || this.fetching) return;
    this.fetching = true;
    await this.fetchPicture(tracker, told.frame);
    this.fetching = false;
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

function inWords({ source, regions = [], unit, lost }, applied) {
  if (lost) return `Scene from ${source}: ${lost}.`;
  const many = regions.length === 1 ? "1 region" : `${regions.length} regions`;
  const follows = applied ? ` This app follows it: radius ${short(applied.radius)} ${unit}, window ${short(applied.window_s)} s (${applied.why}).` : "";
  return `Scene from ${source}: ${many} of interest.${follows}`;
}
