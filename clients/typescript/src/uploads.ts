/** Resumable uploads by tus 1.0 (https://tus.io/protocols/resumable-upload). */

import { pathOf } from "./api.js";
import { ApiError, NotFoundError, UploadGone } from "./errors.js";
import type { components } from "./openapi.js";
import { sha256Base64 } from "./sha256.js";
import { ATTEMPTS, isTemporary, type Transport } from "./transport.js";

/** A file or a folder. */
export type Node = components["schemas"]["Node"];

/** Transferred bytes. */
export interface Progress {
  done: number;
  total: number;
}

/** What happens if the name is taken; by default the operation fails. */
export type OnConflict = "fail" | "rename" | "replace";

/** Content that can be read at any place; a `Blob` or a `File` is such content, too. */
export interface Source {
  readonly size: number;
  readonly name?: string;
  /** Milliseconds since the Unix epoch. Without it, an upload is not resumed by another process. */
  readonly lastModified?: number;
  read(start: number, end: number): Promise<Uint8Array<ArrayBuffer>>;
}

/** Keeps the ids of uploads in progress, by a description of their content and destination. */
export interface UploadState {
  load(key: string): string | undefined | Promise<string | undefined>;
  /** Keep the id; without an id, forget it. */
  save(key: string, id: string | undefined): void | Promise<void>;
}

/** Keeps uploads until the page or the process ends. */
export class MemoryUploads implements UploadState {
  readonly #ids = new Map<string, string>();

  load(key: string): string | undefined {
    return this.#ids.get(key);
  }

  save(key: string, id: string | undefined): void {
    if (id === undefined) this.#ids.delete(key);
    else this.#ids.set(key, id);
  }
}

/** Keeps uploads in the browser's `localStorage`, so that they are resumed after a reload. */
export class BrowserUploads implements UploadState {
  readonly #prefix: string;

  constructor(prefix = "strongroom.upload:") {
    this.#prefix = prefix;
  }

