// Solves a proof of work (ALTCHA, version 1): in a worker, or in slices on the page.
// It hashes without Web Crypto, which is slower for short texts, and missing without HTTPS.

const SLICE = 256;
const [INITIAL, ROUND] = constants();
const schedule = new Int32Array(64), state = new Int32Array(8);

// The constants of SHA-256 (FIPS 180-4): fractions of the roots of the first primes.
function constants() {
  const primes = [];
  for (let number = 2; primes.length < 64; number += 1) {
    if (primes.every((prime) => number % prime)) primes.push(number);
  }
  const fraction = (root) => ((root % 1) * 2 ** 32) | 0;
  return [
    Int32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime))),
    Int32Array.from(primes, (prime) => fraction(Math.cbrt(prime))),
  ];
}

function compress(view, offset) {
  for (let t = 0; t < 16; t += 1) schedule[t] = view.getInt32(offset + 4 * t);
  for (let t = 16; t < 64; t += 1) {
    const x = schedule[t - 15], y = schedule[t - 2];
    const s0 = (x >>> 7 | x << 25) ^ (x >>> 18 | x << 14) ^ x >>> 3;
    const s1 = (y >>> 17 | y << 15) ^ (y >>> 19 | y << 13) ^ y >>> 10;
    schedule[t] = schedule[t - 16] + s0 + schedule[t - 7] + s1 | 0;
  }
  let a = state[0], b = state[1], c = state[2], d = state[3];
  let e = state[4], f = state[5], g = state[6], h = state[7];
  for (let t = 0; t < 64; t += 1) {
    const s1 = (e >>> 6 | e << 26) ^ (e >>> 11 | e << 21) ^ (e >>> 25 | e << 7);
    const t1 = h + s1 + (e & f ^ ~e & g) + ROUND[t] + schedule[t] | 0;
    const s0 = (a >>> 2 | a << 30) ^ (a >>> 13 | a << 19) ^ (a >>> 22 | a << 10);
    const t2 = s0 + (a & b ^ a & c ^ b & c) | 0;
    h = g; g = f; f = e; e = d + t1 | 0; d = c; c = b; b = a; a = t1 + t2 | 0;
  }
  state[0] += a; state[1] += b; state[2] += c; state[3] += d;
  state[4] += e; state[5] += f; state[6] += g; state[7] += h;
}

// Returns a function that leaves the hash of the salt and a number in `state`.
function hasher(salt) {
  const prefix = new TextEncoder().encode(salt);
  const bytes = new Uint8Array(prefix.length + 128), view = new DataView(bytes.buffer);
  bytes.set(prefix);
  return (number) => {
    const digits = String(number), length = prefix.length + digits.length;
    const end = length + 72 & ~63;
    for (let i = 0; i < digits.length; i += 1) bytes[prefix.length + i] = digits.charCodeAt(i);
    bytes.fill(0, length, end);
    bytes[length] = 0x80;
    view.setUint32(end - 4, length * 8);
    state.set(INITIAL);
    for (let offset = 0; offset < end; offset += 64) compress(view, offset);
  };
}

// Returns the number with the hash; -1 without one. `pause` is called, and awaited, between slices.
export async function solve({challenge, salt, maxnumber}, pause) {
  const target = Int32Array.from({length: 8}, (_, i) => parseInt(challenge.slice(8 * i, 8 * i + 8), 16));
  const hash = hasher(salt);
  for (let number = 0; number <= maxnumber; number += 1) {
    hash(number);
    if (state[0] === target[0] && state.every((word, i) => word === target[i])) return number;
    if (number % SLICE === 0) await pause?.();
  }
  return -1;
}

if (typeof document === "undefined") {
  addEventListener("message", async ({data}) => postMessage(await solve(data)));
}
