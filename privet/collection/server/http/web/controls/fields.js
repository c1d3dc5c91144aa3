/** One question: a label, its control, a hint, and a place for what is wrong with the answer. */

import { element, theirs } from "./dom.js";
import { tidy } from "../texts/numbers.js";
import { readNumber } from "../texts/entered.js";
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

/** A field for a number, with the keys that a phone needs for it. */
export function numberInput(domain) {
  const signed = domain.kind === "interval" && domain.low < 0; // the keys for decimals have no minus
  const keys = signed ? "text" : domain.kind === "interval" ? "decimal" : "numeric";
  return element("input", { type: "text", inputmode: keys, autocomplete: "off", spellcheck: "false" });
}

/** What was entered, or a number from a file, as {value, problem}: a sentence says what is wrong, null if nothing is. */
export function readAnswer(entered, domain) {
  const { value, readings } = typeof entered === "number" ? { value: entered } : readNumber(entered);
  if (readings !== undefined) {
    const [small, large] = readings.map((each) => tidy(each, 15));
    return { value: Number.NaN, problem: text("answer.ambiguous", { small, large }) };
  }
  const fits = domain.kind === "interval" || (Number.isInteger(value) && value >= 0 && value < domain.count);
  return Number.isFinite(value) && fits ? { value, problem: null } : { value: Number.NaN, problem: allowed(domain) };
}
