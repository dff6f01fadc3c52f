// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// The three trails side by side, and the small one in every row. Draws once a frame, and lays nothing out.
import { Surface } from "./canvas.js";
import { drawGround, drawHead, drawHit, drawRegions, drawTrail } from "./draw.js";
import { mark } from "./dom.js";
import { themeNow } from "./theme.js";
import { seconds } from "./trails.js";

const CALM_MS = 500; // between two pictures for people who asked for less motion
const SMALL_EVERY = 3; // frames between two pictures of the small trails
const HIT_S = 3; // so long a hit is shown if no other comes

export class Stage {
  /** @param {object} given  `trails`, `scene`, and `level()`: `{app, radius}` with the radius as a share of the width. */
  constructor(given) {
    Object.assign(this, given);
    this.frozen = false;
    this.small = new Map();
    this.panels = [...document.querySelectorAll(".panel")].map((figure) => ({
      kind: figure.dataset.kind,
      box: figure.querySelector(".canvas-box"),
      surface: new Surface(figure.querySelector("canvas")),
    }));
    this.calm = matchMedia("(prefers-reduced-motion: reduce)");
    this.last = 0;
    this.turn = 0;
    this.recolour();
    const draw = (ms) => {
      requestAnimationFrame(draw);
      this.draw(ms);
    };
    requestAnimationFrame(draw);
  }

  recolour() {
    const style = getComputedStyle(document.documentElement);
    this.colours = Object.fromEntries(
      ["line", "paper", "raw", "veiled", "undone", "region"].map((name) => [name, style.getPropertyValue(`--${name}`)]),
    );
    this.colours.dimmed = themeNow() === "dark" ? 0.4 : 0.75; // bright trails need a darker picture below them
  }

  /** Give the panels the shape of the plane. */
  shape(plane) {
    for (const { box } of this.panels) box.style.aspectRatio = `${plane.width} / ${plane.height}`;
  }

  /** Draw an app's veiled trail into a small canvas, until `forgetSmall`. */
  addSmall(app, canvas) {
    this.small.set(app, new Surface(canvas));
  }

  forgetSmall(app) {
    this.small.get(app)?.drop();
    this.small.delete(app);
  }

  /** Take everything off one picture. */
  wipe(kind) {
    const { ctx, canvas } = this.panels.find((panel) => panel.kind === kind).surface;
    ctx.clearRect(0, 0, canvas.width, canvas.height);
  }

  freeze(on) {
    this.frozen = on;
    for (const { box } of this.panels) mark(box, "data-frozen", on ? "yes" : null);
  }

  draw(ms) {
    if (this.frozen || (this.calm.matches && ms - this.last < CALM_MS)) return;
    this.last = ms;
    const now = seconds();
    const { app, radius } = this.level();
    for (const { kind, surface } of this.panels) {
      const trail = kind === "raw" ? this.trails.raw : app && this.trails.of(app)[kind];
      this.panel(surface, trail, kind, radius, now);
      const hit = kind === "veiled" && app ? this.trails.of(app).hit : null;
      if (hit && now - hit.at < HIT_S) drawHit(surface.ctx, surface.canvas.width, surface.canvas.height, hit.area, { colour: this.colours.veiled });
    }
    if (this.turn++ % SMALL_EVERY === 0) for (const [name, surface] of this.small) this.smallOne(surface, name, now);
  }

  panel({ ctx, canvas: { width: w, height: h }, scale }, trail, kind, radius, now) {
    drawGround(ctx, w, h, this.colours, this.scene.picture);
    drawRegions(ctx, w, h, this.colours, this.scene.regions, scale);
    if (!trail) return;
    const look = { colour: this.colours[kind], paper: this.colours.paper, scale, kind };
    drawTrail(ctx, w, h, trail, now, look);
    const head = trail.head(now);
    if (head) drawHead(ctx, w, h, head, look, radius);
  }

  smallOne({ ctx, canvas: { width: w, height: h }, scale }, name, now) {
    ctx.clearRect(0, 0, w, h);
    drawTrail(ctx, w, h, this.trails.of(name).veiled, now, { colour: this.colours.veiled, scale: 0.7 * scale, kind: "veiled" });
  }
}
