// The weights of folders in the search of the site. Guides have 1; decisions come after everything else.
const WEIGHTS = [["adr/", 0.05], ["tutorials/", 0.9], ["contributing/", 0.2], ["architecture/", 0.3], ["zh/", 0.4], ["reference/", 0.5]];

var Scorer = {
  score: ([page, , , , score]) => {
    const [, weight] = WEIGHTS.find(([folder]) => page.startsWith(folder)) ?? ["", 1];
    return score * weight;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: {0: 15, 1: 5, 2: -5},
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
