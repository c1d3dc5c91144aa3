/** Many answers in one box: pasted, or read from a file on this device. */

import { element } from "./dom.js";
import { allowed, field, problemOf } from "./fields.js";

const MOST_LISTED = 2000;

/** Many answers at once: pasted or from a file, as JSON or CSV; the file is read here and goes nowhere. */
export function pasted(study) {
  const count = study.domains.length.toLocaleString("en");
  const hint =
    `Paste your ${count} answers in order, separated by commas, spaces or lines, or as JSON: [1, 0.5, …] or ` +
    '{"features": […]}.';
  const control = element("textarea", { rows: "6", spellcheck: "false", autocomplete: "off" });
  const box = field("features", `Your ${count} answers`, control, hint);
  const file = element("input", { type: "file", accept: ".json,.csv,.txt,application/json,text/csv" });
  const chooser = field("features-file", "Or read them from a file", file, "The file stays on this device.");
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
    update();
  });
  return {
    node: element("div", { class: "fields" }, box.node, chooser.node, questionList(study)),
    read(problems) {
      const { values, problem } = readMany(control.value, study);
      box.complain(problem);
      if (problem !== null) problems.push({ id: control.id, text: problem });
      return values;
    },
  };
}

function questionList(study) {
  const count = study.domains.length;
  const shown = study.domains.slice(0, MOST_LISTED);
  const items = shown.map((domain, i) => element("li", {}, `${study.question(i)}: ${allowed(domain)}`));
  if (count > MOST_LISTED) items.push(element("li", {}, `and ${(count - MOST_LISTED).toLocaleString("en")} more`));
  const list = element("ol", { class: "long", start: "1", tabindex: "0", "aria-label": "All questions" }, ...items);
  return element("details", {}, element("summary", {}, `All ${count.toLocaleString("en")} questions`), list);
}

function readMany(text, study) {
  const { values, problem } = numbersIn(text);
  if (problem !== null) return { values: [], problem };
  if (values.length !== study.domains.length) {
    const wanted = study.domains.length.toLocaleString("en");
    return { values: [], problem: `${wanted} answers are needed, and ${values.length.toLocaleString("en")} were found.` };
  }
  const wrong = values.findIndex((value, i) => problemOf(value, study.domains[i]) !== null);
  if (wrong >= 0) {
    const sentence = problemOf(values[wrong], study.domains[wrong]);
    return { values: [], problem: `Answer ${wrong + 1} (${study.question(wrong)}): ${sentence}` };
  }
  return { values: values.map(Number), problem: null };
}

function numbersIn(text) {
  const trimmed = text.trim();
  if (/^[[{]/.test(trimmed)) {
    try {
      const document = JSON.parse(trimmed);
      const values = Array.isArray(document) ? document : document.features;
      const numbers = Array.isArray(values) && values.every((value) => typeof value === "number");
      return numbers ? { values, problem: null } : { values: [], problem: "The JSON holds no list of numbers." };
    } catch {
      return { values: [], problem: "The text begins like JSON but is not JSON." };
    }
  }
  return { values: trimmed.split(/[\s,;]+/).filter((part) => part !== ""), problem: null };
}

function tally(values, study) {
  const isOutside = (value, i) => value < study.domains[i].low || value > study.domains[i].high;
  const outside = values.filter(isOutside).length;
  const read = `${values.length.toLocaleString("en")} answers read.`;
  return outside === 0 ? read : `${read} ${outside} lie outside their range and will count as its nearest end.`;
}
