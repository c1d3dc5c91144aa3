/** Which of a few groups the answers resemble most: scored here by a public rule, then randomised. */

import { element } from "../controls/dom.js";
import { clipped, resembles } from "../answers/functions.js";
import { listed, text } from "../texts/texts.js";
import { answeredFeatures, featureControl } from "./features.js";
import { className } from "./label.js";
import { describeChoice } from "./person.js";

const find = (study) => study.asked.find(({ name }) => name === "resemblance");

export const resemblance = {
  name: "features",
  isAsked: (study) => find(study) !== undefined,
  control,
  cost(study) {
    const groups = offered(study);
    return { name: text("resemblance.question", { groups }), sent: describe(study), epsilon: find(study).cost };
  },
  answered(study, raw) {
    const found = className(study, best(study, raw.features));
    return [...answeredFeatures(study, raw), [text("resemblance.most"), found]];
  },
  sent(study, report) {
    const { mechanism, offers } = find(study);
    const label = (position) => (Array.isArray(offers) ? className(study, offers[position]) : String(position + 1));
    return [[text("resemblance.most"), listed(mechanism.held(report.resemblance).map(label))]];
  },
  unprotected: () => ["offered"],
};

/** The class that some answers resemble most, of those that are offered. */
function best(study, features) {
  const question = find(study);
  return question.offers[resembles(clipped(features, study.domains), question, study.classes)];
}

/** The groups in question; the page does not know them again once a report is made and the server is away. */
function offered(study) {
  const { offers } = find(study);
  return Array.isArray(offers) ? listed(offers.map((label) => className(study, label))) : "…";
}

function control(study) {
  const made = featureControl(study);
  const found = element("p", { id: "resemblance", class: "preview", role: "status" });
  const update = () => {
    const features = made.peek();
    const groups = offered(study);
    const group = features && className(study, best(study, features));
    found.textContent = features ? text("resemblance.found", { group, groups }) : text("resemblance.wait", { groups });
  };
  const sent = element("p", { class: "hint" }, text("resemblance.sent"), " ", describe(study));
  const node = element("div", { class: "stack" }, made.node, found, sent);
  for (const kind of ["input", "change"]) node.addEventListener(kind, update);
  update();
  return { ...made, node };
}

const describe = (study) => describeChoice(find(study));
