// Solves the captcha of a form while the user fills it in. The server checks the solution.
import {solve} from "./proof_of_work_solver.js";

// Pages require trusted types; this policy trusts the solver alone.
const SOLVER = {createScriptURL: () => new URL("./proof_of_work_solver.js", import.meta.url).href};
const trusted = globalThis.trustedTypes?.createPolicy("proof-of-work", SOLVER) ?? SOLVER;
const SLICE_MS = 12, BUSY_AFTER_MS = 200, SENT_MS = 1000;

function solveInWorker(work) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(trusted.createScriptURL(""), {type: "module"});
    const finish = (settle) => (event) => {
      event.preventDefault();
      worker.terminate();
      settle(event.data);
    };
    worker.addEventListener("message", finish(resolve));
    worker.addEventListener("error", finish(reject));
    worker.postMessage(work);
  });
}

// Solves on the page where workers are refused, such as by a proxy's policy; the page stays responsive.
function solveInSlices(work) {
  let begun = performance.now();
  return solve(work, async () => {
    if (performance.now() - begun < SLICE_MS) return;
    await new Promise((done) => { setTimeout(done); });
    begun = performance.now();
  });
}

async function answer(work) {
  const {algorithm, challenge, salt, signature} = work;
  const number = await solveInWorker(work).catch(() => solveInSlices(work));
  if (algorithm !== "SHA-256" || number < 0) throw new Error("the captcha has no solution");
  return btoa(JSON.stringify({algorithm, challenge, number, salt, signature}));
}

// Finds the solution once: when the user enters the form, or when the page is idle.
function once(work) {
  let solution;
  return () => (solution ??= answer(work));
}

function prepare(input) {
  const {form} = input;
  const status = form.querySelector("[data-work-status]");
  const fallback = form.querySelector("[data-work-fallback]");
  const begin = once(JSON.parse(input.dataset.work));
  const early = () => begin().catch(() => { fallback.hidden = false; });
  form.addEventListener("focusin", early, {once: true});
  (globalThis.requestIdleCallback ?? setTimeout)(early);
  let isWaiting = false, sentAt = -Infinity;

  async function sendSolved(submitter) {
    isWaiting = true;
    const timer = setTimeout(() => {
      status.textContent = status.dataset.text;
      submitter?.setAttribute("aria-busy", "true");
    }, BUSY_AFTER_MS);
    try {
      input.value = await begin();
      // In a later task, because a form ignores requests during its event.
      await new Promise((done) => { setTimeout(done); });
      // With the button, whose value the form sends.
      form.requestSubmit(submitter);
    } catch {
      fallback.hidden = false;
    } finally {
      clearTimeout(timer);
      status.textContent = "";
      submitter?.removeAttribute("aria-busy");
      isWaiting = false;
    }
  }

  form.addEventListener("submit", (event) => {
    // A button that needs no valid form needs no captcha either.
    if (event.submitter?.formNoValidate) return;
    // A solution is for one request, so a second press must not send it again.
    if (!input.value || performance.now() - sentAt < SENT_MS) event.preventDefault();
    else sentAt = performance.now();
    if (!input.value && !isWaiting) sendSolved(event.submitter);
  });
}

for (const input of document.querySelectorAll("input[data-work]")) prepare(input);
