// Words and numbers of scripts in the language of the page.

const language = document.documentElement.lang;

// Returns a text without accents and case, to compare it.
export const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

export const countText = (count) => count.toLocaleString(language);

// The same decimal units as the server's.
export function sizeText(bytes) {
  const units = ["B", "KB", "MB", "GB", "TB", "PB"];
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  return `${power && value < 10 ? value.toFixed(1) : Math.round(value)} ${units[power]}`;
}
