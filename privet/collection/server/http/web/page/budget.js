/** The owner's budget: what was given away on this site, what this study costs, the history and the limit. */

import { byId, element, table, theirs } from "../controls/dom.js";
import { budgetBar } from "../controls/figures.js";
import { readAnswer } from "../controls/fields.js";
import { exceeds, readLedger, remainder, setLimit, spent } from "../device/ledger.js";
import { readNumber } from "../texts/entered.js";
import { atMost, tidy } from "../texts/numbers.js";
import { moment, pieces, retold, text } from "../texts/texts.js";
import { withdrawnAt } from "../device/withdrawal.js";

/** Show the budget. `report` is null before one is made; `over` says that none will be. */
export function describeBudget(study, report, over = false) {
  const ledger = readLedger();
  const before = spent(ledger);
  const planned = report || over ? 0 : study.cost;
  byId("budget-figure").replaceChildren(budgetBar(before, planned, ledger.limit));
  const figures = { spent: atMost(before), limit: tidy(ledger.limit) };
  const sentences = [text(report ? "budget.given-with" : "budget.given", figures)];
  if (planned > 0) {
    const left = tidy(remainder(ledger.limit, before, planned));
    const key = exceeds(ledger, study.cost) ? "budget.too-much" : "budget.leaves";
    sentences.push(text(key, { cost: atMost(planned), left }));
  }
  byId("budget-words").textContent = sentences.join(" ");
  byId("history").replaceChildren(...history(ledger));
  byId("limit").value = tidy(ledger.limit, 15);
}

function history(ledger) {
  const rows = ledger.reports.map(({ study, chain, title, cost, made, sent, shows }) => {
    const withdrawn = withdrawnAt(chain ?? study);
    const state = withdrawn ? text("budget.withdrawn", { moment: moment(withdrawn) }) : sent && moment(new Date(sent));
    return [theirs(title), shows ? text("budget.shown") : atMost(cost), moment(new Date(made)), state ?? text("budget.unsent")];
  });
  const headings = ["budget.study", "cost.epsilon", "budget.made", "budget.sent"].map((key) => text(key));
  const refunds = ledger.refunds.map(({ title, cost, reason }) => {
    const values = { cost: tidy(cost), title: theirs(title), reason: retold(reason) ?? reason };
    return element("p", { class: "hint" }, ...pieces("budget.refund", values));
  });
  const reports =
    rows.length > 0
      ? table(text("budget.caption"), headings, rows, { class: "stacked history" })
      : element("p", { class: "hint" }, text("budget.none"));
  return [reports, ...refunds];
}

/** Let the owner change the limit; `then()` is called afterwards. */
export function listenForLimit(then) {
  byId("limit-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const { value: limit, problem } = readAnswer(byId("limit").value, { kind: "interval", low: 0, high: Infinity });
    const isValid = problem === null && limit >= 0;
    const { readings } = readNumber(byId("limit").value);
    byId("limit-problem").hidden = isValid;
    byId("limit-problem").textContent = isValid ? "" : readings ? problem : text("budget.no-limit");
    if (!isValid) return;
    await setLimit(limit);
    then();
  });
}
