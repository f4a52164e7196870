// Prints the pages that the search of a built site returns for each query, the best first.
// node search.js SITE QUERY...
"use strict";
const {readFileSync} = require("node:fs");
const {createContext, runInContext} = require("node:vm");

const [site, ...queries] = process.argv.slice(2);
const context = createContext({
  document: {getElementById: () => null},
  localStorage: {setItem() {}},
  SPHINX_HIGHLIGHT_ENABLED: false,
  _ready() {},
});
runInContext("var window = globalThis", context);
for (const script of ["_static/language_data.js", "_static/searchtools.js", "searchindex.js", "_static/search.js"]) {
  runInContext(readFileSync(`${site}/${script}`, "utf8"), context);
}
const search = runInContext("(query) => Search._performSearch(...Search._parseQuery(query))", context);
const pagesOf = (query) => [...new Set(search(query).reverse().map(([page]) => page))];
console.log(JSON.stringify(Object.fromEntries(queries.map((query) => [query, pagesOf(query)]))));
