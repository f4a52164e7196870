/** What Node.js adds: files, uploads that a new process resumes, a login in a file, and one by the browser. */

import { createHash } from "node:crypto";
import { type FileHandle, lstat, mkdir, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import type { Target } from "./downloads.js";
import { ignoring } from "./file-errors.js";
import type { Source, UploadState } from "./uploads.js";

export { FileTokens } from "./file-tokens.js";
export { LoopbackRedirect, type LoopbackOptions } from "./loopback.js";

const PIECE = 1024 * 1024;
const MAX_NAME_BYTES = 255;

/** A file to upload. */
export class FileSource implements Source {
  private constructor(
    readonly path: string,
    readonly name: string,
    readonly size: number,
    readonly lastModified: number,
  ) {}

  /** Describe a file; it is opened only while it is read. */
  static async of(path: string): Promise<FileSource> {
    const { size, mtimeMs } = await stat(path);
    return new FileSource(path, basename(path), size, mtimeMs);
  }

  async read(start: number, end: number): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new Uint8Array(end - start);
    const file = await open(this.path);
    try {
      await readFully(file, bytes, start);
    } finally {
      await file.close();
    }
    return bytes;
  }
}

/** Writes a download to a part in the same folder, which is renamed to the path when it is whole and verified. */
export class FileTarget implements Target {
  readonly path: string;
  /** The path of the part. Its name is short, however long the name of the file is. */
  readonly part: string;
  #file: FileHandle | undefined;

  constructor(path: string) {
    this.path = path;
    const name = createHash("sha256").update(basename(path)).digest("hex").slice(0, 16);
    this.part = join(dirname(path), `.${name}.part`);
  }

  /**
   * Return the target of a file in a local folder. A name that is too long is shortened; its extension stays.
   *
   * Throws a `TypeError` for a name that leads out of the folder.
   */
  static in(folder: string, name: string): FileTarget {
    if (!isSafe(name)) throw new TypeError(`${JSON.stringify(name)} is no name of a file.`);
    return new FileTarget(join(folder, fittingName(name)));
  }

  async *written(): AsyncGenerator<Uint8Array> {
    const file = await this.#open();
    for (;;) {
      const { bytesRead, buffer } = await file.read(new Uint8Array(PIECE), 0, PIECE, null);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  }

  async write(piece: Uint8Array): Promise<void> {
    await (await this.#open()).appendFile(piece);
  }

  async reset(): Promise<void> {
    await (await this.#open()).truncate(0);
  }

  async finish(): Promise<void> {
    // Durable before it has its name: a file with that name is always whole.
    await (await this.#open()).sync();
    await this.abort();
    await rename(this.part, this.path);
  }

  async abort(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }

  async #open(): Promise<FileHandle> {
    if (this.#file) return this.#file;
    // Before the content is downloaded: a name that the file system refuses is an error.
    await ignoring("ENOENT", lstat(this.path));
    this.#file = await open(this.part, "a+", 0o600);
    return this.#file;
  }
}

/** Keeps uploads in files of a folder, so that a new process resumes them. */
export class FolderUploads implements UploadState {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async load(key: string): Promise<string | undefined> {
    return await ignoring("ENOENT", readFile(this.#path(key), "utf8"));
  }

  async save(key: string, id: string | undefined): Promise<void> {
    const path = this.#path(key);
    if (id === undefined) return await rm(path, { force: true });
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    // By renaming: a killed process leaves the whole id or none.
    await writeFile(`${path}.new`, id, { mode: 0o600 });
    await rename(`${path}.new`, path);
  }

  #path(key: string): string {
    return join(this.#folder, createHash("sha256").update(key).digest("hex"));
  }
}

/** Return a name shortened at a character to what a file system takes; its extension stays. */
function fittingName(name: string): string {
  const utf8 = new TextEncoder();
  const dot = name.lastIndexOf(".");
  const last = dot > 0 ? name.slice(dot) : "";
  const extension = utf8.encode(last).length > MAX_NAME_BYTES / 2 ? "" : last;
  const room = new Uint8Array(MAX_NAME_BYTES - utf8.encode(extension).length);
  const stem = name.slice(0, name.length - extension.length);
  return stem.slice(0, utf8.encodeInto(stem, room).read) + extension;
}

/** Return whether a name is a local one; a server could abuse it to write outside of the folder. */
function isSafe(name: string): boolean {
  return !["", ".", ".."].includes(name) && !["/", "\0", sep].some((character) => name.includes(character));
}

/** Fill an array from a place of a file, which may take several reads. */
async function readFully(file: FileHandle, bytes: Uint8Array, start: number): Promise<void> {
  for (let filled = 0; filled < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, start + filled);
    if (bytesRead === 0) throw new RangeError("The file became shorter during the upload.");
    filled += bytesRead;
  }
}
