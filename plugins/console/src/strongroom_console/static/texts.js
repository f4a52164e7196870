// The texts of the scripts in the language of the page, from the attribute of an element.

const element = document.getElementById("texts");
const texts = JSON.parse(element?.dataset.texts ?? "{}");
const language = document.documentElement.lang;

export function text(key, values = {}) {
  return texts[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

export function countText(count) {
  return count.toLocaleString(language);
}

// The same decimal units as the server's.
export function sizeText(bytes) {
  const units = ["B", "KB", "MB", "GB", "TB", "PB"];
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  return `${power && value < 10 ? value.toFixed(1) : Math.round(value)} ${units[power]}`;
}

export function durationText(seconds) {
  const [unit, length] = seconds >= 5400 ? ["hour", 3600] : seconds >= 90 ? ["minute", 60] : ["second", 1];
  const value = Math.max(1, Math.ceil(seconds / length));
  return new Intl.NumberFormat(language, {style: "unit", unit, unitDisplay: "long"}).format(value);
}
