// How search results are ordered: pages that explain a word come before pages that use it. The numbers are Sphinx's own.
var Scorer = {
  score: ([page, , , , score]) => score + (page.startsWith("start/") ? 10 : page.startsWith("how-to/") ? 3 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
