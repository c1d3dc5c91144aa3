/**
 * A hash tree over rows that belong to people: anybody can check the own row, and the salt that everybody is sent keeps
 * a neighbour's row from being guessed from the proof; see privet/release/tree.py.
 */

import { fromHex, toHex } from "./hex.js";

/** True if a row is row `number` of the table of `count` rows whose root a manifest writes as "tree:HEX". */
export async function isRow(root, count, number, row, salt, proof) {
  if (typeof salt !== "string" || !/^[0-9a-f]{32}$/.test(salt)) return false;
  if (!proof.every((sibling) => typeof sibling === "string" && /^[0-9a-f]{64}$/.test(sibling))) return false;
  const siblings = proof.map(fromHex);
  let node = await leaf(number, row, fromHex(salt));
  let [place, width, used] = [number, count, 0];
  while (width > 1) {
    const other = place % 2 === 1 ? place - 1 : place + 1;
    if (other < width) {
      if (used === siblings.length) return false;
      const pair = place % 2 === 1 ? [siblings[used], node] : [node, siblings[used]];
      node = await digest(1, ...pair);
      used += 1;
    }
    [place, width] = [Math.floor(place / 2), Math.ceil(width / 2)];
  }
  return used === siblings.length && `tree:${toHex(node)}` === root;
}

function leaf(number, row, salt) {
  const [place, cells] = [new DataView(new ArrayBuffer(4)), new DataView(new ArrayBuffer(2 * row.length))];
  place.setUint32(0, number, true);
  row.forEach((cell, i) => cells.setInt16(2 * i, cell, true));
  return digest(0, new Uint8Array(place.buffer), salt, new Uint8Array(cells.buffer));
}

async function digest(kind, ...parts) {
  const bytes = Uint8Array.from([kind, ...parts.flatMap((part) => [...part])]);
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}
