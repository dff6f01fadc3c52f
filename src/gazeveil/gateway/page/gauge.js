// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// "Would be identified": the measured share on a dial from 0 to 100, with its interval and what guessing achieves.
import { byId, write } from "./dom.js";
import { inHundred } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const [CX, CY, R] = [80, 78, 62];

function shape(name, given, text = null) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(given)) node.setAttribute(key, value);
  if (text !== null) node.textContent = text;
  return node;
}

function point(share, radius) {
  const angle = Math.PI * (1 - share);
  return [CX + radius * Math.cos(angle), CY - radius * Math.sin(angle)].map((value) => value.toFixed(2));
}

const arc = (from, to) => `M ${point(from, R).join(" ")} A ${R} ${R} 0 0 1 ${point(to, R).join(" ")}`;

function stroke(share, inner, outer, kind) {
  const [x1, y1] = point(share, inner);
  const [x2, y2] = point(share, outer);
  return shape("line", { x1, y1, x2, y2, class: kind });
}

function dial(found) {
  const svg = shape("svg", { viewBox: "0 0 160 108", "aria-hidden": "true", focusable: "false" });
  svg.append(shape("path", { d: arc(0, 1), class: "gauge-track" }));
  if (found) {
    svg.append(shape("path", { d: arc(found.low, Math.max(found.high, found.low + 0.005)), class: "gauge-band" }));
    svg.append(stroke(found.chance, R - 9, R + 9, "gauge-chance"));
    svg.append(stroke(found.identified, 27, R + 3, "gauge-needle"));
  }
  svg.append(shape("text", { x: CX, y: CY + 3, class: "gauge-number" }, found ? `${inHundred(found.identified)}` : "?"));
  svg.append(shape("text", { x: CX, y: CY + 20, class: "gauge-unit" }, found ? "of 100 attempts" : "not measured"));
  return svg;
}

function inWords(found, relation) {
  if (!found) return "Not measured for this mechanism and level.";
  const [share, low, high, chance] = [found.identified, found.low, found.high, found.chance].map(inHundred);
  const near = relation === "nearest" ? " Measured at the nearest level that is no stricter." : "";
  return `${share} in 100 attempts, 95 % interval ${low} to ${high}. Guessing: ${chance}.${near}`;
}

/** Show what was measured; `recognised` is null, or holds no numbers, where nothing was. */
export function showGauge(recognised) {
  const box = byId("gauge");
  const key = JSON.stringify(recognised);
  if (box.dataset.key === key) return;
  box.dataset.key = key;
  const measured = recognised && recognised.identified !== null ? recognised : null;
  box.replaceChildren(dial(measured));
  write(byId("gauge-words"), inWords(measured, recognised?.relation));
  write(byId("gauge-more"), recognised?.words ?? "This was not measured yet.");
}
