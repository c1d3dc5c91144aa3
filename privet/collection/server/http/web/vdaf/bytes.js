/** Bytes put together. */

/** One array of the bytes of several, or of numbers from 0 to 255. */
export function joined(...parts) {
  const found = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let place = 0;
  for (const part of parts) {
    found.set(part, place);
    place += part.length;
  }
  return found;
}
