/** Draws every vector's symbols and returns one sentence for each that differs; runs in Chromium and in node. */
export async function differences(vectors, folder) {
  const { Counts, OfferedResponse, SubsetResponse } = await import(`${folder}/mechanisms/mechanisms.js`);
  const { ReplayedBits } = await import(`${folder}/mechanisms/bits.js`);
  const make = {
    counts: (parameters) => new Counts(parameters, parameters.classes),
    "offered-response": (parameters) => new OfferedResponse(parameters),
    "subset-response": (parameters) => new SubsetResponse(parameters),
  };
  const found = [];
  for (const [number, { mechanism, value, words, used, symbols }] of vectors.entries()) {
    const bits = new ReplayedBits(words);
    const which = `vector ${number} (${JSON.stringify(mechanism)}, ${value})`;
    try {
      const made = make[mechanism.mechanism](mechanism);
      const drawn = [made.perturb(value, bits)].flat();
      if (JSON.stringify(drawn) !== JSON.stringify(symbols)) found.push(`${which}: ${drawn} instead of ${symbols}`);
      if (bits.used !== used) found.push(`${which}: used ${bits.used} words instead of ${used}`);
      const [, options] = made.decode?.(drawn[0]) ?? [0, value[1]];
      const size = mechanism.sizes?.[options - 2] ?? 1;
      if ((made.held?.(drawn[0]) ?? [0]).length !== size) found.push(`${which}: the symbol does not hold ${size}`);
      if (options !== value[1]) found.push(`${which}: the symbol tells ${options} options`);
    } catch (error) {
      found.push(`${which}: ${error.message}`);
    }
  }
  return found;
}
