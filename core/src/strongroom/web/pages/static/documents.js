// Pages that scripts read, to adopt parts of them. XMLHttpRequest parses without running anything and needs no
// exception to Trusted Types, as DOMParser and innerHTML would.

const preparers = [];

// Prepares the page, and all parts that are adopted later: what only scripts can do.
export function prepareParts(prepare) {
  preparers.push(prepare);
  prepare(document);
}

export async function fetchPage(url) {
  const request = await requested("GET", url);
  // A session that has ended leads elsewhere.
  const isHere = new URL(request.responseURL).pathname === new URL(url, location.href).pathname;
  if (!isHere) throw new Error(`redirected: ${url}`);
  return request.response;
}

// Sends a form, and returns the page that follows.
export async function send(form) {
  return (await requested("POST", form.action, new URLSearchParams(new FormData(form)))).response;
}

// Sends a form by one of its buttons, and returns the page that follows with its address: with "takesRefusal", also the
// page that has the form again.
export async function sendFrom(form, submitter, takesRefusal = false) {
  const url = submitter?.hasAttribute("formaction") ? submitter.formAction : form.action;
  const statuses = takesRefusal ? [200, 400] : [200];
  const request = await requested("POST", url, new URLSearchParams(new FormData(form, submitter)), statuses);
  return {page: request.response, url: request.responseURL, isRefused: request.status !== 200};
}

function requested(method, url, body = null, statuses = [200]) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(method, url);
    request.responseType = "document";
    const fail = () => reject(new Error(`${request.status} ${url}`));
    request.addEventListener("load", () => (statuses.includes(request.status) && request.response ? resolve(request) : fail()));
    request.addEventListener("error", fail);
    request.send(body);
  });
}

// Returns the children of an element of another document as nodes of this one, without scripts.
export function adopted(element) {
  for (const script of element.querySelectorAll("script")) script.remove();
  for (const prepare of preparers) prepare(element);
  return [...element.childNodes].map((node) => document.adoptNode(node));
}
