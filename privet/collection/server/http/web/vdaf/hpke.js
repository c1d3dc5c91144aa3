/**
 * Sealed messages: HPKE (RFC 9180), base mode, with X25519, HKDF-SHA256 and AES-128-GCM, from the browser's own cryptography.
 * Python opens them with privet.vdaf.hpke.
 */

import { joined } from "./bytes.js";

const ENCODER = new TextEncoder();
const VERSION = ENCODER.encode("HPKE-v1");
const KEM_SUITE = Uint8Array.of(...ENCODER.encode("KEM"), 0, 0x20);
const SUITE = Uint8Array.of(...ENCODER.encode("HPKE"), 0, 0x20, 0, 1, 0, 1);
const NOTHING = new Uint8Array(0);
const HASH = 32; // bytes of SHA-256, and of a key of X25519

async function hmac(key, message) {
  const padded = key.length === 0 ? new Uint8Array(HASH) : key; // the same to HMAC, and browsers refuse an empty key
  const imported = await crypto.subtle.importKey("raw", padded, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", imported, message));
}

function extract(suite, salt, label, secret) {
  return hmac(salt, joined(VERSION, suite, ENCODER.encode(label), secret));
}

/** The first bytes of an expansion, at most as many as the hash has. */
async function expand(suite, secret, label, info, length) {
  const message = joined([0, length], VERSION, suite, ENCODER.encode(label), info, [1]);
  return (await hmac(secret, message)).subarray(0, length);
}

/**
 * A message that only the owner of a key can open: a fresh public key, then the ciphertext.
 * `recipient` is the public key, 32 bytes; `info` is what the message belongs to, and is not sent.
 */
export async function seal(recipient, info, message) {
  if (recipient.length !== HASH) throw new RangeError(`A public key has ${HASH} bytes.`);
  const other = await crypto.subtle.importKey("raw", recipient, { name: "X25519" }, true, []);
  const own = await crypto.subtle.generateKey({ name: "X25519" }, true, ["deriveBits"]);
  const sent = new Uint8Array(await crypto.subtle.exportKey("raw", own.publicKey));
  const bits = await crypto.subtle.deriveBits({ name: "X25519", public: other }, own.privateKey, 8 * HASH);
  const agreed = new Uint8Array(bits);
  if (agreed.every((byte) => byte === 0)) throw new RangeError("The public key is not safe.");

  const raw = await extract(KEM_SUITE, NOTHING, "eae_prk", agreed);
  const shared = await expand(KEM_SUITE, raw, "shared_secret", joined(sent, recipient), HASH);
  const names = [await extract(SUITE, NOTHING, "psk_id_hash", NOTHING), await extract(SUITE, NOTHING, "info_hash", info)];
  const context = joined([0], ...names);
  const secret = await extract(SUITE, shared, "secret", NOTHING);
  const key = await crypto.subtle.importKey("raw", await expand(SUITE, secret, "key", context, 16), "AES-GCM", false, [
    "encrypt",
  ]);
  const iv = await expand(SUITE, secret, "base_nonce", context, 12);
  return joined(sent, new Uint8Array(await crypto.subtle.encrypt({ name: "AES-GCM", iv }, key, message)));
}
