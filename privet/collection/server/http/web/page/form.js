/** The questions as form controls; reads and checks what was entered, on this device only. */

import { byId, element } from "../controls/dom.js";
import { kindsOf } from "../kinds/index.js";
import { counted } from "../texts/texts.js";

const MOST_LISTED = 8;

/** The questions of a study for one participant: {node, read, values, restore, clear}. */
export function questionForm(study, participant) {
  const isFirst = ({ name }, i, all) => all.findIndex((other) => other.name === name) === i;
  const parts = kindsOf(study).filter(isFirst).map((kind) => [kind.name, kind.control(study, participant)]);
  const summary = element("div", { class: "problems", role: "alert", tabindex: "-1", id: "problems", hidden: true });
  const node = element("div", { class: "questions" }, summary, ...parts.map(([, part]) => part.node));
  const controls = () => [...node.querySelectorAll("input:not([type=file]), textarea, select")];
  const isChoice = ({ type }) => type === "radio" || type === "checkbox";
  return {
    node,
    /** The raw answers, or null after the problems were shown. */
    read() {
      const problems = [];
      const answers = parts.map(([name, part]) => [name, part.read(problems)]);
      showProblems(summary, problems);
      return problems.length > 0 ? null : { node: participant, ...Object.fromEntries(answers) };
    },
    /** What stands in the controls now, by their ids; those that are empty are left out. */
    values() {
      const entered = controls().map((control) => [control.id, isChoice(control) ? control.checked : control.value]);
      return Object.fromEntries(entered.filter(([, value]) => value !== "" && value !== false));
    },
    /** Put values back, as if they had been entered. */
    restore(values) {
      for (const control of controls().filter(({ id }) => Object.hasOwn(values, id))) {
        if (isChoice(control)) control.checked = values[control.id];
        else control.value = values[control.id];
        for (const kind of ["input", "change"]) control.dispatchEvent(new Event(kind, { bubbles: true }));
      }
    },
    /** Forget what was entered. */
    clear() {
      for (const control of controls()) {
        if (isChoice(control)) control.checked = false;
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
  const link = ({ id, question, sentence }) => {
    const anchor = element("a", { href: `#${id}` }, question instanceof Node ? question.cloneNode(true) : question);
    anchor.addEventListener("click", (event) => {
      event.preventDefault(); // the address keeps its token
      byId(id).focus();
    });
    return element("li", {}, anchor, ` – ${sentence}`);
  };
  summary.append(
    element("p", {}, counted("answer.problems", problems.length)),
    element("ul", {}, ...problems.slice(0, MOST_LISTED).map(link)),
  );
  summary.focus();
}
