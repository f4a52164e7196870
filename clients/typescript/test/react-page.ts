// The page of the tests in Chromium: the application of the guide, or with ?probe the session itself.

import { BrowserTokens, Client } from "@strongroom/client";
import { type Session, StrongroomProvider, useSession } from "@strongroom/client/react";
import { createElement, StrictMode, useEffect } from "react";
import { createRoot, hydrateRoot } from "react-dom/client";
import { App } from "./react-account.js";

declare global {
  var sessions: Session[];
}

globalThis.sessions = [];
const root = document.getElementById("root")!;
const client = new Client({ url: "https://files.example.com", tokens: new BrowserTokens("probe") });

function Probe(): string {
  const session = useSession();
  useEffect(() => void sessions.push(session), [session]);
  return session.user?.id ?? session.status;
}

function onRecoverableError(error: unknown): void {
  // The page differs from what the server has rendered.
  throw error;
}

if (location.search === "?probe") {
  const probe = createElement(StrongroomProvider, { client }, createElement(Probe));
  createRoot(root).render(createElement(StrictMode, null, probe));
} else {
  hydrateRoot(root, createElement(StrictMode, null, createElement(App)), { onRecoverableError });
}
