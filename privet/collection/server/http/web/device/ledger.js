/**
 * The browser's memory: every report that was ever made here, and what they cost together.
 *
 * A report is stored with its cost before it is sent anywhere, and only one is ever made for a study and a participant:
 * a crash, a reload or a second tab finds the same bytes. Raw answers are never stored.
 */

import { checkInstead, jointCost } from "../study/chain.js";
import { fromHex, toHex } from "../study/hex.js";
import { atMost, exact, roundedUp, sumUp, tidy } from "../texts/numbers.js";
import { Refusal } from "../study/refusal.js";
import { checkWithdrawn } from "./withdrawal.js";

const KEY = "privet-ledger-1";
export const DEFAULT_LIMIT = 4;

/** The owner's limit, and the reports, oldest first. */
export function readLedger() {
  let text;
  try {
    text = localStorage.getItem(KEY);
  } catch {
    throw noMemory();
  }
  if (text === null) return { limit: DEFAULT_LIMIT, reports: [], refunds: [] };
  try {
    const ledger = JSON.parse(text);
    const isAmount = (value) => Number.isFinite(value) && value >= 0;
    const isWhole = [ledger.reports, ledger.refunds].every(
      (list) => Array.isArray(list) && list.every(({ cost }) => isAmount(cost)),
    );
    if (isAmount(ledger.limit) && isWhole) return ledger;
  } catch {
    // falls through to the refusal
  }
  const explanation =
    "What this browser remembers of your earlier reports cannot be read, so the page cannot tell what you have spent. " +
    "It makes no report rather than a second one.";
  throw new Refusal("Your privacy ledger is damaged", explanation);
}

/** The sum of what all reports cost, sent or not. */
export function spent(ledger) {
  return ledger.reports.reduce((sum, { cost }) => sum + cost, 0);
}

/** The rest of a limit after some costs, without the noise of floating point. */
export function remainder(limit, ...costs) {
  const left = costs.reduce((rest, cost) => rest - cost, limit);
  return Math.max(0, Math.round(left * 1e9) / 1e9);
}

/** True if another cost would exceed the owner's limit, by exact arithmetic. */
export function exceeds(ledger, cost) {
  const all = [...ledger.reports.map((report) => report.cost), cost];
  return all.map(exact).reduce((sum, value) => sum + value, 0n) > exact(ledger.limit);
}

/** The owner's limit on everything that this browser ever gives away on this site. */
export function setLimit(limit) {
  return alone(() => write({ ...readLedger(), limit }));
}

/** The report that was made for a participant of a study, or null. */
export function findReport(study, node) {
  const found = readLedger().reports.find((report) => report.study === study.id);
  if (found === undefined) return null;
  if (found.node !== node) throw otherNode(found.node, node);
  return { ...found, body: fromHex(found.body) };
}

/**
 * What answering a prepared round costs this owner: `total` is the price of all answers to the study's rounds together,
 * and `cost` what is left of it after what was charged for earlier ones. A member of the panel pays nothing, because
 * nothing is protected.
 */
export function price(study, node, ledger = readLedger()) {
  const before = ledger.reports.filter((report) => chainOf(report) === study.rounds[0].id && report.study !== study.id);
  const isRound = ({ study: id }) => study.rounds.some((round) => round.id === id);
  if (!before.every(isRound)) throw Refusal.of("branch");
  const other = before.find((report) => report.node !== node);
  if (other !== undefined) throw otherNode(other.node, node);
  if (study.shows) return { total: 0, cost: 0 };
  const answered = before.filter(({ shows }) => !shows).map(({ study: id }) => study.rounds.find((round) => round.id === id));
  const questions = answered.flatMap((round) => round.asked);
  checkInstead(questions, study.asked);
  const total = jointCost([...questions, ...study.asked]);
  return { total, cost: rest(total, before.map(({ cost }) => cost)) };
}

/** Everything that was ever shown as it is, oldest first: no budget counts it. */
export function disclosures(ledger) {
  return ledger.reports.filter(({ shows }) => shows === true);
}

