/**
 * sha-256 in plain code. Node's own is many times faster and needs a module whose loading takes milliseconds: for the
 * few hundred bytes that most processes hash, this one is done first.
 */

/** First 32 bits of the fractional part of a root of the n-th prime, 64 of them at most. */
function fractions(count: number, power: number): Int32Array {
  const words = new Int32Array(count);
  const isDivisible = new Uint8Array(312);
  for (let candidate = 2, found = 0; found < count; candidate += 1) {
    if (isDivisible[candidate] === 1) continue;
    for (let multiple = 2 * candidate; multiple < 312; multiple += candidate) isDivisible[multiple] = 1;
    const root = candidate ** power;
    words[found] = ((root - Math.floor(root)) * 2 ** 32) | 0;
    found += 1;
  }
  return words;
}

let constants: { readonly rounds: Int32Array; readonly start: Int32Array } | null = null;

/** Hex sha-256. */
export function plainSha256(bytes: Uint8Array): string {
  constants ??= { rounds: fractions(64, 1 / 3), start: fractions(8, 1 / 2) };
  const padded = new Uint8Array((((bytes.length + 8) >> 6) + 1) << 6);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 4, bytes.length << 3);
  const state = constants.start.slice();
  const schedule = new Int32Array(64);
  for (let at = 0; at < padded.length; at += 64) block(state, view, at, schedule, constants.rounds);
  return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

function block(state: Int32Array, view: DataView, offset: number, w: Int32Array, k: Int32Array): void {
  for (let i = 0; i < 16; i += 1) w[i] = view.getInt32(offset + i * 4);
  for (let i = 16; i < 64; i += 1) {
    const x = w[i - 15] as number;
    const y = w[i - 2] as number;
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    w[i] = (w[i - 16] as number) + s0 + (w[i - 7] as number) + s1;
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
  for (let i = 0; i < 64; i += 1) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + (k[i] as number) + (w[i] as number)) | 0;
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  const sums = [a, b, c, d, e, f, g, h];
  for (let i = 0; i < 8; i += 1) state[i] = (state[i] as number) + (sums[i] as number);
}
