/** Makes every vector's report and returns one sentence for each that differs; runs in Chromium and in node. */
export async function differences(vectors, folder) {
  const { pack, perturb, toHex, toJson, unpack } = await import(`${folder}/answers/answers.js`);
  const { readStudy } = await import(`${folder}/study/study.js`);
  const { ReplayedBits } = await import(`${folder}/mechanisms/bits.js`);
  const found = [];
  for (const [number, { manifest, id, raw, words, used, body, json }] of vectors.entries()) {
    const study = await readStudy(new TextEncoder().encode(manifest), id);
    const bits = new ReplayedBits(words);
    let made;
    try {
      made = pack(study, perturb(study, raw, bits));
    } catch (error) {
      found.push(`vector ${number}: ${error.message}`);
      continue;
    }
    if (toHex(made) !== body) found.push(`vector ${number}: ${toHex(made)} instead of ${body}`);
    if (bits.used !== used) found.push(`vector ${number}: used ${bits.used} words instead of ${used}`);
    const again = toHex(pack(study, unpack(study, made)));
    if (again !== body) found.push(`vector ${number}: does not unpack`);
    const plain = JSON.stringify(toJson(study, unpack(study, made)));
    if (plain !== json) found.push(`vector ${number}: ${plain} instead of ${json}`);
  }
  return found;
}
