// Reads pages as documents.

// XMLHttpRequest parses without running anything and needs no exception to Trusted Types.
export function read(path) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("GET", path);
    request.responseType = "document";
    request.addEventListener("load", () => (request.status === 200 ? resolve(request.response) : reject(new Error(path))));
    request.addEventListener("error", () => reject(new Error(path)));
    request.send();
  });
}
