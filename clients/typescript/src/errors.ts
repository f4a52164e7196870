/** The errors of the client: all extend {@link StrongroomError}. */

import type { components } from "./openapi.js";

/** The stable code of an error, such as `error.name-conflict`; newer servers may send others. */
export type ErrorCode = components["schemas"]["ErrorMember"]["code"] | (string & {});

/** A rejected field of a request. */
export type ErrorDetail = components["schemas"]["Detail"];

/** What a login still needs: its second request answers with one of the `methods`. */
export interface Challenge {
  id: string;
  methods: string[];
  expiresAt: string;
  [member: string]: unknown;
}

/** The base of all errors that this package throws. */
export class StrongroomError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** No complete response arrived; `cause` is the error of `fetch`. */
export class ConnectionFailed extends StrongroomError {}

/** The server offers no login page to this program, or no login came back. */
export class BrowserLoginFailed extends StrongroomError {}

/** The content differs from the checksum that the server has for it. */
export class ChecksumMismatch extends StrongroomError {}

/** The server no longer has an upload that was in progress. */
export class UploadGone extends StrongroomError {}

interface ErrorBody {
  error?: { code: string; message: string; details: ErrorDetail[]; requestId: string };
  challenge?: Challenge;
  enrolment?: Record<string, unknown>;
}

/** The server refused a request. Decide by `code`, or by the class; `message` is for developers. */
export class ApiError extends StrongroomError {
  /** The status of the response. */
  readonly status: number;
  readonly code: ErrorCode;
  /** The rejected fields, for `error.validation-failed`. */
  readonly details: readonly ErrorDetail[];
  /** The id under which the server has logged the request. */
  readonly requestId: string | undefined;
  /** Seconds to wait before the next attempt. */
  readonly retryAfter: number | undefined;

  constructor(response: Response, body: ErrorBody) {
    const { code, message, details, requestId } = body.error ?? {};
    super(message ?? `The server responded with ${response.status}.`);
    this.status = response.status;
    this.code = code ?? `http.${response.status}`;
    this.details = details ?? [];
    this.requestId = requestId ?? response.headers.get("X-Request-Id") ?? undefined;
    this.retryAfter = retryAfter(response);
  }

  /** The first rejected field. */
  get field(): string | undefined {
    return this.details[0]?.field;
  }

  /** Read the error of a response whose status is 400 or above. */
  static async of(response: Response): Promise<ApiError> {
    const body = parse(await response.text().catch(() => ""));
    const kind = BY_CODE[body.error?.code ?? ""] ?? BY_STATUS[response.status] ?? fallback(response);
    return new kind(response, body);
  }
}

/** 400: the request is not valid; see `details`. */
export class BadRequestError extends ApiError {}
/** 401: no valid token, or not a sufficient proof. */
export class UnauthorizedError extends ApiError {}
/** 403: no permission. */
export class ForbiddenError extends ApiError {}
/** 404: no such resource, or none that the user can see. */
export class NotFoundError extends ApiError {}
/** 409 and 412: the resource is not in the expected state. */
export class ConflictError extends ApiError {}
/** 429: wait for `retryAfter` seconds. */
export class RateLimitedError extends ApiError {}
/** 500 and above: the server cannot answer at present. */
export class ServerError extends ApiError {}

/** The login needs the solution of a captcha. */
export class CaptchaRequired extends BadRequestError {}

/** The password is right, but must be changed: log in with `newPassword`. */
export class PasswordChangeRequired extends UnauthorizedError {}

/** The login needs a second factor: log in with an answer to `challenge`. */
export class SecondFactorRequired extends UnauthorizedError {
  readonly challenge: Challenge;

  constructor(response: Response, body: ErrorBody) {
    super(response, body);
    this.challenge = body.challenge ?? { id: "", methods: [], expiresAt: "" };
  }
}

/** The user must enrol a second factor before the next login: `enrolment` permits it. */
export class FactorEnrolmentRequired extends UnauthorizedError {
  readonly enrolment: Record<string, unknown>;

  constructor(response: Response, body: ErrorBody) {
    super(response, body);
    this.enrolment = body.enrolment ?? {};
  }
}

const BY_CODE: Record<string, typeof ApiError> = {
  "error.captcha-required": CaptchaRequired,
  "error.password-change-required": PasswordChangeRequired,
  "error.second-factor-required": SecondFactorRequired,
  "error.second-factor-enrolment-required": FactorEnrolmentRequired,
};

const BY_STATUS: Record<number, typeof ApiError> = {
  400: BadRequestError,
  401: UnauthorizedError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  412: ConflictError,
  429: RateLimitedError,
};

function fallback(response: Response): typeof ApiError {
  return response.status >= 500 ? ServerError : ApiError;
}

/** Return the body of an error; a proxy in between may have sent HTML. */
function parse(text: string): ErrorBody {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === "object" && body !== null ? body : {};
  } catch {
    return {};
  }
}

/** Return the seconds of `Retry-After`, which is a number or a date (RFC 9110, section 10.2.3). */
function retryAfter(response: Response): number | undefined {
  const value = response.headers.get("Retry-After");
  if (value === null) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}
