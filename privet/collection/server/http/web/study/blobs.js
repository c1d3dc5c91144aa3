/**
 * Public data as bytes that their own hash names: arrays, and the directory of participants.
 *
 * An array is its type and shape in numpy's words, then its little-endian content: `<i4 (2000,) ` and 8,000 bytes.
 * What is made from people's reports begins with a salt in hexadecimal, so that its hash alone tells nothing of it.
 * Whoever fetches bytes checks their hash first (public.js); see privet/release/blobs.py.
 */

import { Refusal } from "./refusal.js";

const HEADS = {
  "<i4": /^(?:[0-9a-f]{32} )?<i4 \((\d{1,10}),(?: (\d{1,10}))?\) /,
  "|u1": /^(?:[0-9a-f]{32} )?\|u1 \((\d{1,10}),(?: (\d{1,10}))?\) /,
};
const LONGEST_HEAD = 80;

/** The shape and the values of an array of 32-bit integers, or of bytes ("|u1"), in one or two dimensions. */
export function parseArray(bytes, type = "<i4") {
  const head = HEADS[type].exec(String.fromCharCode(...bytes.subarray(0, LONGEST_HEAD)));
  if (head === null) throw Refusal.of("public");
  const shape = head.slice(1).filter((size) => size !== undefined).map(Number);
  const count = shape.reduce((product, size) => product * size, 1);
  const size = type === "|u1" ? 1 : 4;
  if (bytes.length - head[0].length !== size * count) throw Refusal.of("public");
  if (size === 1) return { shape, values: bytes.slice(head[0].length) };
  const view = new DataView(bytes.buffer, bytes.byteOffset + head[0].length);
  return { shape, values: Int32Array.from({ length: count }, (_, i) => view.getInt32(4 * i, true)) };
}

/** The name of each participant, from lines "node,name" in the order of the numbers; all names are different. */
export function parseDirectory(bytes, nodes) {
  let lines;
  try {
    lines = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes).split("\n");
  } catch {
    throw Refusal.of("directory");
  }
  const names = lines.slice(0, -1).map((line, node) => {
    if (!line.startsWith(`${node},`) || line.length === `${node},`.length) throw Refusal.of("directory");
    return line.slice(`${node},`.length);
  });
  const isWhole = lines.at(-1) === "" && names.length === nodes && new Set(names).size === nodes;
  if (!isWhole) throw Refusal.of("directory");
  return names;
}
