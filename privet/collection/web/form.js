/** The questions as form controls, or as one box for many; reads and checks what was entered, on this device only. */

import { element } from "./dom.js";
import { tidy } from "./numbers.js";

const MOST_CONTROLS = 40;
const MOST_OPTIONS = 60;
const MOST_RADIOS = 6;

/** The questions of a study for one participant: {node, read, clear}. */
export function questionForm(study, participant) {
  const features = study.domains.length > MOST_CONTROLS ? pasted(study) : asked(study);
  const label = study.labels ? classQuestion(study) : null;
  const neighbours = study.neighbours ? neighbourQuestion(study, participant) : null;
  const questions = [features, label, neighbours].filter((part) => part !== null);
  const summary = element("div", { class: "problems", role: "alert", tabindex: "-1", id: "problems", hidden: true });
  const node = element("div", { class: "questions" }, summary, ...questions.map((part) => part.node));
  return {
    node,
    /** The raw answers, or null after the problems were shown. */
    read() {
      const problems = [];
      const raw = {
        node: participant,
        features: features.read(problems),
        label: label ? label.read(problems) : null,
        neighbours: neighbours ? neighbours.read(problems) : null,
      };
      showProblems(summary, problems);
      return problems.length > 0 ? null : raw;
    },
    /** Forget what was entered. */
    clear() {
      for (const control of node.querySelectorAll("input, textarea, select")) {
        if (control.type === "radio") control.checked = false;
        else control.value = "";
      }
      node.replaceChildren();
    },
  };
}

/** What a feature may be, in words. */
export function allowed(domain) {
  if (domain.kind === "categories") return `a whole number from 0 to ${domain.count - 1}`;
  return `a number from ${tidy(domain.low)} to ${tidy(domain.high)}`;
}

function showProblems(summary, problems) {
  summary.replaceChildren();
  summary.hidden = problems.length === 0;
  if (problems.length === 0) return;
  const link = ({ id, text }) => {
    const anchor = element("a", { href: `#${id}` }, text);
    anchor.addEventListener("click", (event) => {
      event.preventDefault(); // the address keeps its token
      document.getElementById(id).focus();
    });
    return element("li", {}, anchor);
  };
  const count = problems.length === 1 ? "One answer needs" : `${problems.length} answers need`;
  summary.append(
    element("p", {}, `${count} your attention. Nothing has left this device.`),
    element("ul", {}, ...problems.slice(0, 8).map(link)),
  );
  summary.focus();
}

