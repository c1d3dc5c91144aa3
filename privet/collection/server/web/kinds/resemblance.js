/** Which of a few groups the answers resemble most: scored here by a public rule, then randomised. */

import { element } from "../dom.js";
import { percent } from "../numbers.js";
import { clipped, resembles } from "../resemblance.js";
import { listed, text } from "../texts.js";
import { featureControl, rawInWords } from "./features.js";
import { questionOf } from "../fields.js";
import { className } from "./label.js";

const MOST_ROWS = 500;
const find = (study) => study.asked.find(({ name }) => name === "resemblance");

export const resemblance = {
  name: "features",
  isAsked: (study) => find(study) !== undefined,
  control,
  cost(study) {
    const groups = offered(study);
    return { name: text("resemblance.question", { groups }), sent: describe(study), epsilon: find(study).cost };
  },
  rows(study, raw, report) {
    const question = find(study);
    const answers = study.domains.slice(0, MOST_ROWS).map((domain, i) => {
      return [questionOf(study, i), raw && rawInWords(raw.features[i], domain), text("check.nothing")];
    });
    const [position] = question.mechanism.decode(report.resemblance);
    const sent = Array.isArray(question.offers) ? className(study, question.offers[position]) : String(position + 1);
    return [...answers, [text("resemblance.most"), raw && className(study, best(study, raw.features)), sent]];
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

function describe(study) {
  const { mechanism, offers } = find(study);
  if (!Array.isArray(offers)) return text("sent.offered-any");
  const [keep, flip] = mechanism.chances(offers.length).map(percent);
  return text(offers.length === 2 ? "sent.offered-two" : "sent.offered", { keep, flip, others: offers.length - 1 });
}
