/** Answers by day: bars in inline SVG, drawn for the width that there is. */

import { graphic } from "../controls/dom.js";

const HEIGHT = 190;
const EDGE = { left: 44, right: 8, top: 12, bottom: 30 };
const DAY = 86_400_000;
const FEWEST = 7; // days, so that the first one is no wall
const MOST = 60; // bars

/** [[first day as a date, count], ...] without gaps, from the opening to `until`; several days a bar if there are many. */
export function bars(days, opens, until) {
  const midnight = (moment) => Math.floor(moment / DAY) * DAY;
  const counts = new Map(days.map(([day, count]) => [Date.parse(day), count]));
  const first = Math.min(midnight(opens), ...counts.keys());
  const last = Math.max(midnight(until), first + (FEWEST - 1) * DAY, ...counts.keys());
  const span = Math.ceil(((last - first) / DAY + 1) / MOST) * DAY;
  const found = [];
  for (let from = first; from <= last; from += span) {
    let count = 0;
    for (let day = from; day < from + span; day += DAY) count += counts.get(day) ?? 0;
    found.push([new Date(from), count]);
  }
  return found;
}

/** The chart of such bars; the label says in words what it shows. */
export function dailyChart(list, label, width) {
  const top = ceiling(Math.max(1, ...list.map(([, count]) => count)));
  const slot = (width - EDGE.left - EDGE.right) / list.length;
  const wide = Math.min(0.72 * slot, 44);
  const y = (count) => HEIGHT - EDGE.bottom - (count / top) * (HEIGHT - EDGE.top - EDGE.bottom);
  const middle = (i) => EDGE.left + (i + 0.5) * slot;
  const bar = ([, count], i) => {
    const place = { x: middle(i) - wide / 2, y: y(count), width: wide, height: y(0) - y(count), rx: Math.min(3, wide / 4) };
    return count === 0 ? "" : graphic("rect", { ...place, class: "bar-of-day" });
  };
  const every = Math.ceil(list.length / Math.max(2, Math.floor(width / 90)));
  const below = { y: HEIGHT - 8, "text-anchor": "middle" };
  const name = ([date], i) => (i % every === 0 ? graphic("text", { x: middle(i), ...below }, day(date)) : "");
  return graphic(
    "svg",
    { viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, role: "img", "aria-label": label },
    ...(top === 1 ? [0, 1] : [0, top / 2, top]).flatMap((count) => rule(count, y(count), width)),
    ...list.map(bar),
    ...list.map(name),
  );
}

/** A date without its year; days are those of UTC, as the collector counts them. */
export function day(date) {
  return date.toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" }).replace(" ", "\u00a0");
}

/** The smallest even round number that is not below a count. */
function ceiling(count) {
  if (count <= 1) return 1;
  const unit = 10 ** Math.floor(Math.log10(count));
  return [0.2, 0.4, 1, 2, 4, 6, 8, 10].map((times) => times * unit).find((top) => top >= count && Number.isInteger(top / 2));
}

function rule(count, y, width) {
  return [
    graphic("line", { x1: EDGE.left, x2: width - EDGE.right, y1: y, y2: y, class: "grid" }),
    graphic("text", { x: EDGE.left - 8, y: y + 4.5, "text-anchor": "end" }, count.toLocaleString("en")),
  ];
}
