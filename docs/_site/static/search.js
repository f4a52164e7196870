// The search of the site finds pages with any of the words, and ranks them by how many words they have and how rare
// these are. Sphinx alone finds only pages with all words, and index entries that equal the whole query.
"use strict";

if (typeof Search !== "undefined") {
  const DOCUMENT = 0;
  const SCORE = 4;
  const withAllWords = Search._performSearch;

  const wordsOf = (text) => new Set(splitQuery(text.toLowerCase()).filter((word) => !stopwords.has(word)));
  const searched = (text) => withAllWords(...Search._parseQuery(text));

  // The best result of each page. Sphinx returns the best results last.
  const bestOf = (results) => new Map(results.map((result) => [result[DOCUMENT], result]));

  // The results of one word: its best page has the score 1, times the rarity of the word.
  const add = (total, results, weight) => {
    const pages = bestOf(results);
    const best = Math.max(...results.map((result) => result[SCORE]), 1);
    for (const [page, result] of pages) {
      const score = (total.get(page)?.[SCORE] ?? 0) + (weight * Math.max(result[SCORE], 0)) / best;
      const shown = total.get(page) ?? [...result];
      shown[SCORE] = score;
      total.set(page, shown);
    }
  };

  // The words of readers for a page count as one rare word, if the query has all of them.
  const entriesWithin = (words) =>
    Object.keys(Search._index.indexentries).filter((entry) => {
      const parts = [...wordsOf(entry)];
      return parts.length > 0 && parts.every((part) => words.has(part));
    });

  // Decisions come after everything else: readers look for what the product does, and then for the reasons.
  const isDecision = (result) => result[DOCUMENT].startsWith("adr/");
  const byRank = (one, other) => isDecision(other) - isDecision(one) || one[SCORE] - other[SCORE];

  Search._performSearch = (query, ...terms) => {
    const words = wordsOf(query);
    const exact = withAllWords(query, ...terms);
    if (words.size < 2) return exact;
    const count = Search._index.docnames.length;
    const total = new Map();
    add(total, exact, 4 * words.size);
    for (const word of words) {
      const results = searched(word);
      add(total, results, Math.log(1 + count / (1 + bestOf(results).size)));
    }
    for (const entry of entriesWithin(words)) add(total, searched(entry), 2 * wordsOf(entry).size);
    Search._parseQuery(query); // again, because it keeps the words that the pages highlight
    return [...total.values()].sort(byRank);
  };
}
