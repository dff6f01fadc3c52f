// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// A filter for the page of results: parts without the words are hidden, and rows of tables without them.

document$.subscribe(() => {
  const title = document.getElementById("results");
  if (!title || title.tagName !== "H1" || document.getElementById("results-filter")) {
    return;
  }
  const field = document.createElement("input");
  Object.assign(field, { id: "results-filter", type: "search", placeholder: "Filter parts and rows, for example: mpmu" });
  field.setAttribute("aria-label", "Filter parts and rows");
  field.style.cssText = "width: 100%; padding: .4rem; font-size: inherit; border: 1px solid; border-radius: .2rem";
  title.after(field);
  const parts = [...title.parentElement.querySelectorAll("h2")].map((heading) => {
    const part = [heading];
    for (let next = heading.nextElementSibling; next && next.tagName !== "H2"; next = next.nextElementSibling) {
      part.push(next);
    }
    return part;
  });
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().trim();
    for (const part of parts) {
      const named = part[0].textContent.toLowerCase().includes(words);
      const shown = named || part.some((each) => each.textContent.toLowerCase().includes(words));
      for (const each of part) {
        each.hidden = !shown;
        for (const row of each.querySelectorAll("tbody tr")) {
          row.hidden = !named && !row.textContent.toLowerCase().includes(words);
        }
      }
    }
  });
});
