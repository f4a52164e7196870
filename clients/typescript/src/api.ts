/** The operations of the OpenAPI document, typed by their paths; errors are thrown. */

import createClient, { type FetchResponse, type MaybeOptionalInit } from "openapi-fetch";
import type { paths } from "./openapi.js";
import type { Call, Transport } from "./transport.js";

type Method = "get" | "put" | "post" | "delete" | "patch";

/** The paths that have a method. */
export type PathsWith<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, object> ? P : never;
}[keyof paths];

/** The result of an operation. */
export interface Result<Data> {
  data: Data;
  response: Response;
}

type Operation<P extends keyof paths, M extends Method> = paths[P][M] & Record<string, unknown>;
type Data<T> = T extends { data: infer D; error?: never } ? D : never;
type Arguments<Init> = undefined extends Init ? [init?: Init] : [init: Init];

/** Calls the operations with one HTTP method. */
export type ApiMethod<M extends Method> = <
  P extends PathsWith<M>,
  Init extends MaybeOptionalInit<paths[P], M>,
>(
  path: P,
  ...init: Arguments<Init>
) => Promise<Result<Data<FetchResponse<Operation<P, M>, Init, `${string}/${string}`>>>>;

/** The operations of the server, by their paths. */
export interface Api {
  GET: ApiMethod<"get">;
  PUT: ApiMethod<"put">;
  POST: ApiMethod<"post">;
  DELETE: ApiMethod<"delete">;
  PATCH: ApiMethod<"patch">;
}

/** Return the URL path of an operation, with its parameters encoded. */
export function pathOf(path: keyof paths, parameters: Record<string, string> = {}): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(parameters[name] ?? ""));
}

/** Holds what a request is made of. A `Request` of the platform has its body as a stream, which is sent once. */
class UnsentRequest {
  constructor(
    readonly path: string,
    readonly call: Call,
  ) {}
}

/** Return the operations, which are sent through a transport. */
export function createApi(transport: Transport): Api {
  const send = (request: unknown): Promise<Response> => {
    const { path, call } = request as UnsentRequest;
    return transport.send(path, call);
  };
  const client = createClient<paths>({ fetch: send, Request: UnsentRequest as unknown as typeof Request });
  // The transport throws instead of returning an error, so that all results have data.
  return client as unknown as Api;
}