/** A label, its control, a hint and a place for what is wrong with it. */
function field(id, text, control, hint) {
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

function asked(study) {
  const fields = study.domains.map((domain, i) => featureField(study, domain, i));
  return {
    node: element("div", { class: "fields" }, ...fields.map(({ node }) => node)),
    read: (problems) =>
      fields.map(({ control, complain: say }, i) => {
        const text = control.value.trim();
        const sentence = problemOf(text, study.domains[i]);
        say(sentence);
        if (sentence !== null) problems.push({ id: control.id, text: `${study.question(i)}: ${sentence}` });
        return Number(text);
      }),
  };
}

function featureField(study, domain, i) {
  if (domain.kind === "categories" && domain.count <= MOST_OPTIONS) {
    const options = Array.from({ length: domain.count }, (_, code) => element("option", { value: code }, String(code)));
    const control = element("select", {}, element("option", { value: "" }, "Choose …"), ...options);
    return field(`feature-${i}`, study.question(i), control, `Choose ${allowed(domain)}.`);
  }
  const step = domain.kind === "categories" ? "1" : "any";
  const range = { type: "number", step, min: domain.low, max: domain.high, inputmode: "decimal", autocomplete: "off" };
  const made = field(`feature-${i}`, study.question(i), element("input", range), `Enter ${allowed(domain)}.`);
  if (domain.kind === "interval") made.control.addEventListener("change", () => noteClipping(made, domain));
  return made;
}

/** A value outside its range is not an error: the device moves it to the nearest end, and says so. */
function noteClipping({ control, node }, domain) {
  const value = Number(control.value);
  const end = value < domain.low ? domain.low : domain.high;
  const outside = control.value !== "" && (value < domain.low || value > domain.high);
  const hint = node.querySelector(".hint");
  hint.textContent = outside ? `Outside the range: it will count as ${tidy(end)}.` : `Enter ${allowed(domain)}.`;
  hint.classList.toggle("notable", outside);
}

function problemOf(value, domain) {
  if (value === "" || value === null || Number.isNaN(Number(value)) || !Number.isFinite(Number(value))) {
    return `enter ${allowed(domain)}.`;
  }
  if (domain.kind === "interval") return null;
  const code = Number(value);
  return Number.isInteger(code) && code >= 0 && code < domain.count ? null : `enter ${allowed(domain)}.`;
}

/** Many answers at once: pasted or from a file, as JSON or CSV; the file is read here and goes nowhere. */
function pasted(study) {
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
  const items = study.domains.map((domain, i) => element("li", {}, `${study.question(i)}: ${allowed(domain)}`));
  const list = element("ol", { class: "long", start: "1", tabindex: "0", "aria-label": "All questions" }, ...items);
  return element("details", {}, element("summary", {}, `All ${items.length.toLocaleString("en")} questions`), list);
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

function classQuestion(study) {
  const names = Array.from({ length: study.classes }, (_, label) => study.className(label));
  return study.classes <= MOST_RADIOS ? radios(study.classQuestion, names) : choices(study, names);
}

function radios(question, names) {
  const inputs = names.map((_, label) => element("input", { type: "radio", name: "label", value: label }));
  inputs.forEach((input, label) => (input.id = `label-${label}`));
  const options = inputs.map((input, label) =>
    element("div", { class: "option" }, input, element("label", { for: input.id }, names[label])),
  );
  const problem = element("p", { class: "problem", hidden: true, id: "label-problem" });
  const legend = element("legend", {}, question);
  return {
    node: element("fieldset", { "aria-describedby": "label-problem" }, legend, ...options, problem),
    read(problems) {
      const chosen = inputs.findIndex((input) => input.checked);
      problem.hidden = chosen >= 0;
      problem.textContent = chosen >= 0 ? "" : "Choose one.";
      if (chosen < 0) problems.push({ id: inputs[0].id, text: `${question} Choose one.` });
      return chosen;
    },
  };
}

function choices(study, names) {
  const many = names.length > 1000;
  const options = many ? [] : names.map((name, label) => element("option", { value: label }, name));
  const control = many
    ? element("input", { type: "number", step: "1", min: "0", max: names.length - 1, inputmode: "numeric" })
    : element("select", {}, element("option", { value: "" }, "Choose …"), ...options);
  const hint = many ? `Enter a whole number from 0 to ${names.length - 1}.` : `Choose one of ${names.length}.`;
  const made = field("label", study.classQuestion, control, hint);
  return {
    node: made.node,
    read(problems) {
      const sentence = problemOf(control.value.trim(), { kind: "categories", count: names.length });
      made.complain(sentence === null ? null : hint);
      if (sentence !== null) problems.push({ id: control.id, text: `${study.classQuestion} ${hint}` });
      return Number(control.value);
    },
  };
}

function neighbourQuestion(study, participant) {
  const last = (study.nodes - 1).toLocaleString("en");
  const hint =
    `Enter the numbers (0 to ${last}) of the participants you are connected with, separated by commas or spaces. You ` +
    `are number ${participant.toLocaleString("en")}. Leave it empty if there are none.`;
  const control = element("textarea", { rows: "3", spellcheck: "false", autocomplete: "off", inputmode: "numeric" });
  const made = field("neighbours", "Who are you connected with?", control, hint);
  return {
    node: made.node,
    read(problems) {
      const parts = control.value.split(/[\s,;]+/).filter((part) => part !== "");
      const isOther = (part) => /^\d+$/.test(part) && Number(part) < study.nodes && Number(part) !== participant;
      const wrong = parts.find((part) => !isOther(part));
      const sentence = wrong === undefined ? null : `“${wrong}” is not the number of another participant.`;
      made.complain(sentence);
      if (sentence !== null) problems.push({ id: control.id, text: `Your connections: ${sentence}` });
      return [...new Set(parts.map(Number))].sort((a, b) => a - b);
    },
  };
}
