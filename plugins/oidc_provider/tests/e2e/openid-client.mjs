// Logs a user in by the certified library openid-client, and prints what it got as JSON.
import * as client from "openid-client";
import { createInterface } from "node:readline/promises";

const [issuer, id, secret, redirectUri, resource] = process.argv.slice(2);
const lines = createInterface({ input: process.stdin });
const execute = [client.allowInsecureRequests];
const authentication = secret ? client.ClientSecretBasic(secret) : client.None();
const config = await client.discovery(new URL(issuer), id, {}, authentication, { execute });

const pkceCodeVerifier = client.randomPKCECodeVerifier();
const expectedState = client.randomState();
const expectedNonce = client.randomNonce();
const url = client.buildAuthorizationUrl(config, {
  redirect_uri: redirectUri,
  scope: "openid profile email offline_access",
  code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
  code_challenge_method: "S256",
  state: expectedState,
  nonce: expectedNonce,
  max_age: "3600",
  ...(resource ? { resource } : {}),
});
console.log(url.href);

const callback = new URL((await lines[Symbol.asyncIterator]().next()).value);
const checks = { pkceCodeVerifier, expectedState, expectedNonce, maxAge: 3600, idTokenExpected: true };
const tokens = await client.authorizationCodeGrant(config, callback, checks);
const claims = tokens.claims();
const user = resource ? undefined : await client.fetchUserInfo(config, tokens.access_token, claims.sub);
const renewed = await client.refreshTokenGrant(config, tokens.refresh_token);
const report = secret ? await client.tokenIntrospection(config, renewed.access_token) : undefined;
await client.tokenRevocation(config, renewed.refresh_token);
const error = await client.refreshTokenGrant(config, renewed.refresh_token).catch((fault) => fault.error);
console.log(JSON.stringify({ claims, user, report, error }));
lines.close();
