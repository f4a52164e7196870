// A certified provider (npm oidc-provider) on loopback. Its argument is JSON: the issuer, the client and
// the claims of people by their names. People log in by their name, with any password.
import Provider from "oidc-provider";

const { issuer, client, people } = JSON.parse(process.argv[2]);
const provider = new Provider(issuer, {
  clients: [client],
  claims: { openid: ["sub", "teams"], email: ["email", "email_verified"], profile: ["name"] },
  conformIdTokenClaims: false,
  cookies: { keys: ["key of the test"] },
  features: { backchannelLogout: { enabled: true }, rpInitiatedLogout: { enabled: true } },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...people[id] }) }),
  // Its own protection refuses loopback, where the server of the test is.
  fetch: (url, { dispatcher, ...options }) => fetch(url, options),
  pkce: { required: () => true },
});
provider.on("backchannel.error", (_, error) => console.error("back channel:", error.message));
provider.on("server_error", (_, error) => console.error(error));
provider.listen(new URL(issuer).port, "127.0.0.1", () => console.log("listening"));
