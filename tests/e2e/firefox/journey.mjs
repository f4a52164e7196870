// Registers, resets a password, logs in with and without a second factor, opens the pages of the account
// in two widths, and logs out, in Firefox.
import {readFileSync} from "node:fs";
import puppeteer from "puppeteer-core";

const {firefox, origin, locale, password, captcha, user, other, outbox} = JSON.parse(process.argv[2]);
const browser = await puppeteer.launch({
  browser: "firefox", executablePath: firefox, headless: true, timeout: 60_000,
  extraPrefsFirefox: {"intl.accept_languages": locale},
});
const page = await browser.newPage();
page.setDefaultTimeout(60_000);
const languages = new Set();
const faults = [];
page.on("console", message => message.type() === "error" && faults.push(message.text()));
page.on("pageerror", error => faults.push(String(error)));

async function open(path) {
  await page.goto(origin + path);
}

// Locators and `waitForSelector` compile functions in the page, which the policy of the pages forbids.
async function find(selector) {
  const element = await page.$(selector);
  if (!element) throw new Error(`${page.url()} has no ${selector}`);
  return element;
}

async function fill(name, value) {
  const field = await find(`[name=${name}]`);
  await field.evaluate(input => { input.value = ""; });
  await field.type(value);
}

async function send(selector, fields) {
  languages.add(await page.$eval("html", html => html.lang.split("-")[0]));
  for (const [name, value] of Object.entries(fields)) await fill(name, value);
  await Promise.all([page.waitForNavigation(), (await find(selector)).click()]);
}

async function logIn({email, totp, password: own = password}) {
  await open("/account/login");
  await send("button[value=password]", {username: email, password: own});
  if (totp) await send("form[action$='/challenge'] button", {totp});
}

// The sidebar has the button of the menu; narrow windows have it below the content.
async function openMenu() {
  for (const button of await page.$$("[popovertarget=person]")) {
    if (await button.isVisible()) return button.click();
  }
}

async function logOut(steps) {
  steps.push(new URL(page.url()).pathname);
  await openMenu();
  await send("form[action$='/logout'] button", {});
  await open("/account/");
  steps.push(new URL(page.url()).pathname);
}

function lastCode(recipient) {
  const messages = readFileSync(outbox, "utf8").trim().split("\n").map(line => JSON.parse(line));
  return messages.findLast(message => message.recipient === recipient).code;
}

async function register(email) {
  await open("/account/register");
  await (await find("[name=terms]")).click();
  await send("form[action$='/register'] button", {name: "Bob", username: email, captchaAnswer: captcha});
  const fields = {code: lastCode(email), newPassword: password};
  await send("form[action$='/register/code'] button:not([type])", fields);
}

async function reset(email) {
  await open("/account/forgot");
  await send("form[action$='/forgot'] button", {username: email, captchaAnswer: captcha});
  await send("form[action$='/reset'] button:not([type])", {code: lastCode(email), newPassword: `${password}2`});
}

async function openAccountPages() {
  for (const name of ["profile", "devices", "access-keys", "invitations", "privacy", ""]) {
    for (const width of [320, 1280]) {
      await page.setViewport({width, height: 800});
      await open(`/account/${name}`);
      const scrolls = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      if (scrolls || !page.url().endsWith(`/account/${name}`)) faults.push(`${name} ${width} ${page.url()}`);
    }
  }
}

const steps = [];
await logIn({email: user});
await openAccountPages();
await logOut(steps);
await logIn(other);
await logOut(steps);
await register(`new-${other.email}`);
await logOut(steps);
await reset(user);
await logIn({email: user, password: `${password}2`});
await logOut(steps);
await browser.close();
console.log(JSON.stringify({steps, languages: [...languages], faults}));
