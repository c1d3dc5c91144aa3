/** The description of the study and its cost: three lines, and the rest for those who unfold it. */

import { byId, element, facts, table, theirs } from "../controls/dom.js";
import { guessBars } from "../controls/figures.js";
import { kindsOf } from "../kinds/index.js";
import { atMost, certainty, oddsFactor, percents } from "../texts/numbers.js";
import { counted, moment, pieces, text } from "../texts/texts.js";
import { phase } from "../study/study.js";
import { inOneSentence, inThreeLines, unprotected } from "./words.js";

/** Title, purpose, who runs it, until when, and the cost. */
export function describeStudy(study, node) {
  const { title, purpose, operator, eligible } = study.manifest;
  document.title = text("about.window", { title });
  byId("title").replaceChildren(theirs(title));
  byId("asker").replaceChildren(...pieces("about.asker", { operator: theirs(operator) }));
  byId("asker").hidden = false;
  byId("purpose").replaceChildren(theirs(purpose));
  byId("summary").replaceChildren(
    ...inThreeLines(study).map(([heading, sentence]) => element("li", {}, element("strong", {}, heading), ` ${sentence}`)),
  );
  byId("facts").replaceChildren(
    facts([
      [text("about.operator"), theirs(operator)],
      [text("about.eligible"), theirs(eligible)],
      [text("about.closes"), text("about.your-time", { moment: moment(study.closes) })],
      [text("about.deletion"), deletion(study)],
      ...(study.manifest.publish_results ? [[text("about.results"), resultsLink(study)]] : []),
      [text("about.number"), text("about.number-of", { node: String(node), last: String(study.nodes - 1) })],
      [text("about.id"), element("code", { class: "id" }, study.id)],
    ]),
  );
  byId("once").hidden = study.shows; // nothing is drawn at random
  describeCost(study);
}

/** Where everybody sees what people answered: a link once the study has closed, before that a promise. */
function resultsLink(study) {
  if (phase(study) !== "over") return text("about.results-later");
  return element("a", { href: "/results" }, text("about.results-link"));
}

/** When the collector deletes the report, which the manifest promises, and that it can be withdrawn. */
function deletion({ closes, manifest: { delete_after: days } }) {
  if (days === null) return text("about.deletion-never");
  const last = new Date(closes);
  last.setUTCDate(last.getUTCDate() + days);
  return counted("about.deletion-on", days, { moment: moment(last) });
}

function describeCost(study) {
  const sure = certainty(study.total);
  byId("sentence").textContent = inOneSentence(study);
  byId("guess-figure").replaceChildren(study.shows ? "" : guessBars(sure));
  byId("guess-words").textContent = study.shows ? "" : text("cost.guess", { half: percents(50), sure: percents(sure) });
  const list = kindsOf(study).map((kind) => kind.cost(study)).filter((part) => part !== null);
  const price = (epsilon) => (epsilon === null ? ["–", "–"] : [atMost(epsilon), `× ${oddsFactor(epsilon)}`]);
  const rows = list.map(({ name, sent, epsilon }) => [name, sent, ...price(epsilon)]);
  if (list.length > 1 && !study.shows) rows.push([text("cost.all"), "", ...price(study.total)]);
  const headings = ["cost.question", "cost.sent", "cost.epsilon", "cost.odds"].map((key) => text(key));
  const made = table(text("cost.caption"), headings, rows, { class: list.length > 1 ? "stacked totalled" : "stacked" });
  byId("parts").replaceChildren(made);
  byId("unprotected").replaceChildren(...unprotected(study).map((sentence) => element("li", {}, sentence)));
  const command = element("code", { translate: "no" }, "privet participate LINK");
  byId("trust-client").replaceChildren(...pieces("trust.client", { command }));
}
