/** SHA-256 of content that arrives in pieces (FIPS 180-4), which the Web Crypto API cannot compute. */

const BLOCK = 64;

/** Computes the digest of a sequence of pieces. */
export interface Hash {
  update(piece: Uint8Array): void;
  /** The digest in hexadecimal digits; called once, at the end. */
  digest(): string;
}

/** Return a new hash: that of Node.js if there is one, because it is faster. */
export function createSha256(): Hash {
  const crypto = globalThis.process?.getBuiltinModule?.("node:crypto");
  if (!crypto) return new Sha256();
  const hash = crypto.createHash("sha256");
  return { update: (piece) => void hash.update(piece), digest: () => hash.digest("hex") };
}

/** Return the digest of some bytes in Base64. */
export async function sha256Base64(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  // Browsers offer Web Crypto to secure contexts only.
  const subtle = globalThis.crypto.subtle as SubtleCrypto | undefined;
  if (subtle) return base64(new Uint8Array(await subtle.digest("SHA-256", bytes)));
  const hash = new Sha256();
  hash.update(bytes);
  return base64(hash.bytes());
}

function base64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}

function isPrime(n: number): boolean {
  for (let divisor = 2; divisor * divisor <= n; divisor++) if (n % divisor === 0) return false;
  return true;
}

/** Return the first 32 bits of the fractional part. */
function fraction(x: number): number {
  return ((x - Math.floor(x)) * 2 ** 32) | 0;
}

const PRIMES: number[] = [];
for (let n = 2; PRIMES.length < BLOCK; n++) if (isPrime(n)) PRIMES.push(n);

// The constants are derived, as the standard defines them: from the roots of the first primes.
const K = Int32Array.from(PRIMES, (prime) => fraction(Math.cbrt(prime)));
const INITIAL = Int32Array.from(PRIMES.slice(0, 8), (prime) => fraction(Math.sqrt(prime)));

/** SHA-256 without the platform's help. */
export class Sha256 implements Hash {
  readonly #state = INITIAL.slice();
  readonly #words = new Int32Array(BLOCK);
  readonly #rest = new Uint8Array(BLOCK);
  #length = 0;

  update(piece: Uint8Array): void {
    let start = 0;
    const held = this.#length % BLOCK;
    this.#length += piece.length;
    if (held > 0) {
      const taken = piece.subarray(0, BLOCK - held);
      this.#rest.set(taken, held);
      if (held + taken.length < BLOCK) return;
      this.#compress(this.#rest, 0);
      start = taken.length;
    }
    for (; start + BLOCK <= piece.length; start += BLOCK) this.#compress(piece, start);
    this.#rest.set(piece.subarray(start));
  }

  digest(): string {
    return Array.from(this.bytes(), (byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  /** The digest as bytes; called once, at the end. */
  bytes(): Uint8Array {
    const length = this.#length;
    // The padding ends with the number of bits, in eight bytes.
    const padding = new Uint8Array(BLOCK - ((length + 8) % BLOCK) + 8);
    const view = new DataView(padding.buffer);
    padding[0] = 0x80;
    view.setUint32(padding.length - 8, Math.floor(length / 2 ** 29));
    view.setUint32(padding.length - 4, (length * 8) >>> 0);
    this.update(padding);
    const digest = new DataView(new ArrayBuffer(32));
    this.#state.forEach((word, index) => digest.setInt32(index * 4, word));
    return new Uint8Array(digest.buffer);
  }

  #compress(block: Uint8Array, start: number): void {
    const w = this.#words;
    const view = new DataView(block.buffer, block.byteOffset + start, BLOCK);
    for (let t = 0; t < 16; t++) w[t] = view.getInt32(t * 4);
    for (let t = 16; t < BLOCK; t++) {
      const x = w[t - 15]!;
      const y = w[t - 2]!;
      const small0 = rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3);
      const small1 = rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10);
      w[t] = w[t - 16]! + small0 + w[t - 7]! + small1;
    }
    this.#round();
  }

  #round(): void {
    const state = this.#state;
    let [a, b, c, d, e, f, g, h] = state as unknown as [
      number, number, number, number, number, number, number, number,
    ];
    for (let t = 0; t < BLOCK; t++) {
      const big1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
      const one = (h + big1 + ((e & f) ^ (~e & g)) + K[t]! + this.#words[t]!) | 0;
      const big0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
      const two = (big0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((word, index) => {
      state[index] = state[index]! + word;
    });
  }
}

function rotate(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}
