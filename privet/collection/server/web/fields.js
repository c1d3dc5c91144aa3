/** One question: a label, its control, a hint, and a place for what is wrong with the answer. */

import { element } from "./dom.js";
import { tidy } from "./numbers.js";

/** What a feature may be, in words. */
export function allowed(domain) {
  if (domain.kind === "categories") return `a whole number from 0 to ${domain.count - 1}`;
  return `a number from ${tidy(domain.low)} to ${tidy(domain.high)}`;
}

/** A label, its control, a hint and a place for what is wrong with it. */
export function field(id, text, control, hint) {
  control.id = id;
  control.setAttribute("aria-describedby", `${id}-hint ${id}-problem`);
  const problem = element("p", { id: `${id}-problem`, class: "problem", hidden: true });
  const node = element(
    "div",
    { class: "field" },
    element("label", { for: id }, text),
    element("p", { id: `${id}-hint`, class: "hint" }, hint),
    control,
    problem,
  );
  return { node, control, complain: (sentence) => complain(control, problem, sentence) };
}

function complain(control, problem, sentence) {
  problem.hidden = sentence === null;
  problem.textContent = sentence === null ? "" : sentence[0].toUpperCase() + sentence.slice(1);
  control.setAttribute("aria-invalid", sentence === null ? "false" : "true");
}

/** What is wrong with an answer, or null. */
export function problemOf(value, domain) {
  if (value === "" || value === null || Number.isNaN(Number(value)) || !Number.isFinite(Number(value))) {
    return `enter ${allowed(domain)}.`;
  }
  if (domain.kind === "interval") return null;
  const code = Number(value);
  return Number.isInteger(code) && code >= 0 && code < domain.count ? null : `enter ${allowed(domain)}.`;
}
