/**
 * What one participant sends, as bytes (little-endian): coordinates int32 x m unless all are reported, symbols x m of
 * the mechanism's own width, the label's symbol, and the reported neighbours as int32 to the end.
 */

/** Perturb the raw answers {features, label, neighbours, node}, each part once: features, label, neighbours. */
export function perturb(study, raw, bits) {
  const { coordinates, symbols } = study.features.perturb(raw.features, bits);
  const label = study.labels ? study.labels.perturb(raw.label, bits) : null;
  const neighbours = study.neighbours ? study.neighbours.perturb(raw.neighbours, raw.node, bits) : null;
  return { coordinates, symbols, label, neighbours };
}

/** The body of a report. */
export function pack(study, report) {
  const parts = [];
  if (report.coordinates !== null) parts.push(integers(report.coordinates, 4));
  parts.push(integers(report.symbols, study.features.symbolBytes));
  if (study.labels) parts.push(integers([report.label], study.labels.symbolBytes));
  if (study.neighbours) parts.push(integers(report.neighbours, 4));
  const body = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    body.set(part, offset);
    offset += part.length;
  }
  return body;
}

/** The report that a body stands for: what {@link pack} was given. */
export function unpack(study, body) {
  const { sampled, dimension, symbolBytes } = study.features;
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  let offset = 0;
  const take = (count, bytes) => {
    const values = Array.from({ length: count }, (_, i) => readInteger(view, offset + i * bytes, bytes));
    offset += count * bytes;
    return values;
  };
  const coordinates = sampled < dimension ? take(sampled, 4) : null;
  const symbols = take(sampled, symbolBytes);
  const label = study.labels ? take(1, study.labels.symbolBytes)[0] : null;
  const neighbours = study.neighbours ? take((body.length - offset) / 4, 4) : null;
  return { coordinates, symbols, label, neighbours };
}

/** The JSON form of a report: one entry for each question, as the collector reads it. */
export function toJson(study, { coordinates, symbols, label, neighbours }) {
  const named = coordinates === null ? { symbols } : { coordinates, symbols };
  const document = { features: study.features.dimension === 1 ? symbols[0] : named };
  if (label !== null) document.label = label;
  if (neighbours !== null) document.neighbours = neighbours;
  return document;
}

export function toHex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function fromHex(text) {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function integers(values, bytes) {
  const view = new DataView(new ArrayBuffer(values.length * bytes));
  values.forEach((value, i) => {
    if (bytes === 8) view.setBigInt64(8 * i, BigInt(value), true);
    else view[`setInt${8 * bytes}`](bytes * i, value, true);
  });
  return new Uint8Array(view.buffer);
}

function readInteger(view, offset, bytes) {
  return bytes === 8 ? Number(view.getBigInt64(offset, true)) : view[`getInt${8 * bytes}`](offset, true);
}
