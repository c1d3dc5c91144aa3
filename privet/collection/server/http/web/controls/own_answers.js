/** Questions of which several answers may be chosen, that may be left open, or that depend on another answer. */

import { element, theirs } from "./dom.js";
import { categoryName } from "./fields.js";
import { text } from "../texts/texts.js";

/** Whether a feature needs these controls. */
export const isOwn = ({ kind, extras }) => kind === "several" || extras > 0;

const skipped = (domain) => domain.high + 1;
const notAsked = (domain) => domain.high + domain.extras;

/** Several choices as boxes. `entry()` gives {value, problem}: the sum of 2^j over the chosen ones. */
export function severalField(id, question, domain) {
  const codes = Array.from({ length: domain.count }, (_, code) => code);
  const boxes = codes.map((code) => element("input", { type: "checkbox", id: code === 0 ? id : `${id}-${code}` }));
  const options = boxes.map((box, code) => option(box, theirs(categoryName(domain, code))));
  const skip = skipBox(id, domain);
  skip?.box.addEventListener("change", () => boxes.forEach((box) => (box.disabled = skip.box.checked)));
  const legend = element("legend", {}, question);
  const hint = element("p", { class: "hint" }, text("answer.choose-some"));
  const node = element("fieldset", { class: "field" }, legend, hint, ...options, ...(skip === null ? [] : [skip.node]));
  const sum = () => boxes.reduce((total, box, code) => total + (box.checked ? 2 ** code : 0), 0);
  const entry = () => ({ value: skip?.box.checked ? skipped(domain) : sum(), problem: null });
  return { node, control: boxes[0], complain() {}, entry };
}

/** A list of categories with "prefer not to say" as the last one. */
export function openChoice(control, domain) {
  if (domain.skip) control.append(element("option", { value: String(skipped(domain)) }, text("answer.skip")));
  return control;
}

/** A number with a box for "prefer not to say". A number outside its range counts as the nearest end. */
export function openNumber(made, domain, readAnswer) {
  const skip = skipBox(made.control.id, domain);
  if (skip !== null) {
    made.node.append(skip.node);
    skip.box.addEventListener("change", () => {
      made.control.disabled = skip.box.checked;
      made.complain(null);
    });
  }
  const entry = () => {
    if (skip?.box.checked) return { value: skipped(domain), problem: null };
    const { value, problem } = readAnswer(made.control.value, domain);
    return { value: Math.min(Math.max(value, domain.low), domain.high), problem };
  };
  return { ...made, entry };
}

/** Show each question only if the answer that it needs is given; one that does not apply is answered by itself. */
export function conditional(made, domains) {
  const entries = () => {
    const found = [];
    made.forEach(({ entry }, i) => {
      const { needs } = domains[i];
      const applies = !needs || needs.codes.includes(found[needs.column].value);
      found.push({ ...(applies ? entry() : { value: notAsked(domains[i]), problem: null }), applies });
    });
    return found;
  };
  const refresh = () => entries().forEach(({ applies }, i) => (made[i].node.hidden = !applies));
  return { entries, refresh };
}

/** What a code above a feature's largest value says; null for an ordinary answer. */
export function ownInWords(value, domain) {
  if (!(domain.extras > 0) || value <= domain.high) return null;
  return text(domain.skip && value === skipped(domain) ? "answer.skip" : "answer.not-asked");
}

function skipBox(id, domain) {
  if (!domain.skip) return null;
  const box = element("input", { type: "checkbox", id: `${id}-skip` });
  return { box, node: option(box, text("answer.skip")) };
}

const option = (box, words) => element("div", { class: "option" }, box, element("label", { for: box.id }, words));
