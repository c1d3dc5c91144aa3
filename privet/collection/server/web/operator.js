/** The operator's page: asks for the key, reads the summary every few seconds, and can close the study. */

import { cumulative, grouped, responseChart } from "./chart.js";
import { byId, element, facts, scrolling, table } from "./dom.js";
import { oddsFactor, tidy } from "./numbers.js";

const KEY = "privet-operator-key";
const EVERY = 5000;
const state = { summary: null, timer: 0 };

const count = (value) => value.toLocaleString("en");
const moment = (date) => date.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });

async function ask(path, method = "GET") {
  const headers = { Authorization: `Bearer ${sessionStorage.getItem(KEY)}` };
  const options = { method, headers, cache: "no-store", credentials: "omit", signal: AbortSignal.timeout(30_000) };
  const response = await fetch(path, options);
  return { status: response.status, document: await response.json().catch(() => ({})) };
}

function showGate(problem = "") {
  clearTimeout(state.timer);
  byId("gate").hidden = false;
  byId("board").hidden = true;
  byId("leave").hidden = true;
  byId("gate-problem").hidden = problem === "";
  byId("gate-problem").textContent = problem;
  byId("key").setAttribute("aria-invalid", problem === "" ? "false" : "true");
  byId("key").focus();
}

async function refresh() {
  clearTimeout(state.timer);
  try {
    const { status, document: summary } = await ask("/operator/summary");
    if (status === 401) {
      sessionStorage.removeItem(KEY);
      return showGate("This is not the operator's key of this study.");
    }
    if (status !== 200) throw new Error(summary.error ?? `The collector answered with status ${status}.`);
    byId("offline").hidden = true;
    state.summary = summary;
    showSummary();
  } catch (error) {
    const sentence = error instanceof TypeError ? "The collector cannot be reached." : error.message;
    if (state.summary === null) return showGate(sentence);
    byId("offline").textContent = `${sentence} The figures below are those of the last answer.`;
    byId("offline").hidden = false;
  }
  state.timer = setTimeout(refresh, EVERY);
  return undefined;
}

function showSummary() {
  const { summary } = state;
  byId("gate").hidden = true;
  byId("board").hidden = false;
  byId("leave").hidden = false;
  document.title = `${summary.title} – operator`;
  byId("title").textContent = summary.title;
  byId("id").replaceChildren("Study id ", element("code", {}, summary.study));
  const early = Date.now() < Date.parse(summary.opens);
  const phase = summary.closed ? ["Closed", "closed"] : early ? ["Not open yet", "waiting"] : ["Open", "open"];
  byId("phase").textContent = phase[0];
  byId("phase").className = `badge ${phase[1]}`;
  byId("closing").hidden = summary.closed;
  showTiles(summary, early);
  showChart();
  showTimeline(summary);
  showGuarantee(summary);
  showRejected(summary.rejected);
  showModels(summary.models);
}

function showTiles(summary, early) {
  const refused = Object.values(summary.rejected).reduce((sum, value) => sum + value, 0);
  const rate = `${((100 * summary.stored) / summary.nodes).toFixed(1)} %`;
  const limit = new Date(early ? summary.opens : summary.closes);
  const tile = (name, value, note, alarming = false) =>
    element(
      "div",
      { class: alarming ? "tile alarming" : "tile" },
      element("dt", {}, name),
      element("dd", {}, value, element("small", {}, note)),
    );
  byId("tiles").replaceChildren(
    tile("Stored reports", count(summary.stored), `of ${count(summary.nodes)} participants`),
    tile("Response rate", rate, lately(summary.timeline)),
    tile("Refused", count(refused), "requests, see below"),
    tile("Conflicts", count(summary.conflicts), "a second, different report", summary.conflicts > 0),
    tile(summary.closed ? "Closed" : early ? "Opens in" : "Closes in", remaining(limit, summary.closed), moment(limit)),
  );
}

function lately(timeline) {
  const hourAgo = Date.now() / 1000 - 3600;
  const recent = timeline.filter(([minute]) => minute >= hourAgo).reduce((sum, [, stored]) => sum + stored, 0);
  return `${count(recent)} in the last hour`;
}

function remaining(limit, closed) {
  if (closed) return "Yes";
  const minutes = Math.max(0, Math.round((limit.getTime() - Date.now()) / 60_000));
  if (minutes < 90) return `${minutes} min`;
  return minutes < 48 * 60 ? `${Math.round(minutes / 60)} hours` : `${count(Math.round(minutes / 1440))} days`;
}

