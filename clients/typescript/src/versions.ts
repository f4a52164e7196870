/** Earlier contents of files. */

import { type Api, pathOf } from "./api.js";
import { type Content, Download, type DownloadOptions, type Target } from "./downloads.js";
import type { components } from "./openapi.js";
import { iterate } from "./paging.js";
import type { Transport } from "./transport.js";
import type { Node } from "./uploads.js";

type Schemas = components["schemas"];

/** An earlier content of a file. */
export type Version = Schemas["Version"];

/** The label of an earlier content, and whether it is kept whatever its age. */
export type VersionChanges = Schemas["VersionChanges"];

const VERSIONS = "/api/v1/tenants/{tenantId}/files/{fileId}/versions";
const VERSION = `${VERSIONS}/{number}` as const;

/** Lists, reads and restores earlier contents of a file. */
export class Versions {
  readonly #api: Api;
  readonly #transport: Transport;

  constructor(api: Api, transport: Transport) {
    this.#api = api;
    this.#transport = transport;
  }

  /** Yield the earlier contents, newest first; the current one is not among them. */
  iterate(tenantId: string, fileId: string): AsyncGenerator<Version, void, undefined> {
    return iterate(this.#api, VERSIONS, { params: { path: { tenantId, fileId } } });
  }

  /** Download an earlier content into a target, as `Client.download` does. */
  async download(
    tenantId: string,
    fileId: string,
    number: number,
    target: Target,
    options: DownloadOptions = {},
  ): Promise<void> {
    await new Download(this.#transport, await this.#content(tenantId, fileId, number), options).to(target);
  }

  /** Return an earlier content as a stream, as `Client.stream` does. */
  async stream(
    tenantId: string,
    fileId: string,
    number: number,
    options: DownloadOptions = {},
  ): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    return new Download(this.#transport, await this.#content(tenantId, fileId, number), options).stream();
  }

  /** Label an earlier content, or keep it whatever its age. */
  async change(tenantId: string, fileId: string, number: number, changes: VersionChanges): Promise<Version> {
    return (await this.#api.PATCH(VERSION, { ...of(tenantId, fileId, number), body: changes })).data;
  }

  /** Give the file an earlier content again; the current one becomes a version. */
  async restore(tenantId: string, fileId: string, number: number): Promise<Node> {
    return (await this.#api.POST(`${VERSION}/restore`, of(tenantId, fileId, number))).data;
  }

  /** Remove an earlier content permanently. May need `Client.stepUp`. */
  async delete(tenantId: string, fileId: string, number: number): Promise<void> {
    await this.#api.DELETE(VERSION, of(tenantId, fileId, number));
  }

  /** Return where an earlier content is, with its size and checksum, which only the list has. */
  async #content(tenantId: string, fileId: string, number: number): Promise<Content> {
    const path = pathOf(`${VERSION}/download`, { tenantId, fileId, number: String(number) });
    for await (const version of this.iterate(tenantId, fileId)) {
      if (version.number === number) return { path, size: version.size, checksum: version.checksum };
    }
    // The download itself has the right error.
    return { path, size: 1, checksum: null };
  }
}

function of(tenantId: string, fileId: string, number: number) {
  return { params: { path: { tenantId, fileId, number: String(number) } } };
}
