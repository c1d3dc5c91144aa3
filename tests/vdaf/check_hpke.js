/** Seals some messages, and tells which unsafe keys are not refused; Python opens what it returns. Runs in node. */
export async function differences({ recipient, messages, unsafe }, folder) {
  const { seal } = await import(`${folder}/vdaf/hpke.js`);
  const bytes = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  const hexadecimal = (array) => Array.from(array, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const accepted = [];
  for (const key of unsafe) {
    await seal(bytes(key), bytes(""), bytes("00")).then(() => accepted.push(key), () => {});
  }
  const sealed = [];
  for (const [info, message] of messages) sealed.push(hexadecimal(await seal(bytes(recipient), bytes(info), bytes(message))));
  return { sealed, accepted };
}
