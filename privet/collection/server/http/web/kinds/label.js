/** The class: radio buttons for a few, a list for many, a number for thousands. */

import { element, theirs } from "../controls/dom.js";
import { field, numberInput, readAnswer } from "../controls/fields.js";
import { percent } from "../texts/numbers.js";
import { text } from "../texts/texts.js";

const MOST_RADIOS = 6;
const MOST_OPTIONS = 1000;

/** The field for the class. */
export function classQuestion(study) {
  const own = study.manifest.class_question;
  return own === null ? text("class.question") : theirs(own);
}

/** A class in the study's words, or its number. */
export function className(study, label) {
  return study.classNames?.[label] ?? text("class.unnamed", { number: String(label) });
}

export const label = {
  name: "label",
  isAsked: (study) => study.labels !== null,
  control: (study) => (study.classes <= MOST_RADIOS ? radios(study) : choices(study)),
  cost(study) {
    const { high, total } = study.labels.odds;
    const sent = text("sent.choice", { chance: percent(high / total) });
    return { name: classQuestion(study), sent, epsilon: study.labels.epsilon };
  },
  answered: (study, raw) => [[classQuestion(study), theirs(className(study, raw.label))]],
  sent: (study, report) => [[classQuestion(study), theirs(className(study, report.label))]],
  unprotected: () => [],
};

function radios(study) {
  const labels = Array.from({ length: study.classes }, (_, i) => i);
  const inputs = labels.map((i) => element("input", { type: "radio", name: "label", value: i, id: `label-${i}` }));
  const options = inputs.map((input, i) => {
    return element("div", { class: "option" }, input, element("label", { for: input.id }, theirs(className(study, i))));
  });
  const problem = element("p", { class: "problem", hidden: true, id: "label-problem" });
  const legend = element("legend", {}, classQuestion(study));
  const node = element("fieldset", { "aria-describedby": problem.id }, legend, ...options, problem);
  node.addEventListener("input", () => (problem.hidden = true));
  return {
    node,
    read(problems) {
      const chosen = inputs.findIndex((input) => input.checked);
      const sentence = text("answer.choose-one");
      problem.hidden = chosen >= 0;
      problem.textContent = chosen >= 0 ? "" : sentence;
      if (chosen < 0) problems.push({ id: inputs[0].id, question: classQuestion(study), sentence });
      return chosen;
    },
  };
}

function choices(study) {
  const count = study.classes;
  const few = count <= MOST_OPTIONS;
  const codes = Array.from({ length: few ? count : 0 }, (_, i) => i);
  const options = codes.map((i) => element("option", { value: i, lang: "" }, className(study, i)));
  const control = few
    ? element("select", {}, element("option", { value: "" }, text("answer.choose")), ...options)
    : numberInput({ kind: "categories", count });
  const hint = few ? text("answer.choose-of", { count }) : text("answer.whole", { last: count - 1 });
  const made = field("label", classQuestion(study), control, hint);
  return {
    node: made.node,
    read(problems) {
      const { value, problem } = readAnswer(control.value, { kind: "categories", count });
      const sentence = problem !== null && few ? hint : problem;
      made.complain(sentence);
      if (sentence !== null) problems.push({ id: control.id, question: classQuestion(study), sentence });
      return value;
    },
  };
}
