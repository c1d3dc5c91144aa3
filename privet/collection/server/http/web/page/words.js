/** The study in plain words: what it costs, and what it does not protect. */

import { aboutEverything, aboutLists, announcedCost, panelShowsFriends, publishesClasses, relationshipCost } from "../study/chain.js";
import { kindsOf } from "../kinds/index.js";
import { atMost, certainty, oddsFactor, percents } from "../texts/numbers.js";
import { listed, text } from "../texts/texts.js";

const WEAK = 3; // figures that look harmless need a plain word where they are not

/** The three lines that everybody reads: [heading, sentence]. */
export function inThreeLines(study) {
  if (study.shows) return ["leaves", "cost"].map((key) => [text(`summary.${key}`), text(`panel.${key}`)]);
  const [odds, sure] = [oddsFactor(study.total), percents(certainty(study.total))];
  const verdict = (study.total > WEAK ? ` ${text("summary.weak")}` : "") + rounds(study);
  const open = gaps(study).map(([key]) => key).filter((key) => ["took-part", "classes", "links", "when"].includes(key));
  return [
    [text("summary.leaves"), text("summary.leaves-text")],
    [text("summary.cost"), text("summary.cost-text", { odds, sure, half: percents(50) }) + verdict],
    [text("summary.open"), text("summary.open-text", { list: listed(open.map((key) => text(`summary.open.${key}`))) })],
  ];
}

/** Sentences about what this round adds to the price of earlier ones, and what later ones would add, where there are any. */
function rounds(study) {
  const added = study.total === study.cost ? "" : ` ${text("summary.rounds", { cost: atMost(study.cost) })}`;
  const all = announcedCost(study.rounds);
  return all === null ? added : `${added} ${text("summary.announced", { cost: atMost(all), odds: oddsFactor(all) })}`;
}

/** One sentence about the whole report. */
export function inOneSentence(study) {
  if (study.shows) return text("panel.warning");
  return text(promised(study), { odds: oddsFactor(study.total) }) + rounds(study);
}

/** The sentence that names what the promise is about. */
function promised({ asked, rounds }) {
  const [lists, whole] = [aboutLists(asked), aboutEverything(asked)];
  if (lists.length === 0) return "cost.sentence";
  // Of single friends nothing bounds how many are counted: beside them, in whichever round, no whole list is promised.
  const all = rounds.flatMap((round) => round.asked);
  if (aboutLists(all).length > aboutLists(aboutEverything(all)).length) return "cost.sentence-connections";
  const isList = whole.every(({ reads }) => reads === "friends") && asked.length === whole.length;
  return isList ? "cost.sentence-list" : "cost.sentence-person";
}

/**
 * What the promise leaves open: the sentences of Study.guarantee().unprotected in privet/collection/study/manifest.py, which the
 * terminal, the privacy statement and the operator's page show, too.
 */
export function unprotected(study) {
  return gaps(study).map(([key, values]) => text(`unprotected.${key}`, values));
}

function gaps(study) {
  const own = kindsOf(study).flatMap((kind) => kind.unprotected(study)).map((gap) => [gap].flat());
  const { schema, plan, panel, inputs, directory, earlier } = study.manifest;
  const plans = (...names) => study.planned.some(({ name }) => names.includes(name));
  const lists = aboutLists(study.asked);
  const knowsClasses = study.classes > 0 && !plans("label");
  const isPublished = plan !== null && publishesClasses(study.planned) && inputs.labels === null;
  const inRounds = earlier.length > 0 || study.planned.length > study.asked.length;
  const isOpen = [
    [panel !== null, "shown"],
    [panel !== null && panelShowsFriends(study), "shown-friends"],
    [directory !== null, "listed"],
    [isPublished, "published"],
    [schema.private_edges, "named"],
    [inRounds, "who"],
    [knowsClasses, "classes"],
    [!schema.private_edges, "links"],
  ];
  return [
    ["took-part"],
    ...own,
    ...isOpen.filter(([holds]) => holds).map(([, key]) => [key]),
    ["when"],
    ["general"],
    ...(lists.length > 0 && !study.shows ? [["relationship", { price: atMost(relationshipCost(study.asked)) }]] : []),
  ];
}
