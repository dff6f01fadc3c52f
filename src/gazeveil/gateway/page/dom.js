// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// Small helpers for the document. Nothing here knows what the page is about.

export const byId = (id) => document.getElementById(id);

/** Make an element: `make("p", { class: "quiet" }, "text", otherElement)`. Values that are functions become listeners. */
export function make(name, given = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(given)) {
    if (typeof value === "function") node.addEventListener(key, value);
    else if (value === true) node.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(key, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/** Write text only where it differs, so that nothing is laid out or read aloud without need. */
export function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Set or drop an attribute only where it differs. */
export function mark(node, name, value) {
  if (value === null || value === false) {
    if (node.hasAttribute(name)) node.removeAttribute(name);
  } else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

/** Fill a select with `[value, words]` pairs if they changed, and choose one; leaves it alone while it is being used. */
export function fillSelect(select, pairs, chosen) {
  const key = JSON.stringify(pairs);
  if (select.dataset.filled !== key) {
    select.replaceChildren(...pairs.map(([value, words]) => make("option", { value }, words)));
    select.dataset.filled = key;
    select.value = chosen;
  } else if (document.activeElement !== select && select.value !== chosen) select.value = chosen;
}
