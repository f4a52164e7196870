// Remembers where unfinished uploads continue, also after a restart of the browser. The names of files
// are not stored, because the next user of the browser could read them.

const PREFIX = "strongroom-upload ";
const KEPT = 7 * 24 * 60 * 60 * 1000; // Longer than the server keeps unfinished uploads.

export function fingerprint(place, path, file) {
  return `${hash(`${place} ${path}`)}-${file.size}-${file.lastModified}`;
}

// The interface of a URL storage of tus-js-client.
export class UploadUrls {
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
