/** Imports of users of another system, as JSON lines. */

import type { Api } from "./api.js";
import type { components, paths } from "./openapi.js";
import { linesOf } from "./lines.js";
import { iterate } from "./paging.js";
import { type Call, sleep, type Transport } from "./transport.js";

const PATH = "/user-imports";
const HEADERS = { "Content-Type": "application/x-ndjson" };
const ENDED: ReadonlySet<string> = new Set(["finished", "cancelled", "revoked"]);
const LINES_OF_PIECE = 200;

/** An import: its state and its counts. */
export type UserImport = components["schemas"]["UserImport"];

/** Whether users are changed, what happens to those who exist, and whether each one makes events. */
export type UserImportOptions = NonNullable<paths["/user-imports"]["post"]["parameters"]["query"]>;

/** Users as JSON objects, or the bytes of a file of JSON lines. */
export type UserLines = Iterable<object> | AsyncIterable<object> | ReadableStream<Uint8Array> | Blob;

/** Why a line, counted from 1, was refused. */
export interface LineError {
  line: number;
  code: string;
  field: string | null;
  message: string;
}

export interface WaitOptions {
  /** Called after each question to the server. */
  onProgress?: (current: UserImport) => void;
  /** Milliseconds between them; a second by default. */
  interval?: number;
  signal?: AbortSignal;
}

/** Imports users, for a client that is an administrator's. */
export class UserImports {
  readonly #api: Api;
  readonly #transport: Transport;

  constructor(api: Api, transport: Transport) {
    this.#api = api;
    this.#transport = transport;
  }

  /**
   * Send users, of any number, to the server, which imports them afterwards: {@link wait}.
   *
   * Node.js sends them while they are read. Browsers collect them in a `Blob` first, because they send
   * streams only to servers of HTTP/2, and some not at all.
   */
  async create(users: UserLines, options: UserImportOptions = {}): Promise<UserImport> {
    const query = new URLSearchParams(Object.entries(options).map(([name, value]) => [name, String(value)]));
    const call = { method: "POST", headers: HEADERS, ...(await bodyOf(users)) };
    const response = await this.#transport.send(`${PATH}?${query}`, call);
    return (await response.json()) as UserImport;
  }

  /** Wait for the end of an import, and return it with its counts. */
  async wait(importId: string, { onProgress, interval = 1000, signal }: WaitOptions = {}): Promise<UserImport> {
    for (;;) {
      const current = await this.get(importId);
      onProgress?.(current);
      if (ENDED.has(current.state)) return current;
      await sleep(interval, signal);
    }
  }

  /** Return an import. */
  async get(importId: string): Promise<UserImport> {
    return (await this.#api.GET("/user-imports/{importId}", of(importId))).data;
  }

  /** Yield the imports of the last month, newest first. */
  iterate(): AsyncGenerator<UserImport, void, undefined> {
    return iterate(this.#api, PATH, {});
  }

  /** Yield why lines were refused. */
  async *errors(importId: string): AsyncGenerator<LineError, void, undefined> {
    const response = await this.#transport.send(`${PATH}/${encodeURIComponent(importId)}/errors`);
    for await (const line of linesOf(response)) yield JSON.parse(line) as LineError;
  }

  /** Cancel an import. Users who are imported already stay. */
  async cancel(importId: string): Promise<UserImport> {
    return (await this.#api.DELETE("/user-imports/{importId}", of(importId))).data;
  }
}

function of(importId: string): { params: { path: { importId: string } } } {
  return { params: { path: { importId } } };
}

/** Return the body of a request: a stream where the platform sends one. */
async function bodyOf(users: UserLines): Promise<Pick<Call, "body" | "duplex">> {
  if (users instanceof Blob) return { body: users };
  const stream = users instanceof ReadableStream ? users : encoded(users);
  return sendsStreams() ? { body: stream, duplex: "half" } : { body: await new Response(stream).blob() };
}

function sendsStreams(): boolean {
  return !("document" in globalThis || "WorkerGlobalScope" in globalThis);
}

/** Return users as JSON lines, which are read as fast as they are sent. */
function encoded(users: Iterable<object> | AsyncIterable<object>): ReadableStream<Uint8Array> {
  const pieces = piecesOf(users);
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller): Promise<void> {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel(): Promise<void> {
      await pieces.return();
    },
  });
}

async function* piecesOf(users: Iterable<object> | AsyncIterable<object>): AsyncGenerator<string, void, undefined> {
  let lines: string[] = [];
  for await (const user of users) {
    if (lines.push(`${JSON.stringify(user)}\n`) < LINES_OF_PIECE) continue;
    yield lines.join("");
    lines = [];
  }
  yield lines.join("");
}
