// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// Raw gaze on the participant's own page: off until asked for, one capability for each time, off again when the answer ends.
import { post, trackerPath } from "./api.js";
import { announce } from "./announce.js";
import { byId, mark, write } from "./dom.js";

const OFF = "Off. If you show it, it goes to this page. No app gets it. The log records that it was shown.";

export class RawView {
  /** @param {Function} wipe  Takes what was drawn off the picture, which may be frozen. */
  constructor(live, trails, tracker, wipe) {
    Object.assign(this, { live, trails, tracker, wipe, shown: false });
    byId("raw-toggle").addEventListener("click", () => (this.shown ? this.hide() : this.show()));
    this.paint();
  }

  async show() {
    try {
      const { capability } = await post(trackerPath(this.tracker(), "raw"));
      this.live.follow(this.tracker(), capability);
      this.shown = true;
      announce("Raw gaze is shown on this page. No app gets it.");
    } catch (error) {
      this.paint(error.words ?? error.message);
      announce(error.words ?? error.message);
      return;
    }
    this.paint();
  }

  hide() {
    this.live.follow(this.tracker());
    this.ended();
    announce("Raw gaze is hidden.");
  }

  /** The answer that held raw gaze is over. */
  ended() {
    this.shown = false;
    this.trails.raw.clear();
    this.wipe();
    this.paint();
  }

  /** Whether the policy lets the participant look. */
  allow(on) {
    if (this.allowed === on) return;
    this.allowed = on;
    this.paint();
  }

  paint(problem = null) {
    byId("raw-toggle").disabled = this.allowed === false;
    if (this.allowed === false) problem = "Off. The policy does not allow it: raw_view is not set for this tracker.";
    mark(byId("raw-box"), "data-raw", this.shown ? "on" : "off");
    write(byId("raw-toggle"), this.shown ? "Hide raw gaze" : "Show raw gaze");
    write(byId("raw-who"), problem ?? (this.shown ? "Shown on this page alone. No app gets it." : OFF));
  }
}
