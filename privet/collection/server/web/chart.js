/** The response rate over time: a step line in inline SVG, drawn for the width that there is. */

import { graphic } from "./dom.js";

const HEIGHT = 260;
const EDGE = { left: 52, right: 18, top: 18, bottom: 34 };
const SPANS = [60, 300, 900, 1800, 3600, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800, 1_209_600, 2_592_000, 7_776_000];

/** [[second, stored so far], ...] of a timeline of [minute, count], beginning with none. */
export function cumulative(timeline, opens) {
  const sorted = [...timeline].sort((a, b) => a[0] - b[0]);
  const first = sorted.length > 0 ? Math.min(opens, sorted[0][0]) : opens;
  const points = [[first, 0]];
  for (const [minute, count] of sorted) points.push([minute + 60, points.at(-1)[1] + count]);
  return points;
}

/** At most `most` rows of [from, stored meanwhile, stored so far], in equal spans of time. */
export function grouped(timeline, most) {
  if (timeline.length === 0) return [];
  const sorted = [...timeline].sort((a, b) => a[0] - b[0]);
  const range = sorted.at(-1)[0] + 60 - sorted[0][0];
  const span = SPANS.find((seconds) => range / seconds < most) ?? SPANS.at(-1);
  const rows = [];
  let total = 0;
  for (const [minute, count] of sorted) {
    const from = Math.floor(minute / span) * span;
    total += count;
    if (rows.at(-1)?.[0] === from) {
      rows.at(-1)[1] += count;
      rows.at(-1)[2] = total;
    } else {
      rows.push([from, count, total]);
    }
  }
  return rows;
}

/** The chart of cumulative points up to `now`, as a share of `nodes`. */
export function responseChart(points, nodes, now, width) {
  const begin = points[0][0];
  const end = Math.max(now, points.at(-1)[0], begin + 60);
  const most = topShare(points.at(-1)[1] / nodes);
  const x = (second) => EDGE.left + ((second - begin) / (end - begin)) * (width - EDGE.left - EDGE.right);
  const y = (count) => HEIGHT - EDGE.bottom - (count / nodes / most) * (HEIGHT - EDGE.top - EDGE.bottom);
  const last = points.at(-1)[1];
  const steps = points.slice(1).map(([second, count]) => `H${x(second).toFixed(1)}V${y(count).toFixed(1)}`);
  const line = `M${x(begin).toFixed(1)} ${y(0)}${steps.join("")}H${x(end).toFixed(1)}`;
  const share = `${(100 * last) / nodes < 10 ? ((100 * last) / nodes).toFixed(1) : Math.round((100 * last) / nodes)} %`;
  const label = `${last.toLocaleString("en")} of ${nodes.toLocaleString("en")} participants have reported, ${share}.`;
  return graphic(
    "svg",
    { viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, role: "img", "aria-label": label },
    ...[0, 0.25, 0.5, 0.75, 1].flatMap((part) => rule(part * most, y(part * most * nodes), width)),
    ...timeMarks(begin, end, x, width),
    graphic("path", { d: `${line}V${y(0)}Z`, class: "area" }),
    graphic("path", { d: line, class: "line" }),
    graphic("circle", { cx: x(end), cy: y(last), r: 4.5, class: "end" }),
  );
}

function topShare(share) {
  return [0.01, 0.02, 0.04, 0.1, 0.2, 0.4, 0.6, 0.8].find((top) => share <= 0.95 * top) ?? 1;
}

function rule(share, y, width) {
  const text = `${Number((100 * share).toFixed(2))} %`;
  return [
    graphic("line", { x1: EDGE.left, x2: width - EDGE.right, y1: y, y2: y, class: "grid" }),
    graphic("text", { x: EDGE.left - 10, y: y + 4.5, "text-anchor": "end" }, text),
  ];
}

function timeMarks(begin, end, x, width) {
  const wanted = Math.max(2, Math.floor((width - EDGE.left - EDGE.right) / 125));
  const span = SPANS.find((seconds) => (end - begin) / seconds <= wanted) ?? SPANS.at(-1);
  const daily = span >= 86_400;
  const shift = daily ? 60 * new Date(begin * 1000).getTimezoneOffset() : 0;
  const marks = [];
  let day = "";
  for (let at = Math.ceil((begin - shift) / span) * span + shift; at <= end; at += span) {
    const date = new Date(at * 1000);
    const today = date.toLocaleString("en-GB", { day: "numeric", month: "short" });
    const time = date.toLocaleString("en-GB", { hour: "2-digit", minute: "2-digit" });
    const text = daily ? today : today === day ? time : `${today}, ${time}`;
    day = today;
    const place = x(at);
    const anchor = place > width - EDGE.right - 40 ? "end" : place < EDGE.left + 30 ? "start" : "middle";
    marks.push(graphic("text", { x: place, y: HEIGHT - 10, "text-anchor": anchor }, text));
  }
  return marks;
}
