/** The rounds of a study as cards, the newest first: who answered on which day, and who is asked and why. */

import { byId, element, facts, scrolling, table } from "../controls/dom.js";
import { atMost, oddsFactor } from "../texts/numbers.js";
import { bars, dailyChart, day } from "./chart.js";
import { count, fill, moment, share } from "./filling.js";

export const STATES = { open: "Open", closed: "Closed", waiting: "Not open yet" };
const cards = new Map(); // by the round's id: its card and the parts that change
const widths = new ResizeObserver((entries) => entries.forEach(({ target }) => target.redraw?.()));

/** Show all rounds; `onDownload` is called with the path of a file. */
export function showRounds(rounds, onDownload) {
  for (const round of rounds) {
    if (!cards.has(round.id)) {
      cards.set(round.id, newCard(round, onDownload));
      byId("rounds").prepend(cards.get(round.id).card);
    }
    update(cards.get(round.id), round);
  }
}

/** Forget what is shown. */
export function clearRounds() {
  cards.clear();
  byId("rounds").replaceChildren();
}

function newCard(round, onDownload) {
  const heading = `round-${round.number}`;
  const parts = { badge: element("span", { class: "badge" }), chart: element("div", { class: "chart" }) };
  for (const name of ["line", "facts", "days", "groups"]) parts[name] = element("div");
  const title = element("h3", { id: heading }, `Round ${round.number}: ${asks(round)}`);
  const group = { class: "actions", role: "group", "aria-label": `Downloads of round ${round.number}` };
  const card = element(
    "article",
    { class: "card round", "aria-labelledby": heading },
    element("div", { class: "heading" }, title, parts.badge),
    parts.line,
    parts.chart,
    element("details", {}, element("summary", {}, "The days as a table"), parts.days),
    element("h4", {}, "Whom it asks, and why"),
    parts.groups,
    parts.facts,
    element("div", group, ...downloads(round, onDownload)),
  );
  widths.observe(parts.chart);
  return { card, ...parts };
}

function asks({ questions, panel }) {
  const words = questions.map((question) => question.words);
  return [...words, ...(panel > 0 ? ["what a panel shows"] : [])].join(", and ");
}

function downloads({ number, questions, panel }, onDownload) {
  const button = (form, name) => {
    const made = element("button", { type: "button", class: "quiet", "data-form": form }, name);
    made.addEventListener("click", () => onDownload(`/operator/export?round=${number}&form=${form}`, made));
    return made;
  };
  return [
    ...(questions.length > 0 ? [button("parquet", "Download Parquet"), button("csv", "Download CSV")] : []),
    ...(panel > 0 ? [button("panel", "Download the panel (CSV)")] : []),
  ];
}

function update(parts, round) {
  const { answered, asked, state } = round;
  const line = `${count(answered)} of ${count(asked)} answered, ${share(answered, asked)}.`;
  parts.badge.textContent = STATES[state];
  parts.badge.className = `badge ${state}`;
  fill(parts.line, line, () => element("p", { class: "strong" }, line));
  const end = Math.min(Date.now(), Date.parse(round.closes));
  const list = bars(round.days, Date.parse(round.opens), end);
  parts.chart.redraw = () => {
    const width = Math.max(260, parts.chart.clientWidth);
    const most = Math.max(0, ...round.days.map(([, stored]) => stored));
    const label = `Answers to round ${round.number} by day: ${line} At most ${count(most)} on one day.`;
    fill(parts.chart, [list, label, width], () => dailyChart(list, label, width));
  };
  parts.chart.redraw();
  fill(parts.days, round.days, () => dayTable(round));
  fill(parts.groups, round.groups, () => groupTable(round));
  fill(parts.facts, [round.state, round.cost, round.delete_on], () => roundFacts(round));
}

function dayTable({ number, days, asked }) {
  if (days.length === 0) return element("p", { class: "hint" }, "No answer yet.");
  let total = 0;
  const rows = days.map(([date, stored]) => {
    total += stored;
    return [day(new Date(date)), count(stored), count(total), share(total, asked)];
  });
  const caption = `Answers to round ${number} by day (UTC)`;
  const made = table(caption, ["Day", "Answers", "In all", "Rate"], rows, { class: "numbers" });
  return rows.length > 10 ? scrolling(caption, made) : made;
}

function groupTable({ number, groups }) {
  const reason = ({ words, asked }) => element("span", { class: asked ? null : "not-asked" }, `They ${words}.`);
  const rows = groups.map((group) => [reason(group), count(group.people)]);
  return table(`People of round ${number} by reason`, ["Reason", "People"], rows, { class: "numbers groups" });
}

function roundFacts(round) {
  const price = `ε = ${atMost(round.cost)} (odds × ${oddsFactor(round.cost)})`;
  return facts([
    ["Opened", moment(new Date(round.opens))],
    [round.state === "closed" ? "Planned end" : "Closes", moment(new Date(round.closes))],
    ["Costs each who answers", round.questions.length > 0 ? price : "nothing: what a panel shows is not protected"],
    ["Answers are deleted", round.delete_on === null ? "never, as its manifest says" : moment(new Date(round.delete_on))],
    ["Id", element("code", { class: "id" }, round.id)],
  ]);
}
