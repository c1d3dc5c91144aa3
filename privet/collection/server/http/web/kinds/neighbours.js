/** The list of neighbours, entered as participants' numbers. */

import { element } from "../controls/dom.js";
import { field } from "../controls/fields.js";
import { percent } from "../texts/numbers.js";
import { picker } from "../controls/picker.js";
import { text } from "../texts/texts.js";

const MOST_LISTED = 40;

export const neighbours = {
  name: "neighbours",
  isAsked: (study) => study.neighbours !== null,
  control: listControl,
  cost(study) {
    const { oneSided, chargedEpsilon } = study.neighbours;
    const sent = describe(study.neighbours) + (oneSided ? ` ${text("sent.twice")}` : "");
    return { name: text("neighbours.each"), sent, epsilon: chargedEpsilon };
  },
  answered: (study, raw) => [[text("neighbours.question"), inWords(raw.neighbours, study.names)]],
  sent: (study, report) => [[text("neighbours.question"), inWords(report.neighbours, study.names)]],
  unprotected: () => [],
};

/** People are picked by name where the study binds a list of participants, and entered as numbers elsewhere. */
export function listControl(study, participant) {
  return study.names ? picker(study, participant) : numbers(study, participant);
}

function numbers(study, participant) {
  const last = String(study.nodes - 1);
  const hint = text("neighbours.hint", { last, own: String(participant) });
  const box = element("textarea", { rows: "3", spellcheck: "false", autocomplete: "off", inputmode: "numeric" });
  const question = text("neighbours.question");
  const made = field("neighbours", question, box, hint);
  return {
    node: made.node,
    read(problems) {
      const parts = box.value.split(/[\s,;]+/).filter((part) => part !== "");
      const isOther = (part) => /^\d+$/.test(part) && Number(part) < study.nodes && Number(part) !== participant;
      const entered = parts.find((part) => !isOther(part));
      const sentence = entered === undefined ? null : text("neighbours.unknown", { entered });
      made.complain(sentence);
      if (sentence !== null) problems.push({ id: box.id, question, sentence });
      return [...new Set(parts.map(Number))].sort((a, b) => a - b);
    },
  };
}

/** Some people, by name where there are names. */
export function inWords(ids, names) {
  if (ids.length === 0) return text("neighbours.nobody");
  const few = ids.slice(0, MOST_LISTED).map((id) => names?.[id] ?? id).join(", ");
  return ids.length > MOST_LISTED ? text("neighbours.many", { few, count: ids.length - MOST_LISTED }) : few;
}

function describe({ odds, nodes, oneSided }) {
  const flip = odds.low / odds.total;
  const invented = Math.round(flip * (nodes - 1));
  return text(oneSided ? "sent.list-larger" : "sent.list", { chance: percent(flip), nodes, invented });
}
