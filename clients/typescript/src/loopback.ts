/** Receives the login that the browser returns to a program of Node.js (RFC 8252, section 7.3). */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { LoginRedirect } from "./login-pages.js";

/** The path that servers know this client by; see `[plugins.login_pages] app_return_urls`. */
const PATH = "/strongroom-client";
const OPENERS: Record<string, [string, ...string[]]> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};
const TEXTS = {
  en: ["You can close this page and return to the program.", "The program has not begun it."],
  zh: ["可以关闭本页面，返回程序。", "这次登录不是由本程序发起的。"],
} as const;
const HEADERS = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": "default-src 'none'",
  "Cache-Control": "no-store",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  Connection: "close",
};

export interface LoopbackOptions {
  /** Shows the login page to the user; by default in the browser of the system. */
  open?: (url: string) => void | Promise<void>;
}

/** A free port of this computer, to which the login page returns; for `Client.logInByBrowser`. */
export class LoopbackRedirect implements LoginRedirect {
  readonly open: (url: string) => void | Promise<void>;
  readonly #server: Server = createServer((request, response) => this.#answer(request, response));
  #pending: { state: string; take: (code: string) => void } | undefined;

  constructor({ open = openInBrowser }: LoopbackOptions = {}) {
    this.open = open;
  }

  async listen(): Promise<string> {
    try {
      await listenOn(this.#server, "127.0.0.1");
    } catch {
      await listenOn(this.#server, "::1");
    }
    const { address, port, family } = this.#server.address() as AddressInfo;
    return `http://${family === "IPv6" ? `[${address}]` : address}:${port}${PATH}`;
  }

  code(state: string, signal: AbortSignal): Promise<string> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      this.#pending = { state, take: resolve };
    });
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.close();
    this.#server.closeIdleConnections();
    await once(this.#server, "close");
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    // Any page may send any text as a path, such as "//", which is no URL.
    const [path, query] = (request.url ?? "").split("?", 2);
    const searchParams = new URLSearchParams(query);
    if (path !== PATH || request.method !== "GET") {
      response.writeHead(404, HEADERS).end();
      return;
    }
    const code = searchParams.get("code");
    const { state, take } = this.#pending ?? {};
    const isOurs = code && state !== undefined && searchParams.get("state") === state;
    const language = request.headers["accept-language"]?.startsWith("zh") ? "zh" : "en";
    const page = pageOf(language, TEXTS[language][isOurs ? 0 : 1]);
    // The program goes on only then, because its end stops the answer.
    response.writeHead(isOurs ? 200 : 400, HEADERS).end(page, () => isOurs && take?.(code));
  }
}

async function listenOn(server: Server, host: string): Promise<void> {
  server.listen(0, host);
  await once(server, "listening");
}

function pageOf(language: string, text: string): string {
  return `<!doctype html><html lang="${language}"><meta charset="utf-8"><title>Strongroom</title><p>${text}</p></html>`;
}

async function openInBrowser(url: string): Promise<void> {
  const [command, ...options] = OPENERS[process.platform] ?? ["xdg-open"];
  const child = spawn(command, [...options, url], { stdio: "ignore", detached: true });
  await once(child, "spawn");
  child.unref();
}
