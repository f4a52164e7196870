/** What Node.js adds: files, uploads that a new process resumes, a login in a file, and one by the browser. */

import { createHash } from "node:crypto";
import { type FileHandle, mkdir, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Target } from "./downloads.js";
import type { Source, UploadState } from "./uploads.js";

export { FileTokens } from "./file-tokens.js";
export { LoopbackRedirect, type LoopbackOptions } from "./loopback.js";

const PIECE = 1024 * 1024;

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

/** Writes a download to `PATH.part`, which is renamed to the path when it is whole and verified. */
export class FileTarget implements Target {
  readonly path: string;
  readonly #part: string;
  #file: FileHandle | undefined;

  constructor(path: string) {
    this.path = path;
    this.#part = `${path}.part`;
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
    await rename(this.#part, this.path);
  }

  async abort(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }

  async #open(): Promise<FileHandle> {
    this.#file ??= await open(this.#part, "a+", 0o600);
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
    try {
      return await readFile(this.#path(key), "utf8");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    }
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

/** Fill an array from a place of a file, which may take several reads. */
async function readFully(file: FileHandle, bytes: Uint8Array, start: number): Promise<void> {
  for (let filled = 0; filled < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, start + filled);
    if (bytesRead === 0) throw new RangeError("The file became shorter during the upload.");
    filled += bytesRead;
  }
}
