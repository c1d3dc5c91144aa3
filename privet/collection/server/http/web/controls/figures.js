/** Small figures in inline SVG; each has a text beside it that says the same. */

import { graphic } from "./dom.js";
import { percents, tidy } from "../texts/numbers.js";
import { text } from "../texts/texts.js";

/** Two bars: how sure somebody is before (50 %) and at most afterwards. */
export function guessBars(sure) {
  const bar = (y, name, value, kind) => [
    graphic("text", { x: 0, y: y + 14, class: "name" }, name),
    graphic("rect", { x: 66, y, width: 150, height: 20, rx: 5, class: "track" }),
    graphic("rect", { x: 66, y, width: 1.5 * value, height: 20, rx: 5, class: kind }),
    graphic("text", { x: 224, y: y + 14.5, class: "value" }, percents(value)),
  ];
  const label = text("figure.guess", { half: percents(50), sure: percents(sure) });
  return graphic(
    "svg",
    { viewBox: "0 0 276 54", role: "img", "aria-label": label, class: "guess-figure" },
    ...bar(2, text("figure.before"), 50, "before"),
    ...bar(30, text("figure.after"), sure, "after"),
  );
}

/** Spent, this study and what is left of the limit, as one bar. */
export function budgetBar(spent, planned, limit) {
  const whole = Math.max(limit, spent + planned, Number.MIN_VALUE);
  const width = (value) => (600 * value) / whole;
  const end = width(limit);
  const over = spent + planned > limit;
  const label = text("figure.budget", { spent: tidy(spent, 3), planned: tidy(planned, 3), limit: tidy(limit) });
  const clip = "budget-clip";
  return graphic(
    "svg",
    { viewBox: "0 0 600 22", role: "img", "aria-label": label, class: "budget-figure", preserveAspectRatio: "none" },
    graphic("clipPath", { id: clip }, graphic("rect", { x: 0, y: 3, width: 600, height: 16, rx: 8 })),
    graphic(
      "g",
      { "clip-path": `url(#${clip})` },
      graphic("rect", { x: 0, y: 3, width: 600, height: 16, class: "track" }),
      graphic("rect", { x: 0, y: 3, width: width(spent), height: 16, class: "before" }),
      graphic("rect", { x: width(spent), y: 3, width: width(planned), height: 16, class: over ? "over" : "after" }),
    ),
    over ? graphic("line", { x1: end, x2: end, y1: 0, y2: 22, class: "limit" }) : "",
  );
}
