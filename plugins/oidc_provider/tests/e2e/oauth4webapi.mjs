// Logs a user in by the certified library oauth4webapi, and prints what it got as JSON.
import * as oauth from "oauth4webapi";
import { createInterface } from "node:readline/promises";

const [issuer, id, secret, redirectUri, resource] = process.argv.slice(2);
const lines = createInterface({ input: process.stdin });
const options = { [oauth.allowInsecureRequests]: true };
const url = new URL(issuer);
const server = await oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, options));
const client = { client_id: id };
const authentication = secret ? oauth.ClientSecretPost(secret) : oauth.None();

const verifier = oauth.generateRandomCodeVerifier();
const state = oauth.generateRandomState();
const nonce = oauth.generateRandomNonce();
const authorization = new URL(server.authorization_endpoint);
authorization.search = new URLSearchParams({
  client_id: id,
  redirect_uri: redirectUri,
  response_type: "code",
  scope: "openid profile email offline_access",
  code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
  code_challenge_method: "S256",
  state,
  nonce,
  ...(resource ? { resource } : {}),
});
console.log(authorization.href);

const callback = new URL((await lines[Symbol.asyncIterator]().next()).value);
const parameters = oauth.validateAuthResponse(server, client, callback, state);
const exchange = await oauth.authorizationCodeGrantRequest(
  server, client, authentication, parameters, redirectUri, verifier, options,
);
const tokens = await oauth.processAuthorizationCodeResponse(server, client, exchange, {
  expectedNonce: nonce,
  requireIdToken: true,
});
await oauth.validateApplicationLevelSignature(server, exchange, options);
const claims = oauth.getValidatedIdTokenClaims(tokens);
const about = await oauth.userInfoRequest(server, client, tokens.access_token, options);
const user = resource ? undefined : await oauth.processUserInfoResponse(server, client, claims.sub, about);
const refresh = () => oauth.refreshTokenGrantRequest(server, client, authentication, tokens.refresh_token, options);
const renewed = await oauth.processRefreshTokenResponse(server, client, await refresh());
const report = secret
  ? await oauth.processIntrospectionResponse(
      server,
      client,
      await oauth.introspectionRequest(server, client, authentication, renewed.access_token, options),
    )
  : undefined;
await oauth.processRevocationResponse(
  await oauth.revocationRequest(server, client, authentication, renewed.refresh_token, options),
);
const error = await oauth
  .processRefreshTokenResponse(server, client, await refresh())
  .catch((fault) => fault.error);
console.log(JSON.stringify({ claims, user, report, error }));
lines.close();
