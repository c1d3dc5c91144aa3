/** The part of the operator's page about the whole study: tiles, price, refusals, erasures and models. */

import { byId, element, facts, table } from "../controls/dom.js";
import { atMost, oddsFactor, tidy } from "../texts/numbers.js";
import { day } from "./chart.js";
import { count, fill, moment, share } from "./filling.js";
import { STATES } from "./rounds.js";

/** Show everything but the rounds. */
export function showStudy(summary) {
  const newest = summary.rounds.at(-1);
  document.title = `${summary.title} – operator`;
  byId("title").textContent = summary.title;
  fill(byId("id"), summary.study, () => ["Study id ", element("code", {}, summary.study)]);
  const phase = STATES[newest.state];
  byId("phase").textContent = summary.rounds.length > 1 ? `Round ${newest.number}: ${phase}` : phase;
  byId("phase").className = `badge ${newest.state}`;
  fill(byId("tiles"), [summary.rounds, summary.erasures, remaining(newest)], () => tiles(summary, newest));
  fill(byId("budget"), summary.guarantee, () => price(summary));
  fill(byId("rejected"), summary.rejected, () => rejected(summary.rejected));
  fill(byId("erasures"), [summary.erased, summary.deleted], () => erasures(summary));
  fill(byId("models"), summary.models, () => models(summary.models));
}

function tiles(summary, newest) {
  const refused = Object.values(summary.rejected).reduce((sum, value) => sum + value, 0);
  const today = new Date().toISOString().slice(0, 10);
  const lately = newest.days.find(([date]) => date === today)?.[1] ?? 0;
  const tile = (name, value, note, alarming = false) =>
    element(
      "div",
      { class: alarming ? "tile alarming" : "tile" },
      element("dt", {}, name),
      element("dd", {}, value, element("small", {}, note)),
    );
  const heading = summary.rounds.length > 1 ? `Answers to round ${newest.number}` : "Answers";
  const [name, left, limit] = remaining(newest);
  return [
    tile(heading, count(newest.answered), `of ${count(newest.asked)} people who are asked`),
    tile("Response rate", share(newest.answered, newest.asked), `${count(lately)} today`),
    tile("Refused", count(refused), "requests, see below"),
    tile("Conflicts", count(summary.conflicts), "a second, different report", summary.conflicts > 0),
    tile("Erased", count(summary.erasures), "people, see below"),
    tile(name, left, limit),
  ];
}

function remaining({ state, opens, closes }) {
  const limit = new Date(state === "waiting" ? opens : closes);
  const minutes = Math.max(0, Math.round((limit.getTime() - Date.now()) / 60_000));
  const hours = minutes < 48 * 60 ? `${Math.round(minutes / 60)} hours` : `${count(Math.round(minutes / 1440))} days`;
  if (state === "closed") return ["Closed", "Yes", "no answers are taken"];
  return [state === "waiting" ? "Opens in" : "Closes in", minutes < 90 ? `${minutes} min` : hours, moment(limit)];
}

function price({ guarantee, cost, rounds }) {
  const pairs = [
    ["Epsilon", `${atMost(guarantee.epsilon)} (odds × ${oddsFactor(guarantee.epsilon)})`],
    ["Delta", guarantee.delta === 0 ? "0" : guarantee.delta.toExponential(2)],
    ["Of a lifetime budget", `ε = ${atMost(cost)} for each who answers${rounds.length > 1 ? " all rounds" : ""}`],
    ["Unit", guarantee.unit],
    ["Adjacent inputs", guarantee.adjacency],
  ];
  if (guarantee.published_epsilon !== null && guarantee.published_epsilon !== guarantee.epsilon) {
    pairs.push(["Claimed in the paper", `ε = ${tidy(guarantee.published_epsilon)}, which does not hold`]);
  }
  return [
    element("p", { class: "strong" }, guarantee.in_words),
    facts(pairs),
    element("h3", {}, "Not protected"),
    element("ul", {}, ...guarantee.unprotected.map((text) => element("li", {}, text))),
  ];
}

function rejected(reasons) {
  const rows = Object.entries(reasons)
    .sort((a, b) => b[1] - a[1])
    .map(([reason, times]) => [reason, count(times)]);
  if (rows.length === 0) return element("p", {}, "None so far.");
  return table("Refused requests by reason", ["Reason", "Count"], rows, { class: "numbers" });
}

function erasures({ erased, erasures: number, deleted }) {
  const { participant = 0, operator = 0 } = erased.by;
  const whose = `${count(number)} ${number === 1 ? "person" : "people"}`;
  const by = `${count(participant)} withdrew, ${count(operator)} by the operator`;
  const words = number === 0 ? "Nobody's reports were erased." : `The reports of ${whose} were erased: ${by}.`;
  const rows = erased.days.map(([date, people]) => [day(new Date(date)), count(people)]);
  const gone = deleted === null ? "" : `${count(deleted.reports)} reports were deleted when their retention ended.`;
  return [
    element("p", {}, words),
    rows.length > 0 ? table("Erasures by day (UTC)", ["Day", "People"], rows, { class: "numbers" }) : "",
    gone === "" ? "" : element("p", {}, gone),
  ].filter((part) => part !== "");
}

function models(list) {
  if (list.length === 0) {
    const command = element("code", {}, "privet train --study STUDY");
    return element("p", { class: "hint" }, "None yet. Train one with ", command, ".");
  }
  const names = [...new Set(list.flatMap(({ metrics }) => Object.keys(metrics)))].sort();
  const erased = (since) => `${count(since)} ${since === 1 ? "erasure" : "erasures"}`;
  const stale = (since) => (since === 0 ? "none since" : `trained before ${erased(since)}`);
  const rows = list.map(({ name, system, trained, metrics, erasures_since: since }) => [
    name,
    system,
    moment(new Date(trained)),
    element("span", { class: since === 0 ? null : "stale" }, stale(since)),
    ...names.map((metric) => (metric in metrics ? Number(metrics[metric]).toPrecision(3) : "–")),
  ]);
  const headings = ["Model", "System", "Trained", "Erasures", ...names.map((name) => name.replaceAll("_", " "))];
  return table("Models trained from this study", headings, rows, { class: "numbers stacked models" });
}
