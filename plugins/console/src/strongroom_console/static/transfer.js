// The upload of one file by tus 1.0: it continues at its offset after a pause, without a network, and after
// a restart of the browser.

const DELAYS = [500, 1000, 2000, 4000, 8000, 16000, 30000, 60000, 60000, 60000];
const SMALL = 1024 * 1024; // A file of this size is sent together with the request that creates it.
const LEAST_PIECE = 8 * 1024 * 1024;
const MOST_PIECE = 64 * 1024 * 1024; // Rights are checked for each piece.
const PIECES = 50;
const TEMPORARY = [0, 408, 423, 425, 429, 500, 502, 503, 504];

export class Transfer {
  #upload = null;
  #url = null;
  #failure = {status: 0, code: "", message: ""};

  // States: waiting, sending, retrying, paused, done, failed, cancelled.
  constructor(file, path, target, onChange) {
    Object.assign(this, {file, path, target, onChange});
    this.size = file.size;
    this.sent = 0;
    this.state = "waiting";
    this.problem = "";
  }

  get isActive() {
    return this.state === "sending" || this.state === "retrying";
  }

  async start() {
    this.#become("sending");
    await import("./vendor/tus.min.js");
    this.#upload ??= await this.#created();
    // The user may have paused meanwhile.
    if (this.isActive) this.#upload.start();
  }

  async pause() {
    this.#become("paused");
    await this.#upload?.abort();
  }

  // Continues at once, instead of after the delay of the last failure.
  async hurry() {
    if (this.state === "retrying") {
      await this.#upload.abort();
      this.#upload.start();
    }
  }

  async cancel() {
    this.#become("cancelled");
    // The server forgets the upload later if it cannot be reached now.
    await this.#upload?.abort(true).catch(() => {});
  }

  async #created() {
    const {file, path, target} = this;
    const upload = new window.tus.Upload(file, {
      endpoint: target.url,
      uploadUrl: this.#url,
      headers: {"X-CSRF": target.secret},
      metadata: {filename: file.name, ...(path === file.name ? {} : {relativePath: path})},
      // Few pieces: each is a request.
      chunkSize: Math.min(MOST_PIECE, Math.max(LEAST_PIECE, Math.ceil(file.size / PIECES))),
      uploadDataDuringCreation: file.size <= SMALL,
      retryDelays: DELAYS,
      urlStorage: new UploadUrls(),
      fingerprint: async () => fingerprint(target.place, path, file),
      removeFingerprintOnSuccess: true,
      onAfterResponse: (request, response) => this.#inspect(request, response),
      onShouldRetry: (error) => this.#mayRetry(error),
      onProgress: (sent) => this.#progress(sent),
      onSuccess: () => this.#succeed(),
      onError: () => this.#fail(),
    });
    const [previous] = await upload.findPreviousUploads();
    if (previous) upload.resumeFromPreviousUpload(previous);
    return upload;
  }

  // Throws for answers after which the client would begin the upload again, although it can continue.
  #inspect(request, response) {
    const status = response.getStatus();
    this.#failure = {status, ...faultOf(response)};
    if (request.getMethod() === "HEAD" && (status === 401 || TEMPORARY.includes(status))) {
      throw new Error(`HEAD: ${status}`);
    }
    if (status < 300 && this.state === "retrying") this.#become("sending");
  }

  #mayRetry(error) {
    // A request without a response has failed in the network.
    if (!error.originalResponse && this.#failure.status < 300) this.#failure = {status: 0, code: "", message: ""};
    const {status, code} = this.#failure;
    const isTemporary = TEMPORARY.includes(status) || code === "error.offset-conflict";
    if (isTemporary && this.isActive) this.#become("retrying");
    return isTemporary;
  }

  #progress(sent) {
    this.sent = sent;
    this.#become(this.state === "retrying" ? "sending" : this.state);
  }

  #succeed() {
    this.sent = this.size;
    this.#become("done");
  }

  #fail() {
    // Another attempt has all its delays again.
    [this.#url, this.#upload] = [this.#upload.url, null];
    this.problem = this.#failure.message;
    this.isLoggedOut = this.#failure.status === 401;
    this.#become("failed");
  }

  #become(state) {
    this.state = state;
    this.onChange(this);
  }
}

function faultOf(response) {
  try {
    const {code, message, details} = JSON.parse(response.getBody()).error;
    return {code, message: details[0]?.message ?? message};
  } catch {
    return {code: "", message: ""};
  }
}

// Remembers where unfinished uploads continue, also after a restart of the browser. The names of files
// are not stored, because the next user of the browser could read them.

const PREFIX = "strongroom-upload ";
const KEPT = 7 * 24 * 60 * 60 * 1000; // Longer than the server keeps unfinished uploads.

function fingerprint(place, path, file) {
  return `${hash(`${place} ${path}`)}-${file.size}-${file.lastModified}`;
}

// The interface of a URL storage of tus-js-client.
class UploadUrls {
  async findAllUploads() {
    return [];
  }

  async findUploadsByFingerprint(print) {
    const kept = read(PREFIX + print);
    return kept ? [{uploadUrl: kept.url, urlStorageKey: PREFIX + print}] : [];
  }

  async addUpload(print, upload) {
    removeOld();
    try {
      localStorage.setItem(PREFIX + print, JSON.stringify({url: upload.uploadUrl, at: Date.now()}));
    } catch {
      // Without room, an upload continues until the page is closed.
    }
    return PREFIX + print;
  }

  async removeUpload(key) {
    localStorage.removeItem(key);
  }
}

function removeOld() {
  for (const key of Object.keys(localStorage).filter((key) => key.startsWith(PREFIX))) {
    if (!(read(key)?.at > Date.now() - KEPT)) localStorage.removeItem(key);
  }
}

function read(key) {
  try {
    return JSON.parse(localStorage.getItem(key));
  } catch {
    return null;
  }
}

// FNV-1a, twice: a digest of crypto.subtle needs HTTPS. Size and time of the file are compared as well.
function hash(text) {
  let [one, two] = [0x811c9dc5, 0x01000193];
  for (const byte of new TextEncoder().encode(text)) {
    one = Math.imul(one ^ byte, 0x01000193);
    two = Math.imul(two ^ byte ^ (one >>> 13), 0x85ebca6b);
  }
  return [one, two].map((part) => (part >>> 0).toString(16).padStart(8, "0")).join("");
}
