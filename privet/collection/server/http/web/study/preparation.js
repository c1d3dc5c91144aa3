/**
 * Everything public that this device needs before a round is answered, fetched and checked against the manifest.
 *
 * Nothing that the server sends is believed: public data are what their hashes say, the participant's own row of a
 * table is proved to be in the table that everybody is bound to, and no part of it carries a budget. The same rules as
 * in privet/collection/device/preparation.py.
 */

import { parseArray, parseDirectory } from "./blobs.js";
import { aboutEverything, aboutLists, checkChain, panelShowsFriends } from "./chain.js";
import { isObject } from "./checks.js";
import { countedTwice } from "../answers/functions.js";
import { Refusal } from "./refusal.js";
import { readStudy } from "./study.js";
import { isRow } from "./tree.js";

const LONGEST_PROOF = 64;
const hasKeys = (value, keys) => isObject(value) && String(Object.keys(value).sort()) === String(keys);

/**
 * The round as this participant answers it: the study with the rounds before it (`rounds`), the public arrays of its
 * questions, the directory where lists are asked for, and `shows`, true for a member of the panel.
 *
 * `source` has blob(hex), which gives checked bytes or null, and invitation(id), which gives a document.
 */
export async function prepare(study, node, source) {
  const rounds = [...(await earlierRounds(study, source)), study];
  checkChain(rounds);
  const { panel, people } = study.manifest;
  const hasNames = study.manifest.directory !== null;
  if (panel !== null && (await isListed(panel, node, source))) {
    const names = panelShowsFriends(study) && hasNames ? await directory(study, source) : null;
    return { ...study, node, rounds, names, shows: true };
  }
  const isAsked = people === null || (await isListed(people, node, source));
  if (!isAsked || study.asked.length === 0) throw Refusal.of("not-asked");
  const invited = study.asked.some(({ offers }) => offers !== undefined) ? await source.invitation(study.id) : null;
  const asked = [];
  for (const question of study.asked) asked.push(await attached(question, study, node, source, invited));
  await checkPairs(asked, rounds, node, source);
  const names = aboutLists(asked).length > 0 && hasNames ? await directory(study, source) : null;
  return { ...study, asked, node, rounds, names, shows: false };
}

async function earlierRounds(study, source) {
  const { earlier } = study.manifest;
  const rounds = [];
  for (const id of earlier) rounds.push(await readStudy(await fetched(id, source), id));
  return rounds;
}

async function fetched(hex, source) {
  const bytes = await source.blob(hex);
  if (bytes === null) throw Refusal.of("missing", { hash: hex });
  return bytes;
}

const arrayOf = async (digest, source, type) => parseArray(await fetched(digest.slice("sha256:".length), source), type);

async function isListed(digest, node, source) {
  return (await arrayOf(digest, source)).values.includes(node);
}

async function directory(study, source) {
  return parseDirectory(await fetched(study.manifest.directory, source), study.nodes);
}

/** A question with its public arrays; a person whom it does not ask is told so. */
async function attached(question, study, node, source, invited) {
  if (question.name === "resemblance") {
    const scorer = await arrayOf(question.scorer, source);
    const shape = [study.domains.length + 1, study.classes];
    if (String(scorer.shape) !== String(shape)) throw Refusal.of("table", { question: question.name });
    const offers = await ownOffers(question, study, node, invited);
    if (offers.length < 2) throw Refusal.of("not-asked");
    return { ...question, scorer: scorer.values, offers };
  }
  if (aboutEverything([question]).length > 0) {
    const arrays = await personArrays(question, study, source);
    const offers = await ownOffers(question, study, node, invited);
    if (offers.length < 2) throw Refusal.of("not-asked");
    return { ...question, ...arrays, offers };
  }
  if (question.name === "friends" || question.name === "friends-again") {
    const tables = await friendTables(question, study, source);
    if (tables.ranks[node] === 0) throw Refusal.of("not-asked");
    return { ...question, ...tables };
  }
  return question;
}

