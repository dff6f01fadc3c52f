// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// The mouse as an eye: a layer over every picture and demo app takes the pointer (or the arrow keys) and sends where it
// is, as shares of that picture, to the gateway's listening source. The layer also keeps the pointer from the demo apps:
// they learn where it is from veiled gaze alone.
import { make } from "./dom.js";

const EVERY_MS = 1000 / 60;
const MOST_WAITING = 1 << 16; // bytes; what a slow socket cannot take is dropped
const STEP = 0.02;
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const share = (value) => Math.round(1e5 * Math.min(1, Math.max(0, value))) / 1e5;

export class PointerEye {
  /** @param {Function} said  Is told, in words, how the connection fares. */
  constructor(said) {
    Object.assign(this, { said, socket: null, ready: false, layers: [], point: null, owner: null, timer: null });
  }

  get on() {
    return this.socket !== null;
  }

  /** Begin to send; `boxes` are the elements that become eyes. */
  start({ url, token }, boxes) {
    this.stop();
    const socket = new WebSocket(url);
    this.socket = socket;
    this.ready = false;
    socket.onopen = () => socket.send(JSON.stringify({ token }));
    socket.onmessage = () => {
      this.ready = true;
      this.said("The pointer is an eye now.");
    };
    socket.onclose = () => {
      if (this.socket !== socket) return;
      this.stop();
      this.said("The gateway does not take the pointer any more. Choose the source again.");
    };
    for (const box of boxes) this.cover(box);
    this.timer = setInterval(() => this.send(), EVERY_MS);
  }

  stop() {
    clearInterval(this.timer);
    for (const { layer, watching } of this.layers) {
      watching.disconnect();
      layer.remove();
    }
    this.layers = [];
    this.point = null;
    const socket = this.socket;
    this.socket = null;
    socket?.close();
  }

  cover(box) {
    const name = box.dataset.eye ?? "this picture";
    const dot = make("span", { class: "eye-mark", "aria-hidden": "true", hidden: true });
    const layer = make("div", { class: "eye", tabindex: "0", role: "application", "aria-label": `Mouse as an eye over ${name}. Arrow keys move it.` }, dot);
    const one = { layer, dot, box: null, x: 0.5, y: 0.5 };
    one.watching = new ResizeObserver(() => (one.box = null));
    one.watching.observe(layer);
    layer.addEventListener("pointerenter", () => (one.box = layer.getBoundingClientRect()));
    layer.addEventListener("pointermove", (event) => this.moved(one, event));
    layer.addEventListener("pointerdown", (event) => {
      one.box = layer.getBoundingClientRect();
      this.moved(one, event);
    });
    layer.addEventListener("pointerleave", () => this.left(one));
    layer.addEventListener("blur", () => this.left(one));
    layer.addEventListener("keydown", (event) => this.key(one, event));
    addEventListener("scroll", () => (one.box = null), { passive: true, capture: true });
    box.append(layer);
    this.layers.push(one);
  }

  moved(one, event) {
    one.box ??= one.layer.getBoundingClientRect();
    this.look(one, share((event.clientX - one.box.left) / one.box.width), share((event.clientY - one.box.top) / one.box.height));
    one.dot.hidden = true;
  }

  key(one, event) {
    const way = ARROWS[event.key];
    if (!way) return;
    event.preventDefault();
    const step = event.shiftKey ? 5 * STEP : STEP;
    this.look(one, share(one.x + way[0] * step), share(one.y + way[1] * step));
    one.box ??= one.layer.getBoundingClientRect();
    one.dot.style.transform = `translate(${one.x * one.box.width}px, ${one.y * one.box.height}px)`;
    one.dot.hidden = false;
  }

  look(one, x, y) {
    Object.assign(one, { x, y });
    this.owner = one;
    this.point = { x, y };
  }

  /** Gaze leaves the picture: nothing is sent, as when a tracker loses the eyes. */
  left(one) {
    one.dot.hidden = true;
    if (this.owner === one) this.point = null;
  }

  send() {
    if (!this.ready || this.point === null || this.socket.bufferedAmount > MOST_WAITING) return;
    this.socket.send(JSON.stringify({ t: performance.now() / 1000, x: this.point.x, y: this.point.y }));
  }
}
