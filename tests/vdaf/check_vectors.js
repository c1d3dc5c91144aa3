/** Shards every report of some vectors of Prio3; returns a sentence for each that differs. Runs in Chromium and in node. */
export async function differences(vectors, folder) {
  const { Prio3 } = await import(`${folder}/vdaf/prio3.js`);
  const bytes = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  const hexadecimal = (array) => Array.from(array, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const found = [];
  for (const { name, ctx, reports, ...parameters } of vectors) {
    for (const [number, told] of reports.entries()) {
      const which = `report ${number} of ${name} ${JSON.stringify(parameters)}`;
      try {
        const made = new Prio3(name, parameters).shard(bytes(ctx), told.measurement, bytes(told.nonce), bytes(told.rand));
        if (hexadecimal(made.publicShare) !== told.public_share) found.push(`${which}: the public share differs`);
        made.inputShares.forEach((share, server) => {
          if (hexadecimal(share) !== told.input_shares[server]) found.push(`${which}: share ${server} differs`);
        });
      } catch (error) {
        found.push(`${which}: ${error.stack}`);
      }
    }
  }
  return found;
}