/** Scorer, published table, mixing and class shares, as far as the question reads what they are about. */
async function personArrays(question, study, source) {
  const { classes, nodes, domains } = study;
  const [scorer, table, mixing, shares] = await Promise.all(
    ["scorer", "table", "mixing", "shares"].map((name) =>
      question[name] === null ? null : arrayOf(question[name], source, name === "table" ? "|u1" : "<i4"),
    ),
  );
  const has = (array, ...shape) => array === null || String(array.shape) === String(shape);
  const rows = question.reads === "friends" && scorer !== null ? scorer.shape[0] : domains.length + 1;
  const isFilled = scorer === null || scorer.shape[0] > 0;
  const isForm = has(scorer, rows, classes) && has(table, nodes, classes) && has(mixing, classes, classes) && has(shares, classes);
  const isSmall = mixing === null || mixing.values.every((weight) => Math.abs(weight) <= LARGEST_WEIGHT);
  const isShares = shares === null || (shares.values.every((share) => share > 0) && total(shares.values) <= LARGEST_SHARES);
  if (!isFilled || !isForm || !isSmall || !isShares) throw Refusal.of("table", { question: question.name });
  return {
    scorer: scorer === null ? null : scorer.values,
    table: table?.values ?? null,
    mixing: mixing?.values ?? null,
    shares: shares?.values ?? null,
  };
}

const LARGEST_WEIGHT = 2 ** 20;
const LARGEST_SHARES = 2 ** 16;
const total = (values) => values.reduce((sum, value) => sum + value, 0);

async function friendTables(question, study, source) {
  const [table, ranks] = [await arrayOf(question.table, source), await arrayOf(question.ranks, source)];
  const isVector = ({ shape }) => String(shape) === String([study.nodes]);
  const isTable = table.values.every((label) => label >= -1 && label < study.classes);
  if (![table, ranks].every(isVector) || !isTable || ranks.values.some((rank) => rank < 0)) {
    throw Refusal.of("table", { question: question.name });
  }
  return { table: table.values, ranks: ranks.values };
}

/** The classes that this person is offered, if the row that the server sent is the one that everybody is bound to. */
async function ownOffers({ name, offers: root, mechanism }, study, node, invited) {
  const isMine = hasKeys(invited, ["node", "rows", "study"]) && invited.study === study.id && invited.node === node;
  const entry = isMine && isObject(invited.rows) && isObject(invited.rows[name]) ? invited.rows[name].offers : null;
  if (!hasKeys(entry, ["proof", "row", "salt"])) throw Refusal.of("invitation");
  const { row, salt, proof } = entry;
  const isSmall = (cell) => Number.isInteger(cell) && cell >= -(2 ** 15) && cell < 2 ** 15;
  const isForm = Array.isArray(row) && row.every(isSmall) && Array.isArray(proof) && proof.length <= LONGEST_PROOF;
  if (!isForm || !(await isRow(root, study.nodes, node, row, salt, proof))) throw Refusal.of("invitation");
  const offers = row.filter((label) => label >= 0);
  const isFilled = row.every((label, i) => (i < offers.length ? label === offers[i] : label === -1));
  const isAscending = offers.every((label, i) => label < study.classes && (i === 0 || label > offers[i - 1]));
  if (!isFilled || !isAscending || offers.length > mechanism.most) throw Refusal.of("invitation");
  return offers;
}

/** No pair of people may be counted in two rounds of which one is charged. */
async function checkPairs(asked, rounds, node, source) {
  const again = asked.find(({ name }) => name === "friends-again");
  if (again === undefined) return;
  const before = rounds.flatMap((round) => round.asked.map((question) => [question, round]));
  for (const [question, round] of before.filter(([{ name }]) => name === "friends")) {
    if (countedTwice(await friendTables(question, round, source), again) >= 0) throw Refusal.of("pairs");
  }
}
