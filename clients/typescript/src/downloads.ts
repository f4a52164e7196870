/** Downloads that continue after a broken connection, and verify what they have received. */

import { ChecksumMismatch, ConnectionFailed } from "./errors.js";
import { createSha256, type Hash } from "./sha256.js";
import { ATTEMPTS, type Transport } from "./transport.js";
import type { Progress } from "./uploads.js";

/** Where a download is written, which may already hold its beginning. */
export interface Target {
  /** The content that an earlier download has written, in pieces. */
  written(): AsyncIterable<Uint8Array>;
  write(piece: Uint8Array): Promise<void>;
  /** Discard the bytes that were written. */
  reset(): Promise<void>;
  /** The content is whole and verified. */
  finish(): Promise<void>;
  /** The download has failed; it may continue after the bytes that were written. */
  abort(): Promise<void>;
}

export interface DownloadOptions {
  onProgress?: (progress: Progress) => void;
  signal?: AbortSignal;
}

/** The content of a file, or an earlier one. */
export interface Content {
  /** The path of the operation that downloads it. */
  path: string;
  /** In bytes. */
  size: number;
  checksum: string | null;
}

/** A download of one content. */
export class Download {
  readonly #transport: Transport;
  readonly #content: Content;
  readonly #options: DownloadOptions;
  #hash: Hash = createSha256();
  #done = 0;

  constructor(transport: Transport, content: Content, options: DownloadOptions) {
    this.#transport = transport;
    this.#content = content;
    this.#options = options;
  }

  /** Write the content to a target, after what it already holds. */
  async to(target: Target): Promise<void> {
    try {
      for await (const piece of target.written()) this.#count(piece);
      const resumed = this.#done > 0;
      if (this.#done > this.#content.size || !(await this.#fill(target, resumed))) {
        await this.#restart(target);
        await this.#fill(target, false);
      }
      await target.finish();
    } catch (error) {
      await target.abort();
      throw error;
    }
  }

  /** Return the content as a stream, which fails with `ChecksumMismatch` at its end if the content is wrong. */
  stream(): ReadableStream<Uint8Array<ArrayBuffer>> {
    const pieces = this.pieces();
    return new ReadableStream({
      async pull(controller): Promise<void> {
        const { done, value } = await pieces.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel(): Promise<void> {
        await pieces.return();
      },
    });
  }

  /** Yield the rest of the content. The last piece is verified with all before it. */
  async *pieces(): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
    let failures = 0;
    let tag: string | null = null;
    while (this.#done < this.#content.size) {
      const before = this.#done;
      try {
        const response = await this.#open(tag);
        tag ??= response.headers.get("ETag");
        yield* this.#receive(response);
      } catch (error) {
        failures = this.#done > before ? 1 : failures + 1;
        if (failures === ATTEMPTS || !(error instanceof ConnectionFailed)) throw error;
        await this.#transport.pause(failures, error, this.#options.signal);
      }
    }
    this.#verify();
  }

  /** Write the rest; return false if it does not fit what an earlier download has written. */
  async #fill(target: Target, resumed: boolean): Promise<boolean> {
    try {
      for await (const piece of this.pieces()) await target.write(piece);
      return true;
    } catch (error) {
      if (!resumed || !(error instanceof ChecksumMismatch)) throw error;
      return false;
    }
  }

  async #restart(target: Target): Promise<void> {
    await target.reset();
    this.#hash = createSha256();
    this.#done = 0;
  }

  async #open(tag: string | null): Promise<Response> {
    const headers: Record<string, string> = {};
    if (this.#done > 0) headers["Range"] = `bytes=${this.#done}-`;
    if (this.#done > 0 && tag !== null) headers["If-Range"] = tag;
    const signal = this.#options.signal ?? null;
    const response = await this.#transport.send(this.#content.path, { headers, signal });
    // Without 206, the range was ignored, because the content is no longer that of the ETag.
    if (this.#done > 0 && response.status !== 206) {
      await response.body?.cancel();
      throw new ChecksumMismatch("The file was replaced during the download.");
    }
    return response;
  }

  async *#receive(response: Response): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
    const reader = response.body!.getReader();
    try {
      for (;;) {
        const { done, value } = await this.#read(reader);
        if (done) return;
        this.#count(value);
        yield value;
      }
    } finally {
      // Without effect on a stream at its end; otherwise the caller has stopped.
      await reader.cancel().catch(() => undefined);
    }
  }

  async #read(
    reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>,
  ): Promise<ReadableStreamReadResult<Uint8Array<ArrayBuffer>>> {
    try {
      return await reader.read();
    } catch (cause) {
      if (this.#options.signal?.aborted) throw cause;
      throw new ConnectionFailed("The connection broke during the download.", { cause });
    }
  }

  #count(piece: Uint8Array): void {
    this.#hash.update(piece);
    this.#done += piece.length;
    this.#options.onProgress?.({ done: this.#done, total: this.#content.size });
  }

  #verify(): void {
    const digest = `sha256:${this.#hash.digest()}`;
    const { checksum, size } = this.#content;
    if (this.#done !== size || (checksum !== null && digest !== checksum)) {
      throw new ChecksumMismatch(`The content has ${digest} instead of ${checksum}.`);
    }
  }
}
