/** Finds what round_vectors.json says, and returns one sentence for each difference; runs in Chromium and in node. */
export async function differences(vectors, folder) {
  const load = (name) => import(`${folder}/${name}.js`);
  const [answers, blobs, chain, functions, openAnswers, tree] = await Promise.all(
    ["answers/answers", "study/blobs", "study/chain", "answers/functions", "answers/open_answers", "study/tree"].map(load),
  );
  const [{ prepare }, { readStudy }, { ReplayedBits }, { Refusal }, { fromHex, sha256, toHex }] = await Promise.all(
    ["study/preparation", "study/study", "mechanisms/bits", "study/refusal", "study/hex"].map(load),
  );
  const found = [];
  const same = (what, made, expected) => {
    const [one, other] = [made, expected].map((value) => JSON.stringify(value));
    if (one !== other) found.push(`${what}: ${one} instead of ${other}`);
  };
  const refusalOf = (work) => {
    try {
      work();
      return "";
    } catch (error) {
      return error.headline;
    }
  };
  const study = (id, manifest) => readStudy(new TextEncoder().encode(manifest), id);
  const server = ({ id, public: data, rows, raw, node, changes }) => ({
    async blob(hex) {
      if (!Object.hasOwn(data, hex)) return null;
      const bytes = fromHex(data[hex]);
      if ((await sha256(bytes)) !== hex) throw Refusal.of("public");
      return bytes;
    },
    invitation: async () => ({ study: id, node: raw?.node ?? node, rows, ...changes }),
  });

  for (const [i, { count, root, proofs }] of vectors.trees.entries()) {
    for (const { number, row, salt, proof } of proofs) {
      const name = `tree ${i}, row ${number}`;
      const isRow = (some, salted, siblings) => tree.isRow(root, count, number, some, salted, siblings);
      same(name, await isRow(row, salt, proof), true);
      same(`${name}, changed`, await isRow([row[0] + 1, ...row.slice(1)], salt, proof), false);
      same(`${name}, another salt`, await isRow(row, "0".repeat(32), proof), false);
      same(`${name}, longer`, await isRow(row, salt, [...proof, root.slice(5)]), false);
      if (proof.length > 0) same(`${name}, shorter`, await isRow(row, salt, proof.slice(1)), false);
    }
  }
  for (const [i, { bytes, digest, shape, values }] of vectors.arrays.entries()) {
    const read = blobs.parseArray(fromHex(bytes));
    for (const odd of [`${bytes}00`, bytes.slice(0, -2), bytes.slice(2)]) {
      same(`array ${i}, ${odd.length / 2} bytes`, refusalOf(() => blobs.parseArray(fromHex(odd))), "refusal.public.headline");
    }
    same(`array ${i}`, [`sha256:${await sha256(fromHex(bytes))}`, read.shape, [...read.values]], [digest, shape, values]);
  }
  for (const [i, { features, classes, scores, position, ...question }] of vectors.scores.entries()) {
    const made = scores.map((_, c) => functions.scoreOf(features, question.scorer, classes, c, question.unitLength));
    same(`scores ${i}`, made, scores);
    same(`position ${i}`, functions.resembles(features, question, classes), position);
  }
  for (const [i, { node, friends: list, counts, classes, cap, ...tables }] of vectors.counts.entries()) {
    same(`counts ${i}`, functions.friendCounts(node, list, tables, classes, cap), counts);
  }
  for (const [i, { shares, weights, logs }] of vectors.logs.entries()) {
    same(`logs ${i}`, functions.logShares(weights, shares), logs);
  }
  for (const [i, { features, friends: list, classes, position, ...question }] of vectors.pointed.entries()) {
    same(`pointed ${i}`, functions.pointsTo(features, list, question, classes), position);
  }
  for (const [i, { id, manifest, body, features, label, neighbours }] of vectors.shown.entries()) {
    const shown = { features, label, ...(neighbours === undefined ? {} : { neighbours }) };
    const made = openAnswers.packShown(await study(id, manifest), shown);
    same(`shown ${i}`, toHex(made), body);
    same(`shown ${i}, read`, openAnswers.unpackShown(await study(id, manifest), made), shown);
  }
  for (const [i, vector] of vectors.reports.entries()) {
    const { id, public: data, raw, words, used, body, shows, json } = vector;
    const bits = new ReplayedBits(words);
    try {
      const ready = await prepare(await readStudy(fromHex(data[id]), id), raw.node, server(vector));
      const made = answers.pack(ready, answers.perturb(ready, raw, bits));
      same(`report ${i}`, [ready.shows, toHex(made), bits.used], [shows, body, used]);
      same(`report ${i}, read`, toHex(answers.pack(ready, answers.unpack(ready, made))), body);
      same(`report ${i}, plain`, answers.toJson(ready, answers.unpack(ready, made)), json);
    } catch (error) {
      found.push(`report ${i}: ${error.stack}`);
    }
  }
  for (const [i, { rounds, cost }] of vectors.prices.entries()) {
    const read = await Promise.all(rounds.map(([id, manifest]) => study(id, manifest)));
    chain.checkChain(read);
    same(`price ${i}`, chain.jointCost(read.flatMap(({ asked }) => asked)), cost);
  }
  for (const [i, vector] of vectors.refusals.entries()) {
    const { id, node, key } = vector;
    const data = { ...vectors.served, ...vector.replaced };
    const outcome = await readStudy(fromHex(data[id]), id)
      .then((read) => prepare(read, node, server({ ...vector, public: data })))
      .then(() => "", (error) => (error instanceof Refusal ? error.headline : error.stack));
    same(`refusal ${i}`, outcome, key === "" ? "" : `refusal.${key}.headline`);
  }
  for (const [i, { id, manifest }] of vectors.unreadable.entries()) {
    const outcome = await study(id, manifest).then(() => "", (error) => error.headline);
    same(`unreadable ${i}`, outcome, "This study cannot be answered here");
  }
  return found;
}