function showChart() {
  const { summary } = state;
  if (summary === null || byId("board").hidden) return;
  const points = cumulative(summary.timeline, Date.parse(summary.opens) / 1000);
  const now = Math.min(Date.now(), Date.parse(summary.closes)) / 1000;
  const width = Math.max(260, byId("chart").clientWidth);
  byId("chart").replaceChildren(responseChart(points, summary.nodes, now, width));
}

function showTimeline({ timeline, nodes }) {
  const rows = grouped(timeline, 48).map(([from, meanwhile, total]) => {
    return [moment(new Date(from * 1000)), count(meanwhile), count(total), `${((100 * total) / nodes).toFixed(1)} %`];
  });
  const headings = ["From", "Stored", "In all", "Rate"];
  const made = table("Stored reports by time", headings, rows, { class: "numbers" });
  const content = rows.length > 0 ? scrolling("Stored reports by time", made) : element("p", { class: "hint" }, "No report yet.");
  // Polling must not pull the table from under somebody who reads it.
  const key = JSON.stringify(rows);
  if (byId("timeline").dataset.shown !== key) {
    byId("timeline").replaceChildren(content);
    byId("timeline").dataset.shown = key;
  }
}

function showGuarantee({ guarantee, cost }) {
  byId("in-words").textContent = guarantee.in_words;
  const delta = guarantee.delta === 0 ? "0" : guarantee.delta.toExponential(2);
  const pairs = [
    ["Epsilon", `${tidy(guarantee.epsilon)} (odds × ${oddsFactor(guarantee.epsilon)})`],
    ["Delta", delta],
    ["Of a lifetime budget", `ε = ${tidy(cost)} for each participant`],
    ["Unit", guarantee.unit],
    ["Adjacent inputs", guarantee.adjacency],
  ];
  if (guarantee.published_epsilon !== null && guarantee.published_epsilon !== guarantee.epsilon) {
    pairs.push(["Claimed in the paper", `ε = ${tidy(guarantee.published_epsilon)}, which does not hold`]);
  }
  byId("guarantee").replaceChildren(facts(pairs));
  byId("unprotected").replaceChildren(...guarantee.unprotected.map((text) => element("li", {}, text)));
}

function showRejected(rejected) {
  const rows = Object.entries(rejected)
    .sort((a, b) => b[1] - a[1])
    .map(([reason, times]) => [reason, count(times)]);
  const none = element("p", {}, "None so far.");
  const made = table("Refused requests by reason", ["Reason", "Count"], rows, { class: "numbers" });
  byId("rejected").replaceChildren(rows.length > 0 ? made : none);
}

function showModels(models) {
  const names = [...new Set(models.flatMap(({ metrics }) => Object.keys(metrics)))].sort();
  const rows = models.map(({ name, system, trained, metrics }) => [
    name,
    system,
    moment(new Date(trained)),
    ...names.map((metric) => (metric in metrics ? Number(metrics[metric]).toPrecision(3) : "–")),
  ]);
  const none = element("p", { class: "hint" }, "None yet. Train one with ", element("code", {}, "privet train --study …"), ".");
  const headings = ["Model", "System", "Trained", ...names.map((name) => name.replaceAll("_", " "))];
  const made = table("Models trained from this study", headings, rows, { class: "numbers stacked models" });
  byId("models").replaceChildren(rows.length > 0 ? made : none);
}

async function closeStudy() {
  byId("confirm").close();
  try {
    const { status, document: answer } = await ask("/operator/close", "POST");
    const done = status === 200 && answer.closed === true;
    byId("announce").textContent = done ? "The study is closed." : `The study was not closed: ${answer.error ?? status}`;
  } catch {
    byId("announce").textContent = "The study was not closed: the collector cannot be reached.";
  }
  await refresh();
  byId("announce").scrollIntoView({ block: "center" });
}

byId("gate-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const key = byId("key").value.trim();
  if (key === "") return showGate("Enter the key.");
  sessionStorage.setItem(KEY, key);
  byId("key").value = "";
  return refresh();
});
byId("leave").addEventListener("click", () => {
  sessionStorage.removeItem(KEY);
  state.summary = null;
  showGate();
});
byId("close").addEventListener("click", () => {
  const { stored, nodes } = state.summary;
  byId("confirm-words").textContent =
    `${count(stored)} of ${count(nodes)} participants have reported. Nobody else will be able to, and this cannot be undone.`;
  byId("confirm").showModal();
  byId("confirm-keep").focus();
});
byId("confirm-keep").addEventListener("click", () => byId("confirm").close());
byId("confirm-close").addEventListener("click", closeStudy);
new ResizeObserver(showChart).observe(byId("chart"));
if (sessionStorage.getItem(KEY) === null) showGate();
else refresh();
