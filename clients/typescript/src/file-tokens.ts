/** Keeps the tokens of a login in a file of Node.js, which processes share. */

import { randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename, rm, stat, utimes } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ignoring } from "./file-errors.js";
import type { Tokens, TokenStore } from "./tokens.js";

/** Milliseconds between two looks at the lock of another process. */
const POLL = 50;
/** Milliseconds between two signs of life of the process that holds the lock. */
const BEAT = 2_000;
/** Milliseconds without a sign of life, after which the process counts as killed. */
const STALE = 5 * BEAT;

/**
 * Keeps tokens in a file that only its owner may read. Processes of Node.js may share it.
 *
 * Next to it, `PATH.lock` is the lock, and `PATH.device` has the id of the device, which a logout leaves.
 * `FileTokens` of the Python client locks in another way, so each needs a file of its own.
 */
export class FileTokens implements TokenStore {
  readonly path: string;
  #last: Promise<unknown> = Promise.resolve();

  constructor(path: string) {
    this.path = path;
  }

  async load(): Promise<Tokens | undefined> {
    const text = await read(this.path);
    return text === undefined ? undefined : (JSON.parse(text) as Tokens);
  }

  async save(tokens: Tokens | undefined): Promise<void> {
    if (tokens) await replace(this.path, JSON.stringify(tokens));
    else await rm(this.path, { force: true });
  }

  loadDevice(): Promise<string | undefined> {
    return read(`${this.path}.device`);
  }

  saveDevice(id: string): Promise<void> {
    return replace(`${this.path}.device`, id);
  }

  /** Run an action while neither this process nor another one runs one for the file. */
  lock<T>(action: () => Promise<T>): Promise<T> {
    const next = this.#last.then(() => this.#locked(action));
    this.#last = next.catch(() => undefined);
    return next;
  }

  async #locked<T>(action: () => Promise<T>): Promise<T> {
    const path = `${this.path}.lock`;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    while (!(await create(path))) await evictStale(path);
    const beat = setInterval(() => void utimes(path, new Date(), new Date()).catch(() => undefined), BEAT);
    try {
      return await action();
    } finally {
      clearInterval(beat);
      await rm(path, { force: true });
    }
  }
}

async function read(path: string): Promise<string | undefined> {
  return await ignoring("ENOENT", readFile(path, "utf8"));
}

/** Replace a file for its owner only. A killed process leaves the old or the new content. */
async function replace(path: string, content: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const unfinished = `${path}.${randomUUID()}`;
  const file = await open(unfinished, "wx", 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(unfinished, path);
}

/** Return whether this process has created the lock. */
async function create(path: string): Promise<boolean> {
  const file = await ignoring("EEXIST", open(path, "wx", 0o600));
  await file?.close();
  return file !== undefined;
}

/** Remove the lock of a killed process; wait for any other. */
async function evictStale(path: string): Promise<void> {
  if (!(await isStale(path))) return void (await sleep(POLL));
  // Renamed first: of several processes one evicts it, and none evicts its successor.
  const evicted = `${path}.${randomUUID()}`;
  await ignoring("ENOENT", rename(path, evicted));
  if (await isStale(evicted)) return await rm(evicted, { force: true });
  await ignoring("ENOENT", rename(evicted, path));
}

async function isStale(path: string): Promise<boolean> {
  const status = await ignoring("ENOENT", stat(path));
  return status !== undefined && Date.now() - status.mtimeMs > STALE;
}
