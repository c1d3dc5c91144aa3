/** The study in plain words: what is sent, what it costs, and what it does not protect. */

import { Laplace, MultiBit, SampledResponse } from "./mechanisms.js";
import { atMost, oddsFactor, percent, tidy } from "./numbers.js";

/** The parts of a report: {name, sent, epsilon}. */
export function parts(study) {
  const features = { name: "Your answers", sent: describeFeatures(study.features), epsilon: study.features.epsilon };
  const list = [features];
  if (study.labels) {
    const { high, total } = study.labels.odds;
    const sent =
      `Your true choice is sent with ${percent(high / total)} probability. Otherwise it is replaced by another one, ` +
      "drawn at random.";
    list.push({ name: "Your class", sent, epsilon: study.labels.epsilon });
  }
  if (study.neighbours) {
    const name = "Each of your connections";
    const twice = study.neighbours.oneSided
      ? " It counts twice: this page cannot check that everybody was given the same numbers, so the people you name " +
        "might be asked to report you, too."
      : "";
    list.push({ name, sent: describeList(study.neighbours) + twice, epsilon: study.neighbours.chargedEpsilon });
  }
  return list;
}

/** One sentence about the whole report. */
export function inOneSentence(study) {
  const about = study.neighbours ? "your answers and any one of your connections" : "your answers, all together,";
  return `Whoever sees your report can multiply their odds about ${about} by at most ${oddsFactor(study.cost)}.`;
}

/**
 * What the promise leaves open: the sentences of Study.guarantee().unprotected in privet/collection/study.py, which the
 * terminal, the privacy statement and the operator's page show, too.
 */
export function unprotected(study) {
  const { features, labels, neighbours, classes } = study;
  const list = ["that the user took part"];
  if (features instanceof SampledResponse) list.push("which features were sampled");
  if (labels === null && classes > 0) {
    list.push("the classes of training and validation nodes, which the operator knows");
  }
  if (neighbours === null) list.push("who is linked with whom, which the operator knows");
  list.push("roughly when the report was sent: the collector keeps the minute of its arrival");
  list.push("what is true of people in general: a model of this study classifies people who did not answer, too");
  if (neighbours !== null) {
    const price = atMost(2 * neighbours.epsilon);
    list.push(`one relationship costs an epsilon of ${price}; k relationships of one person at once cost k times as much`);
  }
  return list.map((text) => `${text[0].toUpperCase()}${text.slice(1)}.`);
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
      `is wrong with ${percent(low / total)} probability; in the middle it is a coin toss.`
    );
  }
  if (mechanism instanceof SampledResponse) {
    const chances = mechanism.weights.map(({ high, total }) => 1 - high / total);
    const least = percent(chances.reduce((a, b) => Math.min(a, b)));
    const most = percent(chances.reduce((a, b) => Math.max(a, b)));
    const range = least === most ? least : `${least} to ${most}`;
    return `${subject} is replaced by another choice, drawn at random, with ${range} probability.`;
  }
  if (mechanism instanceof Laplace) {
    const half = percent((Math.LN2 * mechanism.scale) / mechanism.steps);
    return `Random noise is added. In half of all cases it moves the answer by more than ${half} of its range.`;
  }
  const { high, total } = mechanism.odds;
  const near = (mechanism.window * high) / total;
  return (
    `A value near yours (within ${percent(mechanism.window / mechanism.steps / 2)} of the range) is sent with ` +
    `${percent(near)} probability. Otherwise your answer is replaced by any other value.`
  );
}

function describeList(mechanism) {
  const flip = mechanism.odds.low / mechanism.odds.total;
  const invented = Math.round(flip * (mechanism.nodes - 1));
  const about = mechanism.oneSided ? "every participant with a larger number than yours" : "every other participant";
  return (
    `For ${about} the report says whether you are connected, and each of these statements is false with ` +
    `${percent(flip)} probability. Among all ${mechanism.nodes.toLocaleString("en")} participants that invents about ` +
    `${invented.toLocaleString("en")} connections.`
  );
}
