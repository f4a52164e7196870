// The texts of the scripts in the language of the page, from the attribute of an element.

const element = document.getElementById("texts");
const texts = JSON.parse(element?.dataset.texts ?? "{}");
const language = document.documentElement.lang;

export function text(key, values = {}) {
  return texts[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

export function durationText(seconds) {
  const [unit, length] = seconds >= 5400 ? ["hour", 3600] : seconds >= 90 ? ["minute", 60] : ["second", 1];
  const value = Math.max(1, Math.ceil(seconds / length));
  return new Intl.NumberFormat(language, {style: "unit", unit, unitDisplay: "long"}).format(value);
}
