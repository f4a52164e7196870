/** Accounts: registration, codes, forgotten passwords, restored contacts and passkeys. */

import type { Api } from "./api.js";
import type { components } from "./openapi.js";
import { iterate } from "./paging.js";

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

/** A passkey of a user. */
export type Passkey = Schemas["Factor"];

/** The answer to a challenge by a passkey. */
export type PasskeyProof = { id: string; passkey: Record<string, unknown> };

/** Return the solution of a new captcha, or nothing without a hook that solves it. */
export type SolvedCaptcha = () => Promise<Schemas["CaptchaAnswer"] | undefined>;

/** Creates a passkey, or gets one; by default `navigator.credentials`. */
export interface Authenticator {
  create(options: { publicKey: PublicKeyCredentialCreationOptions }): Promise<Credential | null>;
  get(options: CredentialRequestOptions): Promise<Credential | null>;
}

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

  /**
   * Return what the link in the notice of a changed e-mail address or mobile number does. Nothing changes.
   *
   * Its URL ends with the token, as in `/account/restore/{token}`.
   */
  async previewRestoration(token: string): Promise<Schemas["RestorableContact"]> {
    return (await this.#api.POST("/users/contact-restoration-previews", { body: { token } })).data;
  }

  /** Undo the change of a contact by such a link, and set a new password. All logins and keys end. */
  async restoreContact(token: string, newPassword: string): Promise<void> {
    await this.#api.POST("/users/contact-restorations", { body: { token, newPassword } });
  }

  /** Add a passkey of this device to the user who is logged in. */
  async addPasskey(name = "", authenticator: Authenticator = navigator.credentials): Promise<Passkey> {
    const params = { path: { userId: "me" } };
    const { data: challenge } = await this.#api.POST("/users/{userId}/passkey-challenges", { params });
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
      challenge.publicKey as unknown as PublicKeyCredentialCreationOptionsJSON,
    );
    const credential = jsonOf(await authenticator.create({ publicKey }));
    const body = { challengeId: challenge.id, name, credential };
    return (await this.#api.POST("/users/{userId}/passkeys", { params, body })).data;
  }

  /** Yield the passkeys of the user, oldest first. */
  passkeys(): AsyncGenerator<Passkey, void, undefined> {
    return iterate(this.#api, "/users/{userId}/passkeys", { params: { path: { userId: "me" } } });
  }

  /** Rename a passkey. */
  async renamePasskey(passkeyId: string, name: string): Promise<Passkey> {
    const params = { path: { userId: "me", passkeyId } };
    return (await this.#api.PATCH("/users/{userId}/passkeys/{passkeyId}", { params, body: { name } })).data;
  }

  /** Remove a passkey. May need `Client.stepUp`. */
  async removePasskey(passkeyId: string): Promise<void> {
    const params = { path: { userId: "me", passkeyId } };
    await this.#api.DELETE("/users/{userId}/passkeys/{passkeyId}", { params });
  }

  /** Return the proof of a passkey, for a login. */
  async passkeyProof(authenticator: Authenticator = navigator.credentials): Promise<PasskeyProof> {
    const { data: challenge } = await this.#api.POST("/passkey-challenges", { body: {} });
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
      challenge.publicKey as unknown as PublicKeyCredentialRequestOptionsJSON,
    );
    return { id: challenge.id, passkey: jsonOf(await authenticator.get({ publicKey })) };
  }
}

function jsonOf(credential: Credential | null): Record<string, unknown> {
  if (credential === null) throw new Error("The device has no passkey for this.");
  return (credential as PublicKeyCredential).toJSON() as Record<string, unknown>;
}
