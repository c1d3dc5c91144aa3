/** The questions as form controls; reads and checks what was entered, on this device only. */

import { element } from "./dom.js";
import { allowed, field, problemOf } from "./fields.js";
import { pasted } from "./many.js";
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
