/** The page's own words about the price of studies; runs in node: only catalogues and the document's language are stubs. */
import { readFileSync } from "node:fs";

const [studies, folder] = process.argv.slice(-2);
globalThis.document = { documentElement: {} };
globalThis.fetch = async (url) => ({ ok: true, json: async () => JSON.parse(readFileSync(folder + url.replace("/web", ""))) });
const load = (name) => import(`${folder}/${name}.js`);
const [{ speak }, { readStudy }, { price }, words] = await Promise.all(
  ["texts/texts", "study/study", "device/ledger", "page/words"].map(load),
);
await speak("en", []);

const found = [];
for (const manifests of JSON.parse(readFileSync(studies))) {
  const rounds = await Promise.all(manifests.map(([id, text]) => readStudy(new TextEncoder().encode(text), id)));
  const reports = [];
  const charged = [];
  for (let place = 1; place <= rounds.length; place += 1) {
    const study = { ...rounds[place - 1], rounds: rounds.slice(0, place), node: 3, shows: false };
    const { total, cost } = price(study, 3, { limit: 1e9, reports, refunds: [] });
    reports.push({ study: study.id, chain: rounds[0].id, node: 3, cost, shows: false });
    const priced = { ...study, total, cost };
    const relationship = words.unprotected(priced).filter((sentence) => sentence.startsWith("One relationship"));
    charged.push({ total, cost, words: words.inOneSentence(priced), lines: words.inThreeLines(priced), relationship });
  }
  found.push(charged);
}
console.log(JSON.stringify(found));
