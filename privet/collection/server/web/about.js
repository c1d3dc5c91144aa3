/** What the page says about the study, its cost and the owner's budget. */

import { byId, element, facts, table } from "./dom.js";
import { budgetBar, guessBars } from "./figures.js";
import { exceeds, readLedger, remainder, spent } from "./ledger.js";
import { certainty, oddsFactor, tidy } from "./numbers.js";
import { inOneSentence, parts, unprotected } from "./words.js";

/** A time as people write it, in their own zone. */
export function moment(date) {
  return date.toLocaleString("en-GB", { dateStyle: "long", timeStyle: "short" });
}

/** Title, purpose, who runs it, until when. */
export function describeStudy(study, node) {
  const { title, purpose, operator, eligible } = study.manifest;
  document.title = `${title} – take part`;
  byId("title").textContent = title;
  byId("purpose").textContent = purpose;
  byId("facts").replaceChildren(
    facts([
      ["Run by", operator],
      ["Who may take part", eligible],
      ["Open until", `${moment(study.closes)}, your time`],
      ["Your number", `${node} (from 0 to ${study.nodes - 1})`],
      ["Study id", element("code", { class: "id" }, study.id)],
    ]),
  );
  describeCost(study);
}

function describeCost(study) {
  const sure = certainty(study.cost);
  byId("sentence").textContent = inOneSentence(study);
  byId("guess-figure").replaceChildren(guessBars(sure));
  byId("guess-words").textContent =
    "Suppose somebody suspects something about you and is undecided: 50\u00a0%. Whatever your report turns out to be, they " +
    `can be at most ${sure}\u00a0% sure afterwards.${strength(study.cost)}`;
  const list = parts(study);
  const rows = list.map(({ name, sent, epsilon }) => [name, sent, tidy(epsilon), `× ${oddsFactor(epsilon)}`]);
  if (list.length > 1) rows.push(["In all", "", tidy(study.cost), `× ${oddsFactor(study.cost)}`]);
  const made = table("What is sent, and what each part costs", ["Part", "What is sent", "Cost (ε)", "Odds"], rows, {
    class: list.length > 1 ? "stacked totalled" : "stacked",
  });
  byId("parts").replaceChildren(made);
  byId("unprotected").replaceChildren(...unprotected(study).map((text) => element("li", {}, text)));
}

/** Figures that look harmless need a plain word where they are not. */
function strength(cost) {
  return cost > 3
    ? " That is weak protection: take part only if you would not mind much if the answers were known."
    : "";
}

/**
 * What was given away before, what this study costs, and the history. `report` is null before one is made; `over` says
 * that none will be.
 */
export function describeBudget(study, report, over = false) {
  const ledger = readLedger();
  const before = spent(ledger);
  const planned = report || over ? 0 : study.cost;
  byId("budget-figure").replaceChildren(budgetBar(before, planned, ledger.limit));
  const included = report ? ", this report included" : "";
  const given = `So far you have given away ε = ${tidy(before)} on this site${included}; your limit is ${tidy(ledger.limit)}.`;
  const left = tidy(remainder(ledger.limit, before, planned));
  byId("budget-words").textContent = report || over
    ? given
    : exceeds(ledger, study.cost)
      ? `${given} This study costs ${tidy(planned)}, which is more than is left.`
      : `${given} This study costs ${tidy(planned)} and would leave ${left}.`;
  const rows = ledger.reports.map(({ title, cost, made, sent }) => {
    return [title, tidy(cost), moment(new Date(made)), sent === null ? "not sent yet" : moment(new Date(sent))];
  });
  const empty = element("p", { class: "hint" }, "There is no report in this browser.");
  const history = table("Reports made in this browser", ["Study", "Cost (ε)", "Made", "Sent"], rows, { class: "stacked" });
  const refunds = ledger.refunds.map(({ title, cost, reason }) => {
    return element("p", { class: "hint" }, `Refunded ε = ${tidy(cost)} for “${title}”, whose report was never sent: ${reason}`);
  });
  byId("history").replaceChildren(rows.length > 0 ? history : empty, ...refunds);
  byId("limit").value = ledger.limit;
}
