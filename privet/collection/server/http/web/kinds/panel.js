/** The open answers of a member of the panel: answers and class as they are, after an explicit yes. Nothing is randomised. */

import { element } from "../controls/dom.js";
import { allowed, questionOf } from "../controls/fields.js";
import { text } from "../texts/texts.js";
import { answeredFeatures, featureControl } from "./features.js";
import { classQuestion, label } from "./label.js";
import { listControl, neighbours } from "./neighbours.js";
import { panelShowsFriends } from "../study/chain.js";

const features = {
  name: "features",
  control(study) {
    const made = featureControl(study);
    const warning = element("p", { class: "panel-warning strong" }, text("panel.warning"));
    return { ...made, node: element("div", { class: "stack" }, warning, made.node), read };

    /** Nothing is moved into its range here: whoever shows an answer shows the one that was given. */
    function read(problems) {
      const values = made.read(problems);
      const isOutside = (value, i) => value < study.domains[i].low || value > study.domains[i].high;
      const outside = problems.length > 0 ? -1 : values.findIndex(isOutside);
      if (outside >= 0) {
        const id = made.node.querySelector(`#feature-${outside}`) ? `feature-${outside}` : "features";
        problems.push({ id, question: questionOf(study, outside), sentence: allowed(study.domains[outside]) });
      }
      return values;
    }
  },
  cost: () => ({ name: text("panel.answers"), sent: text("panel.open"), epsilon: null }),
  answered: answeredFeatures,
  sent: answeredFeatures,
  unprotected: () => ["everything"],
};

const group = {
  ...label,
  cost: (study) => ({ name: classQuestion(study), sent: text("panel.open"), epsilon: null }),
  unprotected: () => [],
};

const consent = {
  name: "agreed",
  control() {
    const tick = element("input", { type: "checkbox", id: "panel-agree", "aria-describedby": "panel-problem" });
    const problem = element("p", { id: "panel-problem", class: "problem", hidden: true });
    const words = element("label", { for: tick.id }, text("panel.agree"));
    return {
      node: element("div", { class: "field" }, element("div", { class: "option" }, tick, words), problem),
      read(problems) {
        const sentence = text("panel.must-agree");
        problem.hidden = tick.checked;
        problem.textContent = tick.checked ? "" : sentence;
        tick.setAttribute("aria-invalid", tick.checked ? "false" : "true");
        if (!tick.checked) problems.push({ id: tick.id, question: text("panel.agree"), sentence });
        return tick.checked;
      },
    };
  },
  cost: () => null,
  answered: () => [],
  sent: () => [],
  unprotected: () => [],
};

const friends = {
  ...neighbours,
  control: listControl,
  cost: () => ({ name: text("neighbours.question"), sent: text("panel.open"), epsilon: null }),
};

/** What a member of the panel is asked to show. */
export const panelKinds = (study) => [features, group, ...(panelShowsFriends(study) ? [friends] : []), consent];
