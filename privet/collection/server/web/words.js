/** The study in plain words: what is sent, what it costs, and what it does not protect. */

import { Laplace, MultiBit, SampledResponse } from "./mechanisms.js";
import { oddsFactor, percent, tidy } from "./numbers.js";

/** The parts of a report: {name, sent, epsilon}. */
export function parts(study) {
  const features = { name: "Your answers", sent: describeFeatures(study.features), epsilon: study.features.epsilon };
  const list = [features];
  if (study.labels) {
    const { high, total } = study.labels.odds;
    const sent =
      `With chance ${percent(high / total)} your true choice is sent. With chance ${percent(1 - high / total)} it is ` +
      "replaced by another one, drawn at random.";
    list.push({ name: "Your class", sent, epsilon: study.labels.epsilon });
  }
  if (study.neighbours) {
    const name = "Each of your connections";
    list.push({ name, sent: describeList(study.neighbours), epsilon: study.neighbours.relationshipEpsilon });
  }
  return list;
}

/** One sentence about the whole report. */
export function inOneSentence(study) {
  const about = study.neighbours ? "your answers and any one of your connections" : "your answers, all together,";
  return `Whoever sees your report can multiply their odds about ${about} by at most ${oddsFactor(study.cost)}.`;
}

/** What somebody learns all the same. */
export function unprotected(study) {
  const { features, labels, neighbours, classes } = study;
  const list = ["That you took part, and roughly when: the collector keeps the minute in which your report arrived."];
  if (features.sampled < features.dimension) {
    const which = "Which of your answers were drawn to be reported.";
    list.push(`${which} The draw is random and does not depend on what you answered.`);
  }
  if (labels === null && classes > 0) {
    list.push("The classes of the people that the model is trained on: the study takes them as public.");
  }
  if (neighbours === null) {
    list.push("Who is connected with whom: the study takes the connections as public and does not ask for them.");
  } else {
    const once = "It is reported once, by the person with the smaller number.";
    const both = "Both people report it, which is why it counts twice.";
    list.push(
      `Many of your connections at once: each single one is protected at ε = ${tidy(neighbours.relationshipEpsilon)}, ` +
        `k of them together only at k times that. ${neighbours.oneSided ? once : both}`,
    );
  }
  list.push("What is true of people in general. If the study finds a pattern, it may fit you, whether you took part or not.");
  list.push("What you answer elsewhere. Costs add up, and this browser knows only of the studies on this site.");
  return list;
}

/** A raw answer in words. */
export function rawInWords(value, domain) {
  if (domain.kind === "categories") return String(value);
  const clipped = Math.min(Math.max(value, domain.low), domain.high);
  return clipped === value ? String(value) : `${value}, counts as ${clipped}`;
}

/** A reported symbol in words. */
export function symbolInWords(mechanism, symbol, domain) {
  if (mechanism instanceof MultiBit) return symbol > 0 ? "+1, higher" : "−1, lower";
  if (mechanism instanceof SampledResponse) return String(symbol);
  const reading = tidy(mechanism.reading(symbol, domain), 4);
  return `${reading.replace("-", "−")} (symbol\u00a0${String(symbol).replace("-", "−")})`;
}

function describeFeatures(mechanism) {
  const { sampled, dimension } = mechanism;
  const drawn =
    sampled === dimension
      ? ""
      : `${sampled} of your ${dimension} answers ${sampled === 1 ? "is" : "are"} drawn at random; nothing is sent about the others. `;
  return drawn + describeSymbol(mechanism, sampled === 1 ? "It" : "Each");
}

function describeSymbol(mechanism, subject) {
  if (mechanism instanceof MultiBit) {
    const { low, total } = mechanism.odds;
    return (
      `${subject} becomes a single bit, “higher” or “lower”. Even for an answer at the very end of its range the bit ` +
      `points the wrong way with chance ${percent(low / total)}; in the middle it is a coin toss.`
    );
  }
  if (mechanism instanceof SampledResponse) {
    const chances = mechanism.weights.map(({ high, total }) => 1 - high / total);
    const least = percent(chances.reduce((a, b) => Math.min(a, b)));
    const most = percent(chances.reduce((a, b) => Math.max(a, b)));
    const range = least === most ? least : `${least} to ${most}`;
    return `With chance ${range} ${subject === "It" ? "it" : "each"} is replaced by another choice, drawn at random.`;
  }
  if (mechanism instanceof Laplace) {
    const half = percent((Math.LN2 * mechanism.scale) / mechanism.steps);
    return `Random noise is added. In half of all cases it moves the answer by more than ${half} of its range.`;
  }
  const { high, total } = mechanism.odds;
  const near = (mechanism.window * high) / total;
  return (
    `With chance ${percent(near)} a value near yours is sent (within ${percent(mechanism.window / mechanism.steps / 2)} ` +
    `of the range). With chance ${percent(1 - near)} your answer is replaced by any other value.`
  );
}

function describeList(mechanism) {
  const flip = mechanism.odds.low / mechanism.odds.total;
  const invented = Math.round(flip * (mechanism.nodes - 1));
  const about = mechanism.oneSided ? "every participant with a larger number than yours" : "every other participant";
  return (
    `For ${about} the report says whether you are connected, and each of these statements is false with chance ` +
    `${percent(flip)}. Among all ${mechanism.nodes.toLocaleString("en")} participants that invents about ` +
    `${invented.toLocaleString("en")} connections.`
  );
}
