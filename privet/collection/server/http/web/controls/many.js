/** Many answers in one box: pasted, or read from a file on this device. */

import { element } from "./dom.js";
import { allowed, field, questionOf, readAnswer } from "./fields.js";
import { counted, text } from "../texts/texts.js";

const MOST_LISTED = 2000;

/** Many answers at once: pasted or from a file, as JSON or CSV; the file is read here and goes nowhere. */
export function pasted(study) {
  const count = study.domains.length;
  const control = element("textarea", { rows: "6", spellcheck: "false", autocomplete: "off" });
  const example = '[1, 0.5, …] / {"features": […]}';
  const box = field("features", text("many.question", { count }), control, text("many.hint", { count, example }));
  const file = element("input", { type: "file", accept: ".json,.csv,.txt,application/json,text/csv" });
  const chooser = field("features-file", text("many.file"), file, text("many.file-hint"));
  const note = element("p", { class: "hint", role: "status" });
  box.node.append(note);
  const update = () => {
    const { values, problem } = readMany(control.value, study);
    note.textContent = control.value.trim() === "" ? "" : (problem ?? tally(values, study));
  };
  control.addEventListener("input", update);
  file.addEventListener("change", async () => {
    if (file.files.length === 0) return;
    control.value = await file.files[0].text();
    control.dispatchEvent(new Event("input", { bubbles: true }));
  });
  return {
    node: element("div", { class: "fields" }, box.node, chooser.node, questionList(study)),
    peek() {
      const { values, problem } = readMany(control.value, study);
      return problem === null ? values : null;
    },
    read(problems) {
      const { values, problem } = readMany(control.value, study);
      box.complain(problem);
      if (problem !== null) problems.push({ id: control.id, question: text("many.question", { count }), sentence: problem });
      return values;
    },
  };
}

function questionList(study) {
  const count = study.domains.length;
  const shown = study.domains.slice(0, MOST_LISTED);
  const items = shown.map((domain, i) => element("li", {}, questionOf(study, i), ` – ${allowed(domain)}`));
  if (count > MOST_LISTED) items.push(element("li", {}, counted("more", count - MOST_LISTED)));
  const heading = text("many.all", { count });
  const list = element("ol", { class: "long", start: "1", tabindex: "0", "aria-label": heading }, ...items);
  return element("details", {}, element("summary", {}, heading), list);
}

function readMany(entered, study) {
  const { values, problem } = numbersIn(entered, study.domains.length);
  if (problem !== null) return { values: [], problem };
  if (values.length !== study.domains.length) {
    const numbers = { wanted: study.domains.length, found: values.length };
    return { values: [], problem: text("many.count", numbers) };
  }
  const read = values.map((value, i) => readAnswer(value, study.domains[i]));
  const wrong = read.findIndex((each) => each.problem !== null);
  if (wrong >= 0) {
    return { values: [], problem: text("many.wrong", { number: wrong + 1, sentence: read[wrong].problem }) };
  }
  return { values: read.map(({ value }) => value), problem: null };
}

/** A comma separates answers, or the digits of one: whichever gives as many answers as there are questions. */
function numbersIn(entered, wanted) {
  const trimmed = entered.trim();
  if (/^[[{]/.test(trimmed)) {
    try {
      const document = JSON.parse(trimmed);
      const values = Array.isArray(document) ? document : document.features;
      const numbers = Array.isArray(values) && values.every((value) => typeof value === "number");
      return numbers ? { values, problem: null } : { values: [], problem: text("many.no-list") };
    } catch {
      return { values: [], problem: text("many.no-json") };
    }
  }
  const parts = (separator) => trimmed.split(separator).filter((part) => part !== "");
  const decimal = parts(/,?[\s;]+|,$/);
  return { values: decimal.length === wanted ? decimal : parts(/[\s,;]+/), problem: null };
}

function tally(values, study) {
  const isOutside = (value, i) => value < study.domains[i].low || value > study.domains[i].high;
  const outside = values.filter(isOutside).length;
  const read = counted("many.read", values.length);
  return outside === 0 || study.shows ? read : `${read} ${counted("many.outside", outside)}`;
}
