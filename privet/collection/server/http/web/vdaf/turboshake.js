/** TurboSHAKE128 (RFC 9861): a stream of bytes from a message. Lanes of 64 bits are pairs of 32-bit integers. */

const RATE = 168; // bytes of a block
const LANES = 25;
const WALK = [10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1];
const TURNS = [1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44];
const CONSTANTS = [
  [0x00000000, 0x8000808b], [0x80000000, 0x0000008b], [0x80000000, 0x00008089], [0x80000000, 0x00008003],
  [0x80000000, 0x00008002], [0x80000000, 0x00000080], [0x00000000, 0x0000800a], [0x80000000, 0x8000000a],
  [0x80000000, 0x80008081], [0x80000000, 0x00008080], [0x00000000, 0x80000001], [0x80000000, 0x80008008],
];

/** The last twelve rounds of Keccak's permutation, on a state whose lane i is the words 2 i (low) and 2 i + 1 (high). */
function permute(state) {
  const column = new Int32Array(10);
  for (const [high, low] of CONSTANTS) {
    for (let x = 0; x < 10; x++) {
      column[x] = state[x] ^ state[x + 10] ^ state[x + 20] ^ state[x + 30] ^ state[x + 40];
    }
    for (let x = 0; x < 5; x++) {
      const [before, after] = [2 * ((x + 4) % 5), 2 * ((x + 1) % 5)];
      const lowMix = column[before] ^ ((column[after] << 1) | (column[after + 1] >>> 31));
      const highMix = column[before + 1] ^ ((column[after + 1] << 1) | (column[after] >>> 31));
      for (let lane = 2 * x; lane < 2 * LANES; lane += 10) {
        state[lane] ^= lowMix;
        state[lane + 1] ^= highMix;
      }
    }
    let [movedLow, movedHigh] = [state[2], state[3]];
    for (let step = 0; step < WALK.length; step++) {
      const lane = 2 * WALK[step];
      const turn = TURNS[step] % 32;
      const [a, b] = TURNS[step] < 32 ? [movedLow, movedHigh] : [movedHigh, movedLow];
      [movedLow, movedHigh] = [state[lane], state[lane + 1]];
      state[lane] = turn === 0 ? a : (a << turn) | (b >>> (32 - turn));
      state[lane + 1] = turn === 0 ? b : (b << turn) | (a >>> (32 - turn));
    }
    for (let row = 0; row < 2 * LANES; row += 10) {
      const kept = state.slice(row, row + 10);
      for (let x = 0; x < 10; x++) state[row + x] = kept[x] ^ (~kept[(x + 2) % 10] & kept[(x + 4) % 10]);
    }
    state[0] ^= low;
    state[1] ^= high;
  }
}

/** The stream of one message. */
export class TurboShake128 {
  constructor(message, domain) {
    this.state = new Int32Array(2 * LANES);
    this.bytes = new Uint8Array(this.state.buffer); // little-endian, as every browser's machine is
    let place = 0;
    for (const byte of message) {
      this.bytes[place++] ^= byte;
      if (place === RATE) {
        permute(this.state);
        place = 0;
      }
    }
    this.bytes[place] ^= domain;
    this.bytes[RATE - 1] ^= 0x80;
    this.place = RATE;
  }

  /** The next bytes. */
  read(count) {
    const found = new Uint8Array(count);
    for (let done = 0; done < count; ) {
      if (this.place === RATE) {
        permute(this.state);
        this.place = 0;
      }
      const part = Math.min(count - done, RATE - this.place);
      found.set(this.bytes.subarray(this.place, this.place + part), done);
      this.place += part;
      done += part;
    }
    return found;
  }
}
