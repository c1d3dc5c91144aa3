/** One question: a label, its control, a hint, and a place for what is wrong with the answer. */

import { element, theirs } from "./dom.js";
import { tidy } from "../texts/numbers.js";
import { text } from "../texts/texts.js";

/** The words in which a feature is asked for. */
export function questionOf(study, feature) {
  const own = study.manifest.questions?.[feature];
  return own === undefined ? text("feature.unnamed", { number: String(feature) }) : theirs(own);
}

/** A category in the study's words, or its number. */
export const categoryName = (domain, code) => domain.names?.[code] ?? String(code);

/** The allowed answers to a feature, as an instruction. */
export function allowed(domain) {
  if (domain.kind === "categories") return text("answer.whole", { last: domain.count - 1 });
  return text("answer.range", { low: tidy(domain.low), high: tidy(domain.high) });
}

/** A label, its control, a hint and a place for what is wrong with it. */
export function field(id, question, control, hint) {
  control.id = id;
  control.setAttribute("aria-describedby", `${id}-hint ${id}-problem`);
  const problem = element("p", { id: `${id}-problem`, class: "problem", hidden: true });
  const node = element(
    "div",
    { class: "field" },
    element("label", { for: id }, question),
    element("p", { id: `${id}-hint`, class: "hint" }, hint),
    control,
    problem,
  );
  control.addEventListener("input", () => complain(control, problem, null)); // checked again with the whole form
  return { node, control, complain: (sentence) => complain(control, problem, sentence) };
}

function complain(control, problem, sentence) {
  problem.hidden = sentence === null;
  problem.textContent = sentence ?? "";
  control.setAttribute("aria-invalid", sentence === null ? "false" : "true");
}

/** A sentence about a wrong answer; null if it is right. */
export function problemOf(value, domain) {
  const number = value === "" || value === null ? Number.NaN : Number(value);
  const fits = domain.kind === "interval" || (Number.isInteger(number) && number >= 0 && number < domain.count);
  return Number.isFinite(number) && fits ? null : allowed(domain);
}
