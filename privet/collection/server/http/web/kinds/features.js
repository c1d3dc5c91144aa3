/** The features: one control each, or a box for hundreds. */

import { element } from "../controls/dom.js";
import { allowed, categoryName, field, numberInput, questionOf, readAnswer } from "../controls/fields.js";
import { pasted } from "../controls/many.js";
import { conditional, isOwn, openChoice, openNumber, ownInWords, severalField } from "../controls/own_answers.js";
import { Laplace, MultiBit, SampledResponse } from "../mechanisms/mechanisms.js";
import { MixedResponse } from "../mechanisms/mixed_response.js";
import { isForeign, readNumber } from "../texts/entered.js";
import { percent, tidy } from "../texts/numbers.js";
import { counted, text } from "../texts/texts.js";

const MOST_CONTROLS = 40;
const MOST_OPTIONS = 60;
const MOST_NAMED = 4;
const MOST_ROWS = 500;

export const features = {
  name: "features",
  isAsked: (study) => study.features !== null,
  control: featureControl,
  cost: (study) => ({ name: names(study), sent: describe(study.features), epsilon: study.features.epsilon }),
  answered: answeredFeatures,
  sent,
  unprotected: ({ features: { constructor: kind } }) => ([SampledResponse, MixedResponse].includes(kind) ? ["sampled"] : []),
};

/** The form's part; `peek()` gives the answers without a word about what is wrong, null as long as something is. */
export function featureControl(study) {
  const isLong = study.domains.length > MOST_CONTROLS && !study.domains.some(isOwn);
  return isLong ? pasted(study) : fields(study);
}

function names(study) {
  const count = study.domains.length;
  const shown = count > MOST_NAMED + 1 ? MOST_NAMED : count;
  const items = Array.from({ length: shown }, (_, i) => element("li", {}, questionOf(study, i)));
  if (shown < count) items.push(element("li", {}, counted("more", count - shown)));
  return element("ul", { class: "names" }, ...items);
}

function fields(study) {
  const made = study.domains.map((domain, i) => {
    const each = one(study, domain, i);
    return { entry: () => readAnswer(each.control.value, domain), ...each };
  });
  const { entries, refresh } = conditional(made, study.domains);
  const node = element("div", { class: "fields" }, ...made.map((each) => each.node));
  for (const kind of ["input", "change"]) node.addEventListener(kind, refresh);
  refresh();
  return {
    node,
    peek() {
      const entered = entries();
      return entered.some(({ problem }) => problem !== null) ? null : entered.map(({ value }) => value);
    },
    read: (problems) =>
      entries().map(({ value, problem }, i) => {
        const { control, complain } = made[i];
        const sentence = problem !== null && isShort(study.domains[i]) ? instruction(study.domains[i]) : problem;
        complain(sentence);
        if (sentence !== null) problems.push({ id: control.id, question: questionOf(study, i), sentence });
        return value;
      }),
  };
}

const isShort = (domain) => domain.kind === "categories" && domain.count <= MOST_OPTIONS;
const instruction = (domain) => (isShort(domain) ? text("answer.choose-of", { count: domain.count }) : allowed(domain));

function one(study, domain, i) {
  const [id, question] = [`feature-${i}`, questionOf(study, i)];
  if (domain.kind === "several") return severalField(id, question, domain);
  if (isShort(domain)) {
    const codes = Array.from({ length: domain.count }, (_, code) => code);
    const options = codes.map((code) => element("option", { value: code, lang: "" }, categoryName(domain, code)));
    const control = element("select", {}, element("option", { value: "" }, text("answer.choose")), ...options);
    const listed = field(id, question, openChoice(control, domain), instruction(domain));
    const chosen = () => (listed.control.value === "" ? Number.NaN : Number(listed.control.value));
    const entry = () => ({ value: chosen(), problem: Number.isNaN(chosen()) ? allowed(domain) : null });
    return isOwn(domain) ? { ...listed, entry } : listed;
  }
  const made = field(id, question, numberInput(domain), allowed(domain));
  made.control.addEventListener("input", () => noteReading(made, domain, study.shows));
  return isOwn(domain) ? openNumber(made, domain, readAnswer) : made;
}

/**
 * How a number was read, if that is not plain, is said while it is entered (later, the page would move under the pointer).
 * So is that a value outside its range counts as the nearest end, which is no error where the answer is randomised.
 */
