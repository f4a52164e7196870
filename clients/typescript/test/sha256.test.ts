import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { test } from "node:test";

interface Hash {
  update(piece: Uint8Array): void;
  digest(): string;
}

// By its path, because the package exports only what callers need.
const path = new URL("../dist/sha256.js", import.meta.url).href;
const { Sha256 } = (await import(path)) as { Sha256: new () => Hash };

test("the digest of any pieces is that of Node.js", () => {
  const lengths = [0, 1, 55, 56, 63, 64, 65, 119, 120, 128, 1000, 70_000];
  for (const length of lengths) {
    const content = randomBytes(length);
    for (const piece of [1, 7, 64, 100, length + 1]) {
      const hash = new Sha256();
      for (let start = 0; start < length; start += piece) hash.update(content.subarray(start, start + piece));
      assert.equal(hash.digest(), createHash("sha256").update(content).digest("hex"), `${length}/${piece}`);
    }
  }
});
