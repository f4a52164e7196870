/** Iterates the records of collections, page by page. */

import type { MaybeOptionalInit } from "openapi-fetch";
import type { Api, PathsWith } from "./api.js";
import type { paths } from "./openapi.js";

const PAGE_SIZE = 200;

interface Collection<Item> {
  data: Item[];
  meta: { nextPageLink: string | null };
}

type Content<P extends keyof paths> = paths[P] extends {
  get: { responses: { 200: { content: { "application/json": infer C } } } };
}
  ? C
  : never;

/** The paths of collections with pages. */
export type CollectionPath = {
  [P in PathsWith<"get">]: Content<P> extends Collection<unknown> ? P : never;
}[PathsWith<"get">];

/** A record of a collection. */
export type Item<P extends CollectionPath> = Content<P> extends Collection<infer I> ? I : never;

type Query = Record<string, unknown>;

/**
 * Yield the records of all pages; only one page is in memory.
 *
 * Each record that exists throughout is yielded once, because pages are read by cursor unless the query
 * has a number.
 */
export async function* iterate<P extends CollectionPath>(
  api: Api,
  path: P,
  init: MaybeOptionalInit<paths[P], "get">,
): AsyncGenerator<Item<P>, void, undefined> {
  const get = api.GET as (path: string, init: object) => Promise<{ data: Collection<Item<P>> }>;
  const params = (init?.params ?? {}) as { query?: Query };
  const first = params.query?.pageNumber === undefined ? { cursor: "" } : {};
  let query: Query = { pageSize: PAGE_SIZE, ...first, ...params.query };
  for (;;) {
    const { data: page } = await get(path, { ...init, params: { ...params, query } });
    yield* page.data;
    const next = page.meta.nextPageLink;
    if (next === null) return;
    // Only the query: the token goes to the server that the client was made for.
    query = Object.fromEntries(new URL(next).searchParams);
  }
}