function noteReading({ control, node }, domain, shows) {
  const { value, readings } = readNumber(control.value);
  const end = value < domain.low ? domain.low : domain.high;
  const outside = domain.kind === "interval" && !shows && (value < domain.low || value > domain.high);
  const notes = [];
  if (readings !== undefined) notes.push(readAnswer(control.value, domain).problem);
  else if (value !== undefined && isForeign(control.value)) notes.push(text("answer.read-as", { value: tidy(value, 15) }));
  if (outside) notes.push(text("answer.clipped", { end: tidy(end) }));
  const hint = node.querySelector(".hint");
  hint.textContent = notes.length > 0 ? notes.join(" ") : allowed(domain);
  hint.classList.toggle("notable", notes.length > 0);
}

/** Each question with its answer. */
export function answeredFeatures(study, raw) {
  const features = [...study.domains.keys()];
  return shortened(features, (feature) => rawInWords(raw.features[feature], study.domains[feature]), study);
}

function sent(study, report) {
  const chosen = report.coordinates ?? [...study.domains.keys()];
  const inWords = (feature, place) => symbolInWords(study.features, report.symbols[place], study.domains[feature], feature);
  const silent = study.domains.length - chosen.length;
  const others = silent > 0 ? [[counted("check.silent", silent), text("check.nothing")]] : [];
  return [...shortened(chosen, inWords, study), ...others];
}

function shortened(features, inWords, study) {
  const made = features.slice(0, MOST_ROWS).map((feature, place) => [questionOf(study, feature), inWords(feature, place)]);
  if (features.length > MOST_ROWS) made.push([counted("more", features.length - MOST_ROWS), "…"]);
  return made;
}

/** A raw answer in words. */
export function rawInWords(value, domain) {
  const own = ownInWords(value, domain);
  if (own !== null) return own;
  if (domain.kind === "several") return chosenInWords(value, domain);
  if (domain.kind === "categories") return categoryName(domain, value);
  const clipped = Math.min(Math.max(value, domain.low), domain.high);
  const answer = tidy(value, 15);
  return clipped === value ? answer : text("check.clipped", { answer, end: tidy(clipped) });
}

function chosenInWords(sum, domain) {
  const codes = Array.from({ length: domain.count }, (_, code) => code).filter((code) => (sum >> code) & 1);
  return codes.length === 0 ? text("answer.none-chosen") : codes.map((code) => categoryName(domain, code)).join(", ");
}

/** What one symbol of a mixed questionnaire says. */
function mixedInWords(mechanism, symbol, domain, feature) {
  const [option, level] = mechanism.decode(symbol, feature);
  const beyond = level - (mechanism.levels[feature] - domain.extras);
  if (beyond >= 0) return ownInWords(domain.high + 1 + beyond, domain);
  if (domain.kind === "interval") return text(level === 1 ? "check.higher" : "check.lower");
  if (domain.kind === "categories") return categoryName(domain, level);
  return text(level === 1 ? "check.chosen" : "check.not-chosen", { choice: categoryName(domain, option) });
}

function symbolInWords(mechanism, symbol, domain, feature) {
  if (mechanism instanceof MixedResponse) return mixedInWords(mechanism, symbol, domain, feature);
  if (mechanism instanceof MultiBit) return text(symbol > 0 ? "check.higher" : "check.lower");
  if (mechanism instanceof SampledResponse) return categoryName(domain, symbol);
  const minus = (written) => written.replace("-", "−");
  const reading = minus(tidy(mechanism.reading(symbol, domain), 4));
  return text("check.symbol", { reading, symbol: minus(String(symbol)) });
}

function describe(mechanism) {
  const { sampled, dimension } = mechanism;
  const drawn = sampled === dimension ? "" : `${counted("sent.drawn", sampled, { all: dimension })} `;
  return drawn + describeSymbol(mechanism);
}

function describeSymbol(mechanism) {
  if (mechanism instanceof MultiBit) {
    const { low, total } = mechanism.odds;
    return text("sent.bit", { wrong: percent(low / total) });
  }
  if (mechanism instanceof SampledResponse || mechanism instanceof MixedResponse) {
    const chances = mechanism.weights.map(({ high, total }) => 1 - high / total);
    const least = percent(chances.reduce((a, b) => Math.min(a, b)));
    const most = percent(chances.reduce((a, b) => Math.max(a, b)));
    if (mechanism instanceof MixedResponse) return text("sent.mixed", { least, most });
    return least === most ? text("sent.category", { chance: least }) : text("sent.categories", { least, most });
  }
  if (mechanism instanceof Laplace) {
    return text("sent.noise", { half: percent((Math.LN2 * mechanism.scale) / mechanism.steps) });
  }
  const { high, total } = mechanism.odds;
  const within = percent(mechanism.window / mechanism.steps / 2);
  return text("sent.near", { within, chance: percent((mechanism.window * high) / total) });
}