/** The stored report, or a new one of `make()`, which is stored with its cost before anyone else sees it. */
export function reserve(study, node, make) {
  return alone(() => {
    const known = findReport(study, node);
    if (known !== null) return known;
    checkWithdrawn(study);
    const ledger = readLedger();
    const { cost } = price(study, node, ledger);
    if (exceeds(ledger, cost)) throw overLimit(ledger, cost);
    const entry = { study: study.id, chain: study.rounds[0].id, node, title: study.manifest.title, cost };
    const times = { made: new Date().toISOString(), tried: null, sent: null };
    const report = { ...entry, shows: study.shows, body: toHex(make()), ...times };
    write({ ...ledger, reports: [...ledger.reports, report] });
    navigator.storage?.persist?.().catch(() => {}); // a browser short of space should not forget what was spent
    return findReport(study, node);
  });
}

/** Remember that the report leaves this device now; from here on nothing is refunded. */
export function markTried(study, node) {
  return alone(() => {
    const ledger = readLedger();
    const tried = new Date().toISOString();
    const isThis = (report) => report.study === study.id && report.node === node && report.tried === null;
    write({ ...ledger, reports: ledger.reports.map((report) => (isThis(report) ? { ...report, tried } : report)) });
    return findReport(study, node);
  });
}

/** Destroy a report that never left this device, give its cost back and keep the reason; null if it may have left. */
export function refund(study, node, reason) {
  return alone(() => {
    const ledger = readLedger();
    const found = ledger.reports.find((report) => report.study === study.id && report.node === node);
    if (found === undefined || found.tried !== null) return null;
    const others = ledger.reports.filter((report) => report !== found);
    // Answers to other rounds were charged less because of this one: they take over its cost.
    const heir = others.findLast((report) => chainOf(report) === chainOf(found) && !report.shows);
    const reports = others.map((report) => (report === heir ? { ...report, cost: sumUp([report.cost, found.cost]) } : report));
    const cost = heir === undefined ? found.cost : 0;
    const entry = { study: study.id, title: found.title, cost, reason, at: new Date().toISOString() };
    write({ ...ledger, reports, refunds: [...ledger.refunds, entry] });
    return entry;
  });
}

/** Remember that the collector has the report. */
export function acknowledge(study, node) {
  return alone(() => {
    const ledger = readLedger();
    const sent = new Date().toISOString();
    const isThis = (report) => report.study === study.id && report.node === node && report.sent === null;
    write({ ...ledger, reports: ledger.reports.map((report) => (isThis(report) ? { ...report, sent } : report)) });
    return findReport(study, node);
  });
}

/** The refusal of a study that costs too much. */
export function overLimit(ledger, cost) {
  const left = remainder(ledger.limit, spent(ledger));
  const text =
    `Taking part costs ${atMost(cost)}, and ${tidy(left)} is left of your own limit of ${tidy(ledger.limit)}. ` +
    "No report is made. You can raise the limit under “Your privacy budget” if you want to.";
  return new Refusal("This study would exceed your limit", text);
}

/** The first round of the study that a report answers. */
const chainOf = ({ chain, study }) => chain ?? study;

/** The rest of a price after what was charged, rounded up; never below 0. */
function rest(whole, charged) {
  return roundedUp(charged.map(exact).reduce((sum, value) => sum - value, exact(whole)));
}

function otherNode(before, now) {
  const text =
    `This browser answered the study as number ${before}, and your link is for number ${now}. One person answers a study ` +
    "once; a second person needs a browser, or a browser profile, of their own.";
  return new Refusal("This browser answered the study as somebody else", text);
}

function write(ledger) {
  const text = JSON.stringify(ledger);
  try {
    localStorage.setItem(KEY, text);
  } catch {
    throw noMemory();
  }
  if (localStorage.getItem(KEY) !== text) throw noMemory();
}

function noMemory() {
  const text =
    "The browser does not let this page remember anything (private browsing or a full disk?). Without a memory the page " +
    "could make a second report by mistake, which would cost you privacy, so it makes none.";
  return new Refusal("This browser cannot remember your report", text);
}

/** One tab at a time: two tabs must not make two reports. */
function alone(work) {
  return navigator.locks.request(KEY, async () => work());
}
