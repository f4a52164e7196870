// Remembers the time zone of the browser, by which the server shows and reads times on the next pages, and
// shows a page's times in that zone that the server has rendered in another one.

const COOKIE = "timezone"; // As in web/pages/page_zones.py.
const YEAR = 365 * 24 * 60 * 60;

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const known = document.cookie.split("; ").find((item) => item.startsWith(`${COOKIE}=`));
const isKnown = known === `${COOKIE}=${zone}`;

if (zone && !isKnown) {
  const secure = location.protocol === "https:" ? "; secure" : "";
  document.cookie = `${COOKIE}=${zone}; path=/; max-age=${YEAR}; samesite=lax${secure}`;
}

// Forms that the server has rendered in another zone send times of the browser's, unless they have times already.
for (const form of isKnown || !zone ? [] : document.forms) {
  const times = [...form.querySelectorAll("[type=date], [type=datetime-local]")];
  if (times.some((time) => time.defaultValue)) continue;
  for (const item of form.querySelectorAll("[data-zone]")) item[item.matches("input") ? "value" : "textContent"] = zone;
}

const two = (number) => String(number).padStart(2, "0");

for (const time of document.querySelectorAll("time[datetime]")) {
  const moment = new Date(time.dateTime);
  // A day without a clock has no zone.
  if (Number.isNaN(moment.valueOf()) || !time.dateTime.includes("T")) continue;
  const day = `${moment.getFullYear()}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}`;
  const clock = `${two(moment.getHours())}:${two(moment.getMinutes())}`;
  // Ages, such as "2 hours ago", are the same in all zones.
  const text = isKnown ? "" : time.textContent;
  if (text && "day" in time.dataset) time.textContent = moment.toLocaleDateString(document.documentElement.lang, {dateStyle: "medium"});
  else if (/^\d{4}-/.test(text)) time.textContent = text.includes(":") ? `${day} ${clock}` : day;
  else if (/^\d\d:\d\d$/.test(text)) time.textContent = clock;
  time.title = moment.toLocaleString(document.documentElement.lang, {dateStyle: "full", timeStyle: "long"});
}