  load(key: string): string | undefined {
    return localStorage.getItem(this.#prefix + key) ?? undefined;
  }

  save(key: string, id: string | undefined): void {
    if (id === undefined) localStorage.removeItem(this.#prefix + key);
    else localStorage.setItem(this.#prefix + key, id);
  }
}

export interface UploadOptions {
  /** The folder; by default the top level of the tenant. */
  parentId?: string;
  /** The name of the file; by default that of the source. */
  name?: string;
  onConflict?: OnConflict;
  onProgress?: (progress: Progress) => void;
  /** Where unfinished uploads are kept; by default until this upload ends. */
  state?: UploadState;
  /** Bytes of a request. Each is stored durably and verified by its checksum before the next is sent. */
  chunkSize?: number;
  signal?: AbortSignal;
}

const CHUNK_SIZE = 8 * 1024 * 1024;
const TUS = { "Tus-Resumable": "1.0.0" };

// The offset differs after a lost response, the lock is that of a broken request, and a chunk with a wrong
// checksum was discarded: in all cases the upload continues where the server says.
const RESUMABLE = new Set(["error.offset-conflict", "error.upload-locked", "error.checksum-mismatch"]);

/** An upload of one source. */
export class Upload {
  readonly #transport: Transport;
  readonly #tenantId: string;
  readonly #root: string;
  readonly #source: Source;
  readonly #options: UploadOptions;
  readonly #metadata: Record<string, string>;
  readonly #state: UploadState;

  constructor(
    transport: Transport,
    tenantId: string,
    source: Blob | Source,
    options: UploadOptions,
  ) {
    this.#transport = transport;
    this.#tenantId = tenantId;
    this.#root = pathOf("/api/v1/tenants/{tenantId}", { tenantId });
    this.#source = source instanceof Blob ? new BlobSource(source) : source;
    this.#options = options;
    this.#metadata = metadata(this.#source, options);
    this.#state = options.state ?? new MemoryUploads();
  }

  /** Send the content, from where an earlier attempt has ended, and return the new file. */
  async run(): Promise<Node> {
    let failures = 0;
    let before = -1;
    for (;;) {
      try {
        return await this.#proceed();
      } catch (error) {
        if (this.#isGone(error)) throw new UploadGone("The upload no longer exists.", { cause: error });
        // Progress between two failures makes them independent.
        failures = this.#done > before ? 1 : failures + 1;
        before = this.#done;
        if (failures === ATTEMPTS || !mayResume(error)) throw error;
        await this.#transport.pause(failures, error, this.#options.signal);
      }
    }
  }

  #done = 0;
  #id: string | undefined;

  async #proceed(): Promise<Node> {
    let response = await this.#open();
    for (;;) {
      this.#report(Number(response.headers.get("Upload-Offset")));
      const file = response.headers.get("Content-Location");
      if (file !== null) return await this.#finish(file);
      response = await this.#append();
    }
  }

  /** Find or create the upload. */
  async #open(): Promise<Response> {
    if (this.#id !== undefined) return await this.#request("GET", this.#id);
    const kept = await this.#state.load(this.#key);
    return (kept && (await this.#find(kept))) || (await this.#create());
  }

  async #find(id: string): Promise<Response | undefined> {
    try {
      // GET instead of HEAD, because an error without a body has no code.
      const response = await this.#request("GET", id);
      this.#id = id;
      return response;
    } catch (error) {
      // It has expired, so that the content is sent from its beginning.
      if (error instanceof NotFoundError) return undefined;
      throw error;
    }
  }

  async #create(): Promise<Response> {
    const response = await this.#request("POST", undefined, {
      "Upload-Length": String(this.#source.size),
      "Upload-Metadata": encode(this.#metadata),
    });
    const { id } = (await response.json()) as components["schemas"]["Upload"];
    this.#id = id;
    await this.#state.save(this.#key, id);
    return response;
  }

  /** Send the next chunk. The last one creates the file, and may be empty. */
  async #append(): Promise<Response> {
    const end = Math.min(this.#done + (this.#options.chunkSize ?? CHUNK_SIZE), this.#source.size);
    const chunk = await this.#source.read(this.#done, end);
    const headers = {
      "Content-Type": "application/offset+octet-stream",
      "Upload-Offset": String(this.#done),
      "Upload-Checksum": `sha256 ${await sha256Base64(chunk)}`,
    };
    return await this.#request("PATCH", this.#id, headers, chunk);
  }

  async #finish(location: string): Promise<Node> {
    await this.#state.save(this.#key, undefined);
    const fileId = location.slice(location.lastIndexOf("/") + 1);
    const path = pathOf("/api/v1/tenants/{tenantId}/files/{fileId}", { tenantId: this.#tenantId, fileId });
    return (await (await this.#transport.send(path)).json()) as Node;
  }

  #request(
    method: string,
    id: string | undefined,
    headers: Record<string, string> = {},
    body: Uint8Array<ArrayBuffer> | null = null,
  ): Promise<Response> {
    const tenantId = this.#tenantId;
    const path =
      id === undefined
        ? pathOf("/api/v1/tenants/{tenantId}/uploads", { tenantId })
        : pathOf("/api/v1/tenants/{tenantId}/uploads/{uploadId}", { tenantId, uploadId: id });
    const signal = this.#options.signal ?? null;
    return this.#transport.send(path, { method, headers: { ...TUS, ...headers }, body, signal });
  }

  #report(done: number): void {
    this.#done = done;
    this.#options.onProgress?.({ done, total: this.#source.size });
  }

  #isGone(error: unknown): boolean {
    return this.#id !== undefined && error instanceof NotFoundError;
  }

  /** The description under which the upload is kept; differs for every source without a time. */
  get #key(): string {
    const { size, lastModified } = this.#source;
    const content = lastModified ?? crypto.randomUUID();
    const { filename, parentId, onConflict } = this.#metadata;
    return JSON.stringify([this.#transport.url + this.#root, parentId, filename, onConflict, size, content]);
  }
}

/** A blob as a source. */
class BlobSource implements Source {
  readonly size: number;
  readonly name?: string;
  readonly lastModified?: number;
  readonly #blob: Blob;

  constructor(blob: Blob) {
    this.#blob = blob;
    this.size = blob.size;
    // Node.js 20 knows the class as that of forms, but not as the type of a variable.
    if ("name" in blob) this.name = String(blob.name);
    if ("lastModified" in blob) this.lastModified = Number(blob.lastModified);
  }

  async read(start: number, end: number): Promise<Uint8Array<ArrayBuffer>> {
    return new Uint8Array(await this.#blob.slice(start, end).arrayBuffer());
  }
}

function metadata(source: Source, options: UploadOptions): Record<string, string> {
  const filename = options.name ?? source.name;
  if (filename === undefined) throw new TypeError("The upload needs a name.");
  return {
    filename,
    ...(options.parentId === undefined ? {} : { parentId: options.parentId }),
    ...(options.onConflict === undefined ? {} : { onConflict: options.onConflict }),
  };
}

/** Return the `Upload-Metadata` of some values: their UTF-8 in Base64. */
function encode(values: Record<string, string>): string {
  const utf8 = new TextEncoder();
  const pairs = Object.entries(values).map(
    ([key, value]) => `${key} ${btoa(String.fromCharCode(...utf8.encode(value)))}`,
  );
  return pairs.join(",");
}

function mayResume(error: unknown): boolean {
  return isTemporary(error) || (error instanceof ApiError && RESUMABLE.has(error.code));
}
