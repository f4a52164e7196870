/** The server of the tests, and networks that fail. */

import { randomUUID } from "node:crypto";
import { Client, type ClientOptions } from "@strongroom/client";

export const PASSWORD = "Correct1Horse";

/** The server. It accepts 42 as the solution of captchas. */
export const url = process.env["STRONGROOM_URL"] ?? "http://127.0.0.1:8000";

/** Return a client that repeats at once. */
export function createClient(options: Partial<ClientOptions> = {}): Client {
  return new Client({ url, retryDelay: 1, ...options });
}

/** Register a user, and return the user's name. */
export async function createUser(): Promise<string> {
  const { api } = createClient();
  const { data: captcha } = await api.POST("/captchas", { body: {} });
  const username = `u${randomUUID().replaceAll("-", "")}`;
  const body = { username, name: "Alice", password: PASSWORD, captcha: { id: captcha.id, answer: "42" } };
  await api.POST("/users", { body });
  return username;
}

/** Return the client of the administrator of the server. */
export async function administrator(): Promise<Client> {
  const client = createClient();
  await client.logIn({ username: process.env["STRONGROOM_ADMINISTRATOR"]!, password: PASSWORD });
  return client;
}

/** Return the client of a new user. */
export async function loggedIn(options: Partial<ClientOptions> = {}): Promise<Client> {
  const client = createClient(options);
  await client.logIn({ username: await createUser(), password: PASSWORD });
  return client;
}

/** Create a tenant, and return its id. */
export async function createTenant(client: Client): Promise<string> {
  const { data } = await client.api.POST("/api/v1/tenants", { body: { name: "Acme" } });
  return data.id;
}

export type Fetch = typeof fetch;

/** Return a fetch that counts the requests to a path. */
export function counting(path: string): { fetch: Fetch; count: () => number } {
  let count = 0;
  const counted: Fetch = (input, init) => {
    if (String(input).endsWith(path)) count++;
    return fetch(input, init);
  };
  return { fetch: counted, count: () => count };
}

/** Return a fetch whose first requests with a method succeed, but whose responses are lost. */
export function losing(method: string, times: number): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (init?.method !== method || times-- <= 0) return response;
    await response.body?.cancel();
    throw new TypeError("fetch failed");
  };
}

/** Return a fetch that breaks the connections of the first downloads after some bytes. */
export function breaking(after: number, times: number): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (!String(input).endsWith("/download") || times-- <= 0) return response;
    let left = after;
    const cut = new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller): void {
        controller.enqueue(piece.subarray(0, left));
        left -= piece.length;
        if (left <= 0) controller.error(new TypeError("terminated"));
      },
    });
    return new Response(response.body!.pipeThrough(cut), response);
  };
}
