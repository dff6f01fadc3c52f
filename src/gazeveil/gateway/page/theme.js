// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// Light, dark, or as the system says. The choice is kept in this browser.
import { byId } from "./dom.js";

const SLOT = "gazeveil-theme";

export function startTheme(changed) {
  const select = byId("theme");
  const apply = (value) => {
    if (value === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = value;
    changed();
  };
  select.value = localStorage.getItem(SLOT) ?? "auto";
  apply(select.value);
  select.addEventListener("change", () => {
    localStorage.setItem(SLOT, select.value);
    apply(select.value);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
}

/** Which of the two holds now. */
export function themeNow() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}
