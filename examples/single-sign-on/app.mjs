// Logs users in with openid-client. Run it with "node app.mjs".
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import * as client from "openid-client";

const { ISSUER, CLIENT_ID, CLIENT_SECRET, APP_URL, PORT } = process.env;
// Only a server on this machine may go without TLS.
const options = ISSUER.startsWith("http://127.0.0.1:") ? { execute: [client.allowInsecureRequests] } : {};
const secret = client.ClientSecretBasic(CLIENT_SECRET);
const config = await client.discovery(new URL(ISSUER), CLIENT_ID, {}, secret, options);
const redirectUri = `${APP_URL}/callback`;
const sessions = new Map();

async function logIn(session) {
  session.pkceCodeVerifier = client.randomPKCECodeVerifier();
  session.expectedState = client.randomState();
  return client.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: "openid email",
    code_challenge: await client.calculatePKCECodeChallenge(session.pkceCodeVerifier),
    code_challenge_method: "S256",
    state: session.expectedState,
  });
}

async function finish(session, url) {
  const { pkceCodeVerifier, expectedState } = session;
  const tokens = await client.authorizationCodeGrant(config, url, { pkceCodeVerifier, expectedState });
  session.user = await client.fetchUserInfo(config, tokens.access_token, tokens.claims().sub);
  return "/";
}

createServer(async (request, response) => {
  const url = new URL(request.url, APP_URL);
  const [, id] = /(?:^|; )session=(\w+)/.exec(request.headers.cookie ?? "") ?? [];
  const session = sessions.get(id) ?? {};
  if (url.pathname !== "/callback" && session.user) {
    response.end(JSON.stringify(session.user));
    return;
  }
  // A new id for each step, so that a cookie from before the login is worth nothing after it.
  sessions.delete(id);
  const newId = randomBytes(32).toString("hex");
  sessions.set(newId, session);
  const step = url.pathname === "/callback" ? finish(session, url) : logIn(session);
  const location = await step.catch(() => undefined);
  const cookie = `session=${newId}; Path=/; HttpOnly; SameSite=Lax`;
  response.writeHead(location ? 303 : 400, { "Set-Cookie": cookie, ...(location && { Location: `${location}` }) });
  response.end();
}).listen(Number(PORT), "127.0.0.1");
