// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// Questionnaires that keyboard and screen reader can fill in: a group of radio buttons for each item, or a text.

const made = (tag, given = {}, ...inside) => {
  const node = Object.assign(document.createElement(tag), given);
  node.append(...inside);
  return node;
};

/** Show a form below `place`; returns the answers once all that are needed are given. */
export function ask(place, asks, words) {
  const form = made("form");
  const complaint = made("p", { className: "error", role: "alert", id: "complaint" });
  form.append(made("h1", { textContent: asks.title, tabIndex: -1 }));
  // published items stay in the language in which they were validated, and are read out in it
  const inside = made("div", { lang: asks.language });
  if (asks.points) inside.append(made("p", { className: "ends", textContent: `1: ${asks.low} … ${asks.points}: ${asks.high}` }));
  asks.items.forEach((item, number) => inside.append(asks.points ? scale(item, number, asks, words) : text(item, number)));
  form.append(inside);
  form.append(complaint, made("button", { type: "submit", textContent: words.next }));
  form.append(made("p", { className: "source" }, `${words.source}: `, made("span", { lang: "en", textContent: asks.source })));
  place.replaceChildren(form);
  form.querySelector("h1").focus();
  return new Promise((done) => {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const given = new FormData(form);
      const answers = asks.items.map((_, number) => answer(given.get(`item-${number}`), asks));
      const open = asks.points && !asks.optional ? answers.indexOf(null) : answers.findIndex((one, number) => asks.points && one === null && !given.has(`item-${number}`));
      if (open < 0) return done({ answers });
      complaint.textContent = words.missing(open + 1);
      for (const group of form.querySelectorAll("fieldset")) group.removeAttribute("aria-describedby");
      const first = form.querySelector(`[name="item-${open}"]`);
      first.closest("fieldset").setAttribute("aria-describedby", "complaint");
      first.focus();
    });
  });
}

const answer = (value, asks) => (value === null || value === "" || value === "none" ? null : asks.points ? Number(value) : value);

function scale(item, number, { points, low, high, optional }, words) {
  const choices = Array.from({ length: points }, (_, place) => [String(place + 1), String(place + 1)]);
  if (optional) choices.push(["none", words.notApplicable]);
  const buttons = choices.map(([value, label]) => {
    const button = made("input", { type: "radio", name: `item-${number}`, value });
    if (value === "1") button.setAttribute("aria-label", `1, ${low}`);
    if (value === String(points)) button.setAttribute("aria-label", `${points}, ${high}`);
    return made("label", value === "none" ? { lang: words.code } : {}, button, made("span", { textContent: label }));
  });
  return made("fieldset", {}, made("legend", { textContent: `${number + 1}. ${item}` }), made("div", { className: "scale" }, ...buttons));
}

function text(item, number) {
  return made("label", { className: "line" }, item, made("textarea", { name: `item-${number}`, maxLength: 4000 }));
}

/** Show words and a button that has the focus and is read out with them; returns when it is pressed. */
export function say(place, title, lines, button) {
  const go = made("button", { type: "button", textContent: button });
  const told = [made("h1", { textContent: title }), ...lines.map((textContent) => made("p", { textContent }))];
  told.forEach((node, number) => (node.id = `told-${number}`));
  go.setAttribute("aria-describedby", told.map(({ id }) => id).join(" "));
  place.replaceChildren(...told, go);
  go.focus();
  return new Promise((done) => go.addEventListener("click", () => done()));
}

/** The last words. */
export function close(place, title, line) {
  const heading = made("h1", { textContent: title, tabIndex: -1 });
  place.replaceChildren(heading, made("p", { textContent: line }));
  heading.focus();
}

/** Who are you, and do you agree? */
export function welcome(place, study, wordsOf, label) {
  const language = made("select", { name: "language" }, ...study.languages.map((code) => made("option", { value: code, lang: code, textContent: wordsOf(code).language })));
  const who = made("input", { name: "participant", required: true, pattern: "[A-Za-z0-9][A-Za-z0-9_\\-]{0,39}", value: label, autocomplete: "off" });
  const agreed = made("input", { type: "checkbox", name: "agreed" });
  const consent = made("p", { className: "consent" });
  const [title, lead, languageWords, labelWords, agreeWords] = [made("h1"), made("p"), made("span"), made("span"), made("span")];
  const [go, stop] = [made("button", { type: "submit" }), made("button", { type: "button" })];
  const said = made("p", { className: "error", role: "alert" });
  const form = made("form", {}, made("label", { className: "line" }, languageWords, " ", language), title, lead, consent,
    made("label", { className: "line" }, labelWords, " ", who), made("label", { className: "line" }, agreed, " ", agreeWords), said, go, " ", stop);
  const dress = () => {
    const words = wordsOf(language.value);
    document.documentElement.lang = language.value;
    [title.textContent, lead.textContent, consent.textContent] = [study.name, words.lead, study.consent[language.value]];
    [languageWords.textContent, labelWords.textContent, agreeWords.textContent, go.textContent, stop.textContent] = [`${words.languageIs}:`, words.label, words.agree, words.begin, words.decline];
  };
  language.addEventListener("change", dress);
  dress();
  place.replaceChildren(form);
  return new Promise((done) => {
    stop.addEventListener("click", () => done({ agreed: false, language: language.value, participant: "" }));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (!agreed.checked) said.textContent = wordsOf(language.value).agreeFirst;
      else done({ agreed: true, language: language.value, participant: who.value });
    });
  });
}
