/** Accounts: registration, codes, a forgotten password, passkeys, and the login pages of the server. */

import type { Api } from "./api.js";
import type { components } from "./openapi.js";

type Schemas = components["schemas"];

/** A user of the server. */
export type User = Schemas["User"];

/** The data of a new user, without the captcha, which the hook of the client solves. */
export type NewUser = { password: string } & Pick<
  Schemas["NewUser"],
  "name" | "email" | "mobile" | "username" | "verificationCodes" | "invitation"
>;

/** What a verification code is for. */
export type Purpose = Schemas["CodeRequest"]["purpose"];

/** Return the solution of a new captcha, or nothing without a hook that solves it. */
export type SolvedCaptcha = () => Promise<Schemas["CaptchaAnswer"] | undefined>;

/** Creates a passkey, or gets one; by default `navigator.credentials`. */
export interface Authenticator {
  create(options: { publicKey: PublicKeyCredentialCreationOptions }): Promise<Credential | null>;
  get(options: CredentialRequestOptions): Promise<Credential | null>;
}

export interface LoginPageOptions {
  /** Where the page returns to; one of the server's `[plugins.login_pages] return_urls`. */
  returnUrl: string;
}

const PENDING = "strongroom.login";

/** What users do with their own account. */
export class Accounts {
  readonly #api: Api;
  readonly #solve: SolvedCaptcha;

  constructor(api: Api, solve: SolvedCaptcha) {
    this.#api = api;
    this.#solve = solve;
  }

  /** Create a user. An e-mail address or a mobile number needs the code that was sent to it. */
  async register(user: NewUser): Promise<User> {
    const captcha = user.verificationCodes?.length ? undefined : await this.#solve();
    const { data } = await this.#api.POST("/users", { body: { ...user, ...(captcha && { captcha }) } });
    return data;
  }

  /** Send a code to an e-mail address or a mobile number. */
  async sendCode(recipient: string, purpose: Purpose): Promise<Schemas["SentCode"]> {
    const captcha = await this.#solve();
    const body = { recipient, purpose, ...(captcha && { captcha }) };
    return (await this.#api.POST("/verification-codes", { body })).data;
  }

  /** Set a new password with a code of the purpose `reset-password`, which ends all logins. */
  async resetPassword(
    credential: string,
    verificationCode: Schemas["VerificationCode"],
    newPassword: string,
  ): Promise<void> {
    const params = { path: { credential } };
    await this.#api.POST("/users/{credential}/reset-password", {
      params,
      body: { verificationCode, newPassword },
    });
  }

  /** Set a password by the token of an administrator's link, which its URL ends with. */
  async redeemLink(token: string, newPassword: string): Promise<void> {
    await this.#api.POST("/users/password-links", { body: { token, newPassword } });
  }

  /** Add a passkey of this device to the user who is logged in. */
  async addPasskey(name = "", authenticator: Authenticator = navigator.credentials): Promise<Schemas["Factor"]> {
    const params = { path: { userId: "me" } };
    const { data: challenge } = await this.#api.POST("/users/{userId}/passkey-challenges", { params });
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
      challenge.publicKey as unknown as PublicKeyCredentialCreationOptionsJSON,
    );
    const credential = jsonOf(await authenticator.create({ publicKey }));
    const body = { challengeId: challenge.id, name, credential };
    return (await this.#api.POST("/users/{userId}/passkeys", { params, body })).data;
  }

  /** Return the proof of a passkey, for a login. */
  async passkey(
    authenticator: Authenticator = navigator.credentials,
  ): Promise<{ challengeId: string; credential: Record<string, unknown> }> {
    const { data: challenge } = await this.#api.POST("/passkey-challenges", { body: {} });
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
      challenge.publicKey as unknown as PublicKeyCredentialRequestOptionsJSON,
    );
    return { challengeId: challenge.id, credential: jsonOf(await authenticator.get({ publicKey })) };
  }

  /** Return the code in the URL of this page for the tokens of the login that {@link openLogin} began. */
  async finishLogin(): Promise<Schemas["LoginPageTokens"] | undefined> {
    const query = new URLSearchParams(location.search);
    const pending = sessionStorage.getItem(PENDING);
    const code = query.get("code");
    if (pending === null || code === null) return undefined;
    sessionStorage.removeItem(PENDING);
    // Neither belongs into the history.
    history.replaceState(null, "", location.pathname);
    const { verifier, state } = JSON.parse(pending) as { verifier: string; state: string };
    if (query.get("state") !== state) throw new Error("This page did not begin the login.");
    const body = { code, codeVerifier: verifier };
    return (await this.#api.POST("/api/v1/login-codes", { body })).data;
  }
}

/** Go to the login page of the server, which returns to `returnUrl` (RFC 7636, S256). */
export async function openLogin(url: string, { returnUrl }: LoginPageOptions): Promise<void> {
  const verifier = base64url(crypto.getRandomValues(new Uint8Array(32)));
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  const state = crypto.randomUUID();
  sessionStorage.setItem(PENDING, JSON.stringify({ verifier, state }));
  const query = { returnUrl, state, codeChallenge: base64url(new Uint8Array(digest)) };
  location.assign(`${url}/account/login?${new URLSearchParams(query)}`);
}

function jsonOf(credential: Credential | null): Record<string, unknown> {
  if (credential === null) throw new Error("The device has no passkey for this.");
  return (credential as PublicKeyCredential).toJSON() as Record<string, unknown>;
}

function base64url(bytes: Uint8Array): string {
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
