"use strict";
(() => {
const one = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
// Texts reach the page as text alone, never as markup.
const element = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};
let rules = JSON.parse(one("#data").textContent);

// ------------------------------------------------------------------ light and dark
const schemes = ["auto", "light", "dark"], theme = one("#theme");
let scheme = 0;
theme.hidden = false;
theme.addEventListener("click", () => {
  scheme = (scheme + 1) % 3;
  if (scheme) document.documentElement.dataset.theme = schemes[scheme];
  else delete document.documentElement.dataset.theme;
  theme.textContent = "Theme: " + schemes[scheme];
});

// ------------------------------------------------------------------ the tree, as predict runs it
const parents = new Map(), leafOf = new Map();
const learnTree = () => {
  parents.clear();
  leafOf.clear();
  rules.nodes.forEach((node, i) => {
    if (node.length > 1) { parents.set(i + 1, i); parents.set(node[3], i); }
    else leafOf.set(i, leafOf.size);
  });
};
learnTree();
const isInside = ([, lower, upper, , codes], x) =>
  codes ? codes.includes(x) : (lower === null || lower <= x) && (upper === null || x <= upper);
// From a row, the nodes of its path; the last is a leaf, or the cut that asks for a value which is not there.
const walk = row => {
  const path = [0];
  for (;;) {
    const node = rules.nodes[path.at(-1)];
    if (node.length === 1 || Number.isNaN(row[node[0]])) return path;
    path.push(isInside(node, row[node[0]]) ? path.at(-1) + 1 : node[3]);
  }
};
const clusterOf = path => { const node = rules.nodes[path.at(-1)]; return node.length === 1 ? node[0] : -1; };

const light = path => {
  const lit = new Set(path);
  all(".tree, .list").forEach(tree => tree.classList.toggle("on", path.length > 0));
  all("[data-node]").forEach(part => part.classList.toggle("lit", lit.has(Number(part.dataset.node))));
};
let shown = [];
let markMoves = () => {};  // once trees are made by hand
const lightByMouse = () => {
  markMoves();
  all(".tree .leaf").forEach(leaf => {
    leaf.addEventListener("mouseenter", () => {
      const path = [Number(leaf.dataset.node)];
      while (parents.has(path[0])) path.unshift(parents.get(path[0]));
      light(path);
    });
    leaf.addEventListener("mouseleave", () => light(shown));
  });
};
lightByMouse();

// ------------------------------------------------------------------ what if
const fields = one("#fields"), result = one("#result");
let row = [], inputs = [];

// The day from which ages are counted, at first that of the rules; dates of later days count as those of that day.
let origin;
const day = element("input", {type: "date"});
day.addEventListener("input", () => { inputs.forEach((input, j) => read(j)); answer(); });
const later = j => rules.columns[j].origin === undefined || !day.value ? 0 : Date.parse(day.value) / 864e5 - Math.floor(origin);

const inputOf = (column, j) => {
  const input = column.values ? element("select")
    : element("input", column.day ? {type: "date"} : column.date ? {type: "datetime-local", step: "any"} : {type: "number", step: "any", inputmode: "decimal"});
  if (column.gaps) input.placeholder = "missing";
  if (column.values) column.values.forEach((value, code) => input.append(element("option", {value: code}, value)));
  input.addEventListener("input", () => { read(j); answer(); });
  return input;
};
// Where rules say where a missing number goes, it counts as infinity.
const typed = j => rules.columns[j].date ? Date.parse(rules.columns[j].day ? inputs[j].value : inputs[j].value + "Z") / 864e5 - later(j) : Number(inputs[j].value);
const read = j => { row[j] = inputs[j].value !== "" ? typed(j) : rules.columns[j].gaps ? Infinity : NaN; };
const fill = values => {
  values.forEach((value, j) => { inputs[j].value = rules.columns[j].day ? value.slice(0, 10) : value; read(j); });
  answer();
};

// The double next to x, upwards or downwards.
const bits = new DataView(new ArrayBuffer(8));
const next = (x, up) => {
  if (x === 0) return up ? Number.MIN_VALUE : -Number.MIN_VALUE;
  bits.setFloat64(0, x);
  bits.setBigInt64(0, bits.getBigInt64(0) + ((x > 0) === up ? 1n : -1n));
  return bits.getFloat64(0);
};
// A date, which is a number of days in UTC, as text.
const dated = days => new Date(Math.round(days * 864e5)).toISOString().slice(0, 16).replace("T", " ").replace(" 00:00", "");
const ends = days => [`before ${dated(days)}`, `${dated(days).includes(":") ? "at" : "on"} or after ${dated(days)}`];
// Every value of one column that could lead elsewhere: both sides of each end of its cuts, or each category.
const candidates = j => {
  const {name, values, date} = rules.columns[j];
  if (values) return values.map((value, code) => [code, `${name} = ${value}`]);
  const found = [];
  rules.nodes.filter(node => node.length > 1 && node[0] === j).forEach(([, lower, upper]) => {
    if (upper !== null && upper < Number.MAX_VALUE) {
      const [low, high] = date ? ends(upper + later(j)) : [`at most ${upper}`, `just above ${upper}`];
      found.push([upper, `${name} ${low}`], [next(upper, true), `${name} ${high}`]);
    }
    if (lower !== null) {
      const [low, high] = date ? ends(lower + later(j)) : [`just below ${lower}`, `at least ${lower}`];
      found.push([lower, `${name} ${high}`], [next(lower, false), `${name} ${low}`]);
    }
  });
  return found;
};
// The nearest change of one value that leads to each other cluster.
const changes = cluster => {
  const nearest = new Map();
  rules.columns.forEach((column, j) => candidates(j).forEach(([value, words]) => {
    const found = clusterOf(walk(row.with(j, value)));
    const far = column.values || row[j] === Infinity ? 1 : Math.abs(value - row[j]) / column.deviation;
    if (found < 0 || found === cluster || Number.isNaN(far)) return;
    if (!nearest.has(found) || far < nearest.get(found)[0]) nearest.set(found, [far, words]);
  }));
  return [...nearest].sort((a, b) => a[1][0] - b[1][0]).slice(0, 3);
};

function chip(cluster) {
  return element("span", {class: `chip ${rules.clusters[cluster][2]}`}, rules.clusters[cluster][0]);
}
const valueOf = j => rules.columns[j].values ? rules.columns[j].values[row[j]] : inputs[j].value.replace("T", " ") || "missing";
const answer = () => {
  const path = shown = walk(row), cluster = clusterOf(path), last = path.at(-1);
  const steps = element("ol", {}, ...path.slice(1).map((node, i) =>
    element("li", {}, `${rules.conditions[node]} (it is ${valueOf(rules.nodes[path[i]][0])})`)));
  result.dataset.cluster = cluster;
  result.dataset.leaf = leafOf.get(last) ?? -1;
  if (cluster < 0) {
    const name = rules.columns[rules.nodes[last][0]].name;
    result.replaceChildren(element("p", {class: "found"}, `Type a number for ${name}`), steps);
  } else {
    const note = rules.notes[leafOf.get(last)].filter(text => text).join("; ");
    result.replaceChildren(
      element("p", {class: "found"}, chip(cluster), " ", element("bdi", {}, rules.clusters[cluster][1])),
      element("p", {class: "note"}, `Rows on this path: ${note}`),
      steps,
      ...changes(cluster).map(([other, [, words]]) =>
        element("p", {}, "Would be ", element("b", {}, element("bdi", {}, rules.clusters[other][1])), ` with ${words}.`)));
  }
  light(path);
};

const askValues = () => {
  if (!fields) return;
  row = rules.columns.map(() => NaN);
  inputs = rules.columns.map(inputOf);
  origin = rules.columns.find(column => column.origin !== undefined)?.origin;
  if (origin !== undefined) day.value = new Date(Math.floor(origin) * 864e5).toISOString().slice(0, 10);
  fields.replaceChildren();
  const typical = rules.typical.flatMap((values, cluster) => values ? [[cluster, values]] : []);
  if (typical.length) {
    const pick = element("div", {class: "pick", role: "group", "aria-label": "Start from typical values"}, "Start from typical values of ");
    typical.forEach(([cluster, values]) => {
      const [mark, name] = rules.clusters[cluster];
      const label = name.length > 24 ? `${name.slice(0, 23)}…` : name;
      const button = element("button", {type: "button", "data-cluster": cluster}, chip(cluster), " ", element("bdi", {}, label));
      button.addEventListener("click", () => fill(values));
      pick.append(button);
    });
    fields.append(pick);
  }
  rules.columns.forEach((column, j) => fields.append(element("label", {}, element("span", {}, element("bdi", {}, column.name)), inputs[j])));
  if (origin !== undefined) fields.append(element("label", {}, element("span", {}, "Seen from"), day));
  inputs.forEach((input, j) => read(j));
  if (typical.length) fill(typical[0][1]);
  else answer();
  light([]);
  one("#form").hidden = false;
};
fields?.addEventListener("submit", event => event.preventDefault());
fields?.addEventListener("focusin", () => light(shown));
askValues();

// ------------------------------------------------------------------ label a file
const counted = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
const save = (file, name) => {
  const link = element("a", {href: URL.createObjectURL(file), download: name, class: "save"}, `Save ${name}`);
  return element("p", {}, link);
};
const showLabelled = ({file, rows, reasons, byCluster, others, strangers, exceptions, oddities, nOdd, odd}, name) => {
  const called = what => name.replace(/(\.(csv|tsv|txt))?(\.gz)?$/i, found => `-${what}${found.replace(/\.gz$/i, "") || ".csv"}`);
  const without = sumOf(reasons.map(([, n]) => n));
  const list = counts => element("ul", {class: "reasons"}, ...counts.sort((a, b) => b[1] - a[1]).map(([why, n]) => element("li", {}, `${counted(n, "row")}: ${why}`)));
  const sizes = rules.clusters.flatMap(([, label], i) => (gone.has(i) ? [] : [element("li", {}, chip(i), " ", element("bdi", {}, label), ` ${byCluster[i].toLocaleString("en")}`)]));
  const {day} = rules.file, from = one("#day")?.value;
  one("#labelled").replaceChildren(
    ...(day && from && from !== day ? [element("p", {}, `Ages are counted from ${from}, those of this page's table from ${day}. Is your list of that time? Then count from there, by the button above.`)] : []),
    element("p", {class: "found"}, `${counted(rows, "row")} read, ${counted(rows - without, "row")} labelled`),
    save(file, called("labelled")),
    element("ul", {class: "names"}, ...sizes),
    ...(without ? [element("p", {}, `${counted(without, "row")} without a cluster:`), list(reasons)] : []),
    ...(others === null ? [] : [element("p", {}, `In ${counted(others, "row")} the column `, element("bdi", {}, rules.file.label), " says another cluster than the rules", strangers ? `, in ${counted(strangers, "more row")} a label that no cluster has.` : ".")]),
    ...(others || strangers ? [save(exceptions, called("exceptions"))] : []),
    ...(nOdd ? [element("p", {}, `${counted(nOdd, "row")} unlike most of the table, with a cluster or without, and why${sumOf(oddities.map(([, n]) => n)) > nOdd ? ", some for several reasons" : ""}:`), list(oddities), save(odd, called("odd"))] : []));
};
let working = null, listed = null;
const label = async file => {
  listed = file;
  working?.terminate();
  one("#labelled").replaceChildren(element("p", {}, `Labelling ${file.name} …`));
  const {script, reading} = await unpacked(one("#labeller").textContent);
  if (listed !== file) return;
  const code = one("code[data-form=javascript]").textContent, share = one("#share");
  const source = `"use strict";\n${code}\n${script}`;
  const url = URL.createObjectURL(new Blob([source], {type: "text/javascript"}));
  working = new Worker(url);
  share.value = 0;
  share.hidden = false;
  working.onmessage = ({data}) => {
    if (data.share) { share.value = data.share; return; }
    share.hidden = true;
    URL.revokeObjectURL(url);
    if (data.error) one("#labelled").replaceChildren(element("p", {class: "found"}, `${file.name} cannot be labelled`), element("p", {}, data.error));
    else showLabelled(data, file.name);
  };
  // what the column of clusters says of each: where some are one, the one that they are
  const into = byHand && isByHand ? stateOf().into : rules.clusters.map((_, i) => i), {clusters} = rules.file;
  const told = [...[...given].map(([i, name]) => [name, clusters[into[i]][0]]), ...clusters.map(([, cell], i) => [cell, clusters[into[i]][0]])], named = clusters.map(([name, cell], i) => [name, given.get(i) ?? cell]);
  working.postMessage({file, asked: {...rules.file, ...reading, told, clusters: named, asOf: one("#day")?.value || null, column: "cluster"}});
};
// Labels by a tree that is not shown any more are no answer.
const forgetLabels = () => {
  if (!listed) return;
  working?.terminate();
  one("#share").hidden = true;
  const again = element("button", {type: "button"}, `Label ${listed.name} again, by the tree that is shown now`);
  again.addEventListener("click", () => label(listed));
  one("#labelled").replaceChildren(again);
};
const unpacks = typeof DecompressionStream !== "undefined";
if (rules.file && unpacks) {
  one("#drop").hidden = false;
  const since = one("#day"), thatDay = one("#that-day");
  if (rules.file.ages === "day") since.value = new Date().toLocaleDateString("sv");
  // labels by another day are no answer any more
  since?.addEventListener("change", () => { if (listed) label(listed); });
  thatDay?.addEventListener("click", () => {
    since.value = rules.file.day;
    since.dispatchEvent(new Event("change"));
  });
  one("#file").addEventListener("change", event => { if (event.target.files.length) label(event.target.files[0]); });
  addEventListener("dragover", event => { event.preventDefault(); one("#drop").classList.add("over"); });
  addEventListener("dragleave", () => one("#drop").classList.remove("over"));
  addEventListener("drop", event => {
    event.preventDefault();
    one("#drop").classList.remove("over");
    if (!event.dataTransfer.files.length) return;
    one("#drop").scrollIntoView({block: "nearest"});
    label(event.dataTransfer.files[0]);
  });
}

// ------------------------------------------------------------------ smaller and larger trees
// Names that are wider than their box in the font of this reader are shortened in the middle.
const pen = element("canvas").getContext("2d");
const fitTitles = () => all(".tree .title").forEach(part => {
  const line = part.closest("text"), room = one("rect", line.parentNode).width.baseVal.value - line.x.baseVal[0].value - (line === part ? 8 : 13);
  const {fontWeight, fontSize, fontFamily} = getComputedStyle(part);
  pen.font = `${fontWeight} ${fontSize} ${fontFamily}`;
  while (pen.measureText(line.textContent).width > room) {
    const letters = [...part.textContent.replace("…", "")], half = letters.length >> 1;
    if (letters.length < 2) break;
    letters.splice(half, 1, "…");
    part.textContent = letters.join("");
  }
});
fitTitles();
const unpacked = text => new Response(new Blob([Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), c => c.charCodeAt(0))]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).json();
const treeAsList = (found, at) => {
  const node = found[at], parent = found[node.parent];
  const lines = parent ? [element("b", {}, parent.full[node.side])] : [];
  if (node.isLeaf) {
    lines.push(element("p", {}, chip(node.cluster), " ", element("bdi", {}, rules.clusters[node.cluster][1]), " ", element("small", {}, [node.note, node.purity].filter(text => text).join("; "))));
    return element("li", {}, element("div", {"data-node": at}, ...lines));
  }
  lines.push(element("p", {class: "note"}, `Cut ${node.number} on `, element("bdi", {}, node.column), `: ${node.note}`));
  if (node.bars) {
    const [width, height] = [Number(node.bars.width) + 4, Number(node.bars.height) + 19];
    lines.push(svgElement("svg", {class: "mini", viewBox: `-2 -4 ${width} ${height}`, "aria-hidden": true}, drawBars(node.bars)));
  }
  return element("li", {}, element("div", {"data-node": at}, ...lines), element("ul", {}, ...node.children.map(child => treeAsList(found, child.at))));
};
const textOfTree = (found, names) => found.flatMap(node => {
  const indent = "|   ".repeat(Math.max(node.depth - 1, 0)), parent = found[node.parent];
  const said = parent ? [`${indent}|--- ${parent.full[node.side]}`] : [];
  return node.isLeaf ? [...said, `${"|   ".repeat(node.depth)}|--- ${names[node.cluster]}`] : said;
}).join("\n");
// A condition in which no line ends within a value.
const unbroken = text => element("li", {}, ...text.split(/( )/).map(word => (/^(?=.*[0-9])[\p{L}\p{N}_.,:%+-]{2,24}$/u.test(word) ? element("span", {class: "v"}, word) : word)));
// A card has the rules of the leaves of its cluster, one below the other.
const cardOfRules = (card, cluster, found) => {
  const own = found.filter(node => node.isLeaf && node.cluster === cluster), colour = rules.clusters[cluster][2];
  const size = own.reduce((sum, node) => sum + node.own, 0), rows = own.reduce((sum, node) => sum + node.rows, 0);
  const parts = own.flatMap(({rule}, i) => [...(i ? [element("p", {class: "note"}, "or")] : []),
    element("ul", {class: `rule ${colour}`}, ...(rule.length ? rule : ["every row"]).map(unbroken))]);
  if (!own.length) parts.push(element("p", {class: "note"}, "no rule names this cluster"));
  one(".rules", card).replaceChildren(...parts);
  const many = own.length > 1, total = found[0].by[cluster];
  const finds = `The rule${many ? "s find" : " finds"} ${percentOf(size / total)} of this cluster. Of the rows ${many ? "they match" : "it matches"}, ${percentOf(size / rows)} really belong here.`;
  const told = one(".told .finds", card);
  if (told) told.textContent = own.length && rows && total ? finds : "";
};
// Where the page says how large clusters are, which changes where some are one.
const sizesOf = () => all(".card").map((card, i) => [one("p", card).firstChild, one("small", all(".who li")[i]).firstChild, one(".meter .part", card).getAttributeNode("width")]);
const saySizes = said => sizesOf().forEach((parts, i) => {
  parts.forEach((part, j) => { part.nodeValue = said[i][j]; });
  // what stood out in one of them is not what stands out in all
  [all(".who li")[i], all(".told")[i]].forEach(place => all(".out, .note:not(.finds)", place).forEach(part => { part.hidden = said[i] !== first.sizes[i]; }));
});
const first = {rules, copies: unpacks && unpacked(one("#copies").textContent), tree: [...one("#of-tree").childNodes], cards: all(".card").map(card => [...one(".rules", card).childNodes]), told: all(".told .finds").map(part => part.textContent), code: all("code[data-form]").map(code => code.textContent), deciding: one("#deciding")?.textContent, isWide: one("#of-tree").parentElement.classList.contains("wide"), sizes: sizesOf().map(parts => parts.map(part => part.nodeValue))};
let copies = first.copies;
const showFirst = () => {
  ({rules, copies} = first);
  saySizes(first.sizes);
  if (fields) one("#deciding").textContent = first.deciding;
  one("#of-tree").replaceChildren(...first.tree);
  one("#of-tree").parentElement.classList.toggle("wide", first.isWide);
  all(".card").forEach((card, i) => one(".rules", card).replaceChildren(...first.cards[i]));
  all(".told .finds").forEach((part, i) => { part.textContent = first.told[i]; });
  all("code[data-form]").forEach((code, i) => { code.textContent = first.code[i]; });
};
// Code of another tree is told by its lines, and by where this page's own has some, and how many.
const codeBeside = (own, told) => {
  if (typeof told === "string") return told;
  const lines = own.split("\n");
  return told.flatMap(part => (typeof part === "string" ? part : lines.slice(part[0], part[0] + part[1]))).join("\n");
};
const showTree = (data, tree) => {
  const titles = data.names.map((title, i) => given.get(i) ?? title);
  const {picture, nodes} = drawTree({...data, ends: tree.ends}, rules.clusters, titles);
  const place = new Map(nodes.map(node => [node.id, node.at])), tested = [...new Set(nodes.filter(node => !node.isLeaf).map(node => node.test[0]))].sort((a, b) => a - b);
  const leaves = nodes.filter(node => node.isLeaf), named = new Set(tested.map(j => data.file[j].name));
  rules = {
    columns: tested.map(j => data.columns[j]),
    nodes: nodes.map(node => (node.isLeaf ? [node.cluster] : [tested.indexOf(node.test[0]), ...node.test.slice(1, 3), place.get(node.second), ...node.test.slice(4)])),
    conditions: nodes.map(node => (node.parent === null ? null : nodes[node.parent].full[node.side])),
    notes: leaves.map(node => [node.note, node.purity]),
    right: `right for ${percentOf(sumOf(leaves.map(({own}) => own)) / nodes[0].rows)} of the ${data.weighted ? "weight" : "rows"}`,
    clusters: first.rules.clusters,
    matched: first.rules.clusters.map((_, i) => sumOf(leaves.filter(({cluster}) => cluster === i).map(({rows}) => rows))).map(rows => (rows ? rowsIn(rows, data.weighted) : "")),
    typical: (tree.typical ?? []).map(values => values && tested.map(j => values[j])),
    file: first.rules.file && {...first.rules.file, columns: data.file.filter(({name}, j) => named.has(name) || j >= data.columns.length)},
  };
  const deciding = rules.columns.map(({name}) => name), last = deciding.length > 6 ? `${deciding.splice(6).length} more` : deciding.pop();
  if (fields) one("#deciding").textContent = deciding.length ? `${deciding.join(", ")} and ${last} decide` : `${last} decides`;
  one("#of-tree").replaceChildren(
    element("div", {class: "scroll sheet picture", tabindex: "0", role: "region", "aria-label": "Picture of the tree"}, picture),
    element("div", {class: "list"}, element("ul", {}, treeAsList(nodes, 0))));
  // on paper a tree that is wider than a sheet lies on its side
  one("#of-tree").parentElement.classList.toggle("wide", first.isWide || picture.viewBox.baseVal.width > 1000);
  copies = tree.copies;
  all(".card").forEach((card, cluster) => cardOfRules(card, cluster, nodes));
  saySizes(first.sizes.map((said, i) => tree.sizes?.[i] ?? said));
  all("code[data-form]").forEach((code, i) => { code.textContent = code.dataset.form === "text" ? textOfTree(nodes, rules.clusters.map(([, name]) => name)) : codeBeside(first.code[i], tree.code[code.dataset.form]); });
};
// What is shown instead of the first tree: a place of the slider, a tree without a column, or one that is made by hand.
// `find` gives its data, the tree, what is said of it, and the clusters that are gone; `putBack` puts the controls back
// that made it.
let which = "", asked = null, putBack = () => {}, gone = new Set(), isByHand = true;
let sayTree = () => {};  // beside the slider
// What stays as it was says so, where it stands.
const stays = (head, text) => {
  const line = element("p", {class: "note screen", hidden: ""}, text);
  one(head)?.after(line);
  return line;
};
const ofTree = [".lede:not(:has(+ .lede))", "#disagreement", "#stability"].map(head => stays(head, "Of the tree that this page was made for, not of the one that is shown now."));
const ofClusters = ["#outcomes", "#lines", "#profile", "#contrasts"].map(head => stays(head, "Of the clusters before they were merged."));
const unnamed = () => rules.clusters.filter((_, i) => !gone.has(i) && !rules.nodes.some(node => node.length === 1 && node[0] === i)).map(([, name]) => name);
const sayWhich = () => {
  const names = unnamed(), more = names.length > 4 ? ` and ${names.splice(3).length} more` : "";
  one("#which")?.replaceChildren(which, ...(which && names.length ? [", in which no rule names ", element("bdi", {}, names.join(", ")), more] : []));
};
const show = async (find, back = () => {}) => {
  const mine = asked = {}, found = await find?.(), typed = new Map(rules.columns.map(({name}, j) => [name, inputs[j]?.value]));
  if (mine !== asked) return;  // a later move came in between
  if (putBack !== back) putBack();
  putBack = back;
  ({gone = new Set(), isByHand = !found} = found ?? {});
  if (found) showTree(...found.shown);
  else showFirst();
  one("#other-tree").hidden = !found;
  fitTitles();
  ofTree.forEach(line => { line.hidden = !found; });
  ofClusters.forEach(line => { line.hidden = !gone.size; });
  which = found?.which ?? "";
  sayWhich();
  sayTree(found?.told);
  [".card", ".who li"].forEach(parts => all(parts).forEach((part, cluster) => { part.hidden = gone.has(cluster); }));
  learnTree();
  lightByMouse();
  askValues();
  inputs.forEach((input, j) => { if (typed.has(rules.columns[j].name)) { input.value = typed.get(rules.columns[j].name); read(j); } });
  if (fields) { answer(); light([]); }
  offer();
  measure();
  sayChanges();
  forgetLabels();
};
const once = id => { let data; return () => (data ??= unpacked(one(id).textContent)); };
const pressed = (button, isOn) => button.setAttribute("aria-pressed", isOn);
// A button that shows a tree, and at a second click that of the page, with what was changed by hand.
const toggle = (button, find) => {
  const back = () => pressed(button, false);
  button.addEventListener("click", () => {
    const isOn = button.getAttribute("aria-pressed") === "true";
    if (!isOn) pressed(button, true);
    if (isOn) showMade();
    else show(find, back);
  });
};
const slider = one("#leaves");
if (slider && unpacks) {
  const sizes = slider.dataset.sizes.split(" "), told = one("#leaves-told"), here = Number(slider.value), data = once("#trees");
  one("#slider").hidden = false;
  const saidOf = at => sizes[at].replaceAll("_", " ");
  sayTree = (said = saidOf(slider.value)) => { slider.setAttribute("aria-valuetext", told.textContent = said); };
  const found = async (find, which, said) => {
    const trees = await data(), [own, i] = find(trees);
    return {shown: [{...trees, ...own}, own.trees[i]], which, told: said};
  };
  const back = () => { slider.value = here; };
  slider.addEventListener("input", () => {
    const at = Number(slider.value);
    sayTree();
    if (at === here) showMade();
    else show(() => found(({slider: parts, places}) => { const [part, i] = places[at - (at > here)]; return [parts[part], i]; }, `a tree of ${saidOf(at).split(":")[0]}`), back);
  });
  all("[data-without]").forEach((button, i) => {
    toggle(button, () => found(({without}) => [without[i], 0], `a tree without ${one("bdi", button).textContent}`, button.textContent));
  });
  sayTree();
}

// ------------------------------------------------------------------ what a reader changes
// In the order in which it was done, each with what is said of it and its line of Python: a cluster is named, a cut is
// moved from one of its places to another one, or a cluster is merged into another one.
const done = [];
let byHand = null;  // what is known of trees that are made by hand
const stateOf = () => {
  const into = first.rules.clusters.map((_, i) => i), at = new Map();
  done.forEach(({merged, moved}) => {
    if (merged) into.forEach((cluster, i) => { if (cluster === merged[1]) into[i] = merged[0]; });
    if (moved) at.set(moved.cut, moved.to);
  });
  return {into, at, tree: byHand.trees[into.join()]};
};
const placeOf = ({at}, cut) => at.get(cut) ?? byHand.cuts[cut].now;
// A text with some of its letters changed, the last ones first.
const textWith = (text, found) => {
  const letters = [...text];
  found.filter(one => one).sort((a, b) => b[0] - a[0] || b[1] - a[1]).forEach(([start, stop, said]) => letters.splice(start, stop - start, said));
  return letters.join("");
};
const madeOf = state => {
  const {into, at, tree} = state, nodes = {}, moved = [...at].filter(([cut]) => tree.moves[cut]);
  const gather = by => by.map((_, i) => sumOf(by.filter((_, j) => into[j] === i)));
  for (const [id, node] of Object.entries(byHand.nodes)) {
    const paths = node.bars?.paths.map(([cluster, d]) => [into[cluster] ?? cluster, d]);
    nodes[id] = {...node, by: gather(node.by), bars: node.bars && {...node.bars, paths}};
  }
  tree.ends.forEach(([id, cluster]) => { nodes[id].cluster = cluster; });
  moved.forEach(([cut, to]) => {
    const {ends, inside, rules: said, bars, ...words} = byHand.cuts[cut].places[to], {by, second} = byHand.nodes[cut], {test} = nodes[cut];
    Object.assign(nodes[cut], words, {test: [test[0], ...ends, ...test.slice(3)], bars: {...nodes[cut].bars, ...bars}});
    [[cut + 1, inside], [second, by.map((n, i) => n - inside[i])]].forEach(([id, rows], side) => Object.assign(nodes[id], {by: gather(rows), rule: said[side]}));
  });
  const right = sumOf(tree.ends.map(([id, cluster]) => nodes[id].by[cluster])) / sumOf(nodes[0].by);
  const changed = (name, text) => textWith(text, moved.map(([cut, to]) => tree.moves[cut][to][name]));
  const code = Object.fromEntries(all("code[data-form]").map((part, i) => [part.dataset.form, first.code[i]]).filter(([form]) => tree.code[form]).map(([form, own]) =>
    [form, changed(form, codeBeside(own, tree.code[form])).replace(/agreement \S*%$/m, () => `agreement ${percentOf(right)}`)]));
  const data = {...byHand, nodes}, ends = tree.ends.map(([id]) => id);
  // the leaves of a cluster are within those of the one that it is merged into
  const typical = into.map((cluster, i) => (cluster === i ? first.rules.typical.find((values, j) => values && into[j] === i) : null)), total = sumOf(nodes[0].by);
  const sizes = into.map((_, i) => {
    const n = nodes[0].by[i], said = `${rowsIn(n, byHand.weighted)}, ${percentOf(n / total)}`;
    return into.filter(cluster => cluster === i).length > 1 ? [`${said} `, `(${said})`, 100 * n / total] : null;
  });
  return {shown: [data, {ends, code, copies: {text: tree.words.map((text, i) => changed(i, text))}, typical, sizes}], found: nodesOf({...data, ends}), right};
};
const spelled = cluster => (given.has(cluster) ? JSON.stringify(given.get(cluster)) : inPython(first.rules.file.clusters[cluster][0]));
const nameOf = cluster => first.rules.clusters[cluster][1];
const rightFor = right => `right for ${percentOf(right)} of the ${byHand.weighted ? "weight" : "rows"}`;
// The value at which a cut stands, which may have been typed: one that parts the rows as its place does.
const standsAt = (cut, {places, now} = byHand.cuts[cut]) => done.findLast(({moved}) => moved?.cut === cut)?.moved.value ?? places[now].value;
const moveTo = (cut, to, said = "", value) => {
  const {column, places} = byHand.cuts[cut], {second} = byHand.nodes[cut];
  value ??= places[to].value;
  if (done.at(-1)?.moved?.cut === cut) takeBack();
  const old = standsAt(cut);
  wish = [cut, said];
  if (old !== value) {
    // names that were suggested for the rules as they were are none for other ones
    const stale = [...new Set(stateOf().tree.ends.filter(([id]) => id === cut + 1 || id === second).map(([, cluster]) => cluster))].filter(cluster => given.has(cluster) && given.get(cluster) === suggested[cluster]);
    const line = `ex = ex.move_cut(${column}, ${old}, to=${value})`, again = stale.map(cluster => [spelled(cluster), inPython(first.rules.file.clusters[cluster][0])].join(": "));
    done.push({moved: {cut, to, value}, said: `The cut is now ${places[to].full[0]}`, line: again.length ? `${line}.rename({${again.join(", ")}})` : line, named: call(stale.map(cluster => [cluster, ofTable[cluster], true]))});
  }
  showMade();
};
const merge = (one, other) => {
  const both = `${nameOf(one)} or ${nameOf(other)}`, name = isFree(both, one) ? both : nameOf(one);
  const said = `${nameOf(other)} is merged into ${nameOf(one)}`, line = `ex = ex.merge_clusters(${spelled(one)}, ${spelled(other)}, name=${JSON.stringify(name)})`;
  done.push({merged: [one, other], said, line});
  done.at(-1).named = call([[one, name]]);
  showMade();
};
const takeBack = () => {
  const last = done.pop();
  wish = [];
  last.named?.reverse().forEach(before => rename(...before));
  return last;
};
// Two leaves side by side, as long as each threshold that was moved can stay where it is.
const pairsOf = ({into, at}, found) => {
  const pairs = found.filter(node => node.children?.every(child => child.isLeaf)).map(node => node.children.map(child => child.cluster).sort((a, b) => a - b));
  return pairs.map(([one, other]) => [one, other, into.map(cluster => (cluster === other ? one : cluster))]).filter(([one, other, after], i) => {
    const tree = byHand.trees[after.join()], isFirst = pairs.findIndex(pair => pair.join() === pairs[i].join()) === i;
    return one !== other && isFirst && tree && [...at.keys()].every(cut => tree.moves[cut] || !tree.ends.some(([id]) => id === cut + 1));
  });
};
// The value of a place as one types it: a number, a day, or a number of days, of which those to come are less than none.
const inDays = value => {
  const found = /^['"](in )?([\d,]+) days?(?: \(.*\))?( ago| before .*| after .*|)['"]$/.exec(value);
  return value === "'today'" ? [0, " ago"] : found && [Number(found[2].replaceAll(",", "")) * (found[1] || found[3].startsWith(" after") ? -1 : 1), found[3]];
};
const asTyped = value => (Number.isNaN(Number(value)) ? String(inDays(value)?.[0] ?? value.slice(1, 11)) : String(Number(value)));
const isDay = text => /^\d{4}-\d\d-\d\d$/.test(text), inNumbers = text => (isDay(text) ? Date.parse(text) / 864e5 : Number(text));
// A box in which a place is typed, and a slider over all places; IN: kind: whether the tree moves; go: takes a place, and
// what is said of a value that is none; rightAt: says for how many rows the rules are right at a place.
const placesOf = ({number, column}, {places, now}, kind, go, rightAt) => {
  const name = `move-${number}`, range = element("input", {type: "range", class: kind, id: name, min: 0, max: places.length - 1});
  const texts = places.map(({value}) => asTyped(value)), box = element("input", {type: isDay(texts[now]) ? "date" : "number", step: "any", "aria-label": `Value of cut ${number}`});
  box.hidden = texts.some(text => Number.isNaN(inNumbers(text)));  // moments, which are chosen alone
  range.addEventListener("input", () => go(Number(range.value)));
  box.addEventListener("change", () => {
    // how far it is from what parts the rows as each place does: the middle one of both ends and of none
    const x = inNumbers(box.value), off = places.map(({value, alike = [value, value]}) => [0, ...alike.map(end => inNumbers(asTyped(end)) - x)].sort((a, b) => a - b)[1]);
    const far = off.map(Math.abs), to = far.indexOf(Math.min(...far)), own = texts[to];
    const beside = off.findIndex((one, i) => i && one * off[i - 1] < 0), told = i => `${texts[i]} (${rightAt(i)})`;
    if (box.value !== "" && to >= 0) go(to, ...box.value === own ? [] : far[to] ?
      [`${own} is taken for ${box.value}: a page holds counts at some values; ${beside < 0 ? "beyond there are none" : `next to it are ${told(beside - 1)} and ${told(beside)}`}. `] :
      [`The same rows as at ${own}. `, places[to].value.replace(/ \(.*\)/, "").replace(/[\de,.+-]+/, days ? Math.round(Math.abs(x)) : isDay(own) ? box.value : x)]);
  });
  const days = inDays(places[now].value), row = element("div", {class: "pick"}, element("label", {for: name}, `Move cut ${number}, `, element("bdi", {}, column)), box, days ? ` days${days[1]} ` : "", range, element("output", {for: name}));
  return {row, say: (at, said, value) => {
    range.value = at;
    box.value = asTyped(value);
    range.setAttribute("aria-valuetext", one("output", row).textContent = said);
  }};
};
const whyStays = ({children, test}) => (children.some(child => !child.isLeaf) ? "other cuts follow" : test[4] ? "words are asked for" : "too few rows beside it, or another cut moves with it");
let wish = [], rows = new Map();  // what is said of a value that was typed, where no place is; the controls of cuts
const rightAt = cut => to => { const state = stateOf(); return rightFor(madeOf({...state, at: new Map(state.at).set(cut, to)}).right); };
// A cut above others does not move here, but what would be is said: of the tree of this page as it is.
const askOf = node => {
  const {places, now, line} = byHand.asked[node.id];
  const say = (at, typed = "", value = places[at].value) => say.row.say(at, `${typed}${places[at].full}: ${at === now ? "" : "would be "}${places[at].said}${value === places[now].value ? "" : `; the tree stays here, in Python: ${line}${value})`}`, value);
  say.row = placesOf(node, byHand.asked[node.id], "ask", say, at => places[at].said.split(",")[0]);
  say(now);
  return say.row.row;
};
const sayMade = () => {
  const state = stateOf(), {found, right} = madeOf(state), of = state.into.join();
  const cuts = found.filter(({id}) => byHand.cuts[id] && state.tree.moves[id]);
  if (one("#moves").dataset.of !== of) {
    rows = new Map(cuts.map(node => [node.id, placesOf(node, byHand.cuts[node.id], "move", (...place) => moveTo(node.id, ...place), rightAt(node.id))]));
    one("#moves").replaceChildren(...[...rows.values()].map(({row}) => row));
    const merged = state.into.some((cluster, i) => cluster !== i), above = found.filter(node => !node.isLeaf && !cuts.includes(node)), asks = merged ? [] : above.filter(({id}) => byHand.asked[id]);
    one("#asks").replaceChildren(...asks.map(askOf), ...(asks.length ? [element("p", {class: "note set-aside"}, `Cut ${asks.map(({number}) => number).join(", ")}: undo your changes to see what would be if it moved.`)] : []));
    const ends = above.filter(node => !asks.includes(node)), whys = [...new Set(ends.map(whyStays))];
    const stay = whys.map(why => `cut ${ends.filter(node => whyStays(node) === why).map(({number}) => number).join(", ")} (${why})`);
    if (stay.length) one("#asks").append(element("p", {class: "note stays"}, `Not moved here: ${stay.join("; ")}. In Python, ex.move_cut moves any.`));
  }
  one("#moves").dataset.of = of;
  all("#asks .pick, #asks .set-aside").forEach(part => { part.hidden = (madeByHand() > 0) === part.matches(".pick"); });
  cuts.forEach(({id}) => {
    const {places, now} = byHand.cuts[id], to = placeOf(state, id), value = standsAt(id);
    const n = Math.abs(sumOf(places[to].inside) - sumOf(places[now].inside));
    rows.get(id).say(to, `${wish[0] === id ? wish[1] : ""}${places[to].full[0]}: ${rightFor(right)}${n ? `, ${rowsIn(n, byHand.weighted)} in another cluster` : ""}`, value);
  });
  const merges = pairsOf(state, found).map(([first, second, into]) => {
    const after = madeOf({...state, into, tree: byHand.trees[into.join()]});
    const button = element("button", {type: "button", class: "merge"}, element("bdi", {}, `${nameOf(first)} with ${nameOf(second)}`), `: ${after.found.filter(node => node.isLeaf).length} leaves, ${rightFor(after.right)}; ${counted(new Set(into).size, "cluster")} left`);
    button.addEventListener("click", () => { merge(first, second); one("#by-hand .undo").focus(); });
    return button;
  });
  one("#merges").hidden = !merges.length;
  one("#merges").replaceChildren("Merge two clusters ", ...merges);
};
// Changes of the tree; names belong to all trees.
const madeByHand = () => done.filter(({moved, merged}) => moved || merged).length;
// The tree of this page, with all that was changed by hand: what is set aside while another one is shown comes back.
const showMade = () => {
  const n = madeByHand();
  show(n ? () => {
    const state = stateOf(), made = madeOf(state);
    const which = `the tree of this page with ${counted(n, "change")} by hand`;
    return {...made, which, told: `${state.tree.ends.length} leaves: ${rightFor(made.right)}: ${which}`, gone: new Set(state.into.flatMap((cluster, i) => (cluster === i ? [] : [i]))), isByHand: true};
  } : null);
  if (byHand) sayMade();
  sayChanges();
};
const sayChanges = () => {
  one("#lines-of-python").textContent = done.map(({line}) => line).join("\n");
  one("#done").replaceChildren(...done.map(({said}) => element("li", {}, element("bdi", {}, said))));
  one("#changes").hidden = !done.length;
  if (one("#other-tree")) {
    const n = madeByHand();
    one("#to-lines").hidden = !done.length || !isByHand;
    one("#aside").textContent = n && !isByHand ? `${counted(n, "change")} by hand ${n === 1 ? "is" : "are"} set aside, and come${n === 1 ? "s" : ""} back with the tree of this page. ` : "";
    one("#return").hidden = isByHand;
    if (byHand) one("#by-hand").hidden = !isByHand;  // its controls belong to the tree of this page
  }
  all(".undo").forEach(button => { button.hidden = !done.length; });
  offerNames();
};
all(".undo").forEach(button => button.addEventListener("click", () => {
  const {moved, merged} = takeBack();
  if (byHand && (isByHand || moved || merged)) showMade();
  sayChanges();
  if (!done.length) one("#by-hand:not([hidden]) :is(.move, .merge), .rename").focus();
}));
one("#return")?.addEventListener("click", () => { showMade(); (slider.hidden ? one("[data-without]") : slider).focus(); });
if (one("#own") && unpacks) (async () => {
  byHand = await unpacked(one("#own").textContent);
  one("#by-hand").hidden = !isByHand;
  sayMade();
  // The line of a cut that moves is dragged in its histogram.
  markMoves = () => {
    if (!isByHand) return;
    const state = stateOf();
    madeOf(state).found.filter(({id}) => byHand.cuts[id] && state.tree.moves[id]).forEach(({id, at}) => {
      const node = one(`.tree .node[data-node="${at}"]`);
      node.classList.add("moves");
      node.dataset.cut = id;
    });
  };
  markMoves();
  const drag = (cut, event) => {
    const box = one(`.tree [data-cut="${cut}"] .box`).getBoundingClientRect();
    const x = (event.clientX - box.left - box.width * 8 / 172) / (box.width * 156 / 172);
    const far = byHand.cuts[cut].places.map(({at}) => Math.abs(at - x)), best = far.indexOf(Math.min(...far));
    if (best !== placeOf(stateOf(), cut)) moveTo(cut, best);
  };
  one("#of-tree").addEventListener("pointerdown", event => {
    const cut = event.target.closest(".moves")?.dataset.cut;
    if (!cut) return;
    event.preventDefault();
    const move = moved => drag(Number(cut), moved);
    addEventListener("pointermove", move);
    addEventListener("pointerup", () => removeEventListener("pointermove", move), {once: true});
  });
})();

// ------------------------------------------------------------------ the picture, for a slide
const headline = () => {
  const title = one("h1").textContent.replace(/^\d+(?= clusters)|\d+(?= parts$)/, n => n - gone.size), k = rules.clusters.length - gone.size, n = unnamed().length;
  const which = [n ? `which name ${k - n} of ${k} clusters` : "", isByHand && madeByHand() ? "changed by hand" : ""].filter(text => text);
  return `${title}: the rules${which.map(text => `, ${text}`).join("")}${which.length ? "," : ""} are ${rules.right}`;
};
// As it is shown, on white paper and twice as large, below a title; bars of the first tree are symbols beside it.
const saved = async () => {
  const svg = one(".tree").cloneNode(true), {width, height} = svg.viewBox.baseVal;
  all("use", svg).forEach(use => {
    const symbol = one(use.getAttribute("href")), bars = svgElement("svg", {viewBox: symbol.getAttribute("viewBox")}, ...[...symbol.childNodes].map(part => part.cloneNode(true)));
    ["x", "y", "width", "height"].forEach(name => bars.setAttribute(name, use.getAttribute(name)));
    use.replaceWith(bars);
  });
  svg.dataset.theme = "light";
  svg.prepend(...all(".hatch").map(hatch => hatch.cloneNode(true)), svgElement("style", {}, `${one("style").textContent}.tree{width:${2 * width}px;height:${2 * height}px;min-width:0;max-width:none;font-family:${getComputedStyle(document.body).fontFamily}}.unseen{position:static}`));
  const image = new Image(), url = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(svg)], {type: "image/svg+xml"})), paper = element("canvas");
  [paper.width, paper.height] = [image.width, image.height] = [2 * width, 2 * height];
  const font = `600 30px ${getComputedStyle(document.body).fontFamily}`, title = headline();
  pen.font = font;
  // in two lines where one is too wide
  const heads = pen.measureText(title).width > paper.width - 16 ? title.split(/(?<=:) /) : [title], top = 24 + 40 * heads.length;
  paper.height += top;
  image.src = url;
  await image.decode();
  const brush = paper.getContext("2d");
  brush.fillStyle = "white";
  brush.fillRect(0, 0, paper.width, paper.height);
  brush.drawImage(image, 0, top, image.width, image.height);
  brush.fillStyle = "black";
  brush.font = font;
  heads.forEach((line, i) => brush.fillText(line, 8, 44 + 40 * i, paper.width - 16));
  URL.revokeObjectURL(url);
  paper.toBlob(file => element("a", {href: URL.createObjectURL(file), download: "tree.png"}).click());
};
if (one("#picture")) {
  one("#picture").hidden = false;
  one("#picture").addEventListener("click", saved);
}

// ------------------------------------------------------------------ copy
const timers = new Map();  // by button: when its name comes back
const copied = async (text, button) => {
  button.dataset.name ??= button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {  // where a page may not write to the clipboard
    const held = element("textarea", {class: "unseen"});
    button.after(held);
    held.value = text;
    held.select();
    button.textContent = document.execCommand("copy") ? "Copied" : "Not copied";
    held.remove();
    button.focus();
  }
  clearTimeout(timers.get(button));
  timers.set(button, setTimeout(() => { button.textContent = button.dataset.name; }, 1500));
};
all(".copy").forEach(button => {
  button.hidden = false;
  button.addEventListener("click", () => copied(one("code", button.parentElement).textContent, button));
});
// Rules in the form that is chosen: words have the names that are shown, code those of the table.
const form = one("#take select");
const ruleOf = async (cluster, kind) => {
  const text = (await copies)[kind][cluster];
  return kind === "text" ? `${rules.clusters[cluster][1]}: ${text}` : text;
};
// A form that cannot say a rule is not offered; that of another tree is copied in words alone.
const offer = async () => {
  const found = await copies;
  all(".take").forEach((button, cluster) => { button.hidden = !found[form.value]?.[cluster]; });
};
if (unpacks) {
  one("#take").hidden = false;
  one("#take button").addEventListener("click", async event => {
    const button = event.currentTarget, lines = form.value === "text" ? await Promise.all(rules.clusters.flatMap((_, i) => (gone.has(i) ? [] : [ruleOf(i, "text")]))) : [];
    const again = form.value === "python" ? done.filter(({moved, merged}) => isByHand || !(moved || merged)).map(({line}) => `# ${line}\n`) : [];
    if (again.length) again.unshift("# What was changed on the page, as lines that change the explanation:\n");
    copied(lines.length ? lines.join("\n") : again.join("") + one(`code[data-form=${form.value}]`).textContent, button);
  });
  one("#slide").addEventListener("click", async event => {
    const button = event.currentTarget, {text} = await copies;
    // a rule says no size of its cluster where it matches more or fewer rows
    const sizes = all(".card").map(card => one("p", card).firstChild.nodeValue.trim());
    const said = sizes.map((size, i) => (!rules.matched[i] || `${size}, `.startsWith(`${rules.matched[i]}, `) ? size : `${size}; the rule matches ${rules.matched[i]}`));
    const lines = said.flatMap((size, i) => (gone.has(i) ? [] : [`${nameOf(i)} (${size}): ${text[i]}`]));
    copied([headline(), ...lines].join("\n"), button);
  });
  all(".card").forEach((card, cluster) => {
    const button = element("button", {type: "button", class: "screen take", "aria-label": `Copy the rule of cluster ${rules.clusters[cluster][0]}`}, "Copy");
    one("h3", card).append(button);
    button.addEventListener("click", async () => copied(await ruleOf(cluster, form.value), button));
  });
  form.addEventListener("change", offer);
}

// ------------------------------------------------------------------ names that a reader gives
const given = new Map();
const inPython = value => (typeof value === "boolean" ? (value ? "True" : "False") : JSON.stringify(value));
// What stands where the page says names of the table; the name of a leaf that another tree has may be cut off.
const texts = new Map(all(".chip + *, .leaf .title, .leaf title").map(part => [part, [part.textContent, part.getAttribute("class")]]));
// What is told of clusters as they were before some were merged stays on the page, and so do their names there.
const namesBefore = rules.clusters.map(([, name]) => name), ofShown = ".card, .who, .tree, .list, #form";
// IN: isOwn: whether the name is that of the table.
const rename = (cluster, name, isOwn) => {
  const [mark] = first.rules.clusters[cluster], isMerged = done.some(({merged}) => merged?.[0] === cluster);
  const say = (part, said, style) => {
    const own = isOwn && texts.get(part);
    part.textContent = own ? own[0] : said;
    if (style) part.className = own ? own[1] : style;
  };
  first.rules.clusters[cluster][1] = name;
  if (!isMerged) namesBefore[cluster] = name;
  if (isOwn) given.delete(cluster);
  else given.set(cluster, name);
  // the first tree is no part of the page while another one is shown
  const everywhere = selector => [document, ...first.tree.filter(part => part.querySelectorAll)].flatMap(root => all(selector, root));
  everywhere(".chip").filter(part => part.textContent === mark && (!isMerged || part.closest(ofShown))).forEach(part => {
    const beside = part.nextElementSibling;
    if (beside?.tagName === "BDI") say(beside, name);
    else if (beside?.matches(".named, .unseen")) say(beside, ` ${name}`, "named");
  });
  everywhere(".tree .leaf").filter(leaf => one(".mark", leaf).textContent === mark).forEach(leaf => {
    say(one(".title", leaf), name);
    say(one("title", leaf), `${name}: ${all("text", leaf)[2].textContent}`);
  });
  all(`#compare [value="${cluster}"]`).forEach(part => { part.textContent = namesBefore[cluster]; });
  fitTitles();
  if (byHand) sayMade();
  sayWhich();
  forgetLabels();  // which have the name of before
};
// Gives clusters other names, and returns those of before; IN: names: [cluster, name, whether it is that of the table].
const call = names => names.map(([cluster, name, isOwn = false]) => {
  const before = [cluster, nameOf(cluster), !given.has(cluster)];
  rename(cluster, name, isOwn);
  return before;
});
const give = (names, said) => {
  const line = `ex = ex.rename({${names.map(([cluster, name]) => `${spelled(cluster)}: ${JSON.stringify(name)}`).join(", ")}})`;
  done.push({named: call(names), said, line});
  sayChanges();
};
const ofTable = rules.clusters.map(([, name]) => name), isFree = (name, cluster) => first.rules.clusters.every(([, other], i) => i === cluster || other !== name);
// Names that are suggested belong to the rules of the page.
const suggested = all(".card").map(card => one(".suggested bdi", card)?.textContent);
const toTake = () => suggested.flatMap((name, i) => (name && rules === first.rules && name !== nameOf(i) && isFree(name, i) ? [[i, name]] : []));
const offerNames = () => {
  const left = toTake().map(([i]) => i);
  all(".card").forEach((card, i) => { if (suggested[i]) one(".suggested", card).hidden = !left.includes(i); });
  one("#use").hidden = !left.length || !rules.file;
};
one("#use").addEventListener("click", () => {
  const names = toTake();
  give(names, names.map(([i, name]) => `${nameOf(i)} is called ${name}`).join("; "));
  one("#changes .undo").focus();
});
offerNames();
if (rules.file) all(".card").forEach((card, cluster) => {
  const button = element("button", {type: "button", class: "screen rename", "aria-label": `Rename cluster ${rules.clusters[cluster][0]}`}, "Rename");
  one("h3", card).append(button);
  button.addEventListener("click", () => {
    one(".taken", card)?.remove();
    const shown = one("h3 bdi", card), input = element("input", {"aria-label": `Name of cluster ${rules.clusters[cluster][0]}`, maxlength: "100"});
    input.value = shown.textContent;
    shown.hidden = button.hidden = true;
    shown.after(input);
    input.focus();
    input.select();
    let isDone = false;
    const end = isKept => {
      if (isDone) return;
      isDone = true;
      const name = input.value.trim();
      input.remove();
      shown.hidden = button.hidden = false;
      if (isKept && !isFree(name, cluster)) one("h3", card).after(element("p", {class: "note taken", role: "alert"}, "The name stays: ", element("bdi", {}, name), " is that of another cluster."));
      if (isKept && name && isFree(name, cluster) && name !== shown.textContent) give([[cluster, name]], `${shown.textContent} is called ${name}`);
      button.focus();
    };
    input.addEventListener("keydown", event => {
      if (event.key !== "Enter" && event.key !== "Escape") return;
      event.preventDefault();  // or the key presses the button, too
      end(event.key === "Enter");
    });
    input.addEventListener("blur", () => end(true));
  });
});

// ------------------------------------------------------------------ rows that their rules put elsewhere
all("[data-cell]").forEach(place => {
  const {rows, columns} = first.rules.cells[place.dataset.cell], [own, other] = place.dataset.cell.split("-");
  const said = () => `${rows} of ${namesBefore[own]} that the rules put into ${namesBefore[other]}`;
  const button = element("button", {type: "button", "aria-pressed": "false", "aria-label": said()}, place.textContent);
  place.replaceChildren(button);
  button.addEventListener("click", () => {
    all("[data-cell] button").forEach(one => one.setAttribute("aria-pressed", one === button));
    const line = ([head, ...cells], tag = "td") => element("tr", {}, element("th", {scope: tag === "th" ? "col" : "row"}, element("bdi", {}, head)), ...cells.map(text => element(tag, tag === "th" ? {scope: "col"} : {}, element("bdi", {}, text))));
    one("#cell").replaceChildren(element("table", {}, element("caption", {}, said()),
      element("thead", {}, line(["Column", "These rows", "All others"], "th")), element("tbody", {}, ...columns.map(cells => line(cells)))));
  });
});

// ------------------------------------------------------------------ two clusters beside each other
// Columns of the profile in the order in which two clusters differ: by the places of their middles among all rows, or by
// the shares of one category, which both say then.
const pickers = all("#compare select"), body = one("[aria-labelledby=profile] tbody"), lines = body ? [...body.rows] : [], own = lines.map(line => line.cloneNode(true));
const heads = body && one("tr", body.parentNode), headsInOrder = heads && [...heads.cells];
const shareIn = text => parseFloat(text.replace(/^\D+/, "")), far = ([p, q]) => Math.abs(p - q) || 0;
// [how far two clusters are apart, what the line says of both, the category whose shares all its cells say, if there is one]
const differ = (line, told, pair) => {
  if (told) return told.map(([word, ...said]) => [far(pair.map(i => shareIn(said[i]))), [` ${word}`, ...pair.map(i => said[i])], [word, ...said]]).reduce((most, one) => (one[0] > most[0] + 1e-9 ? one : most));
  const cells = pair.map(i => line.cells[i + 1]), at = cells.map(cell => one(".dot", cell)?.getAttribute("d").slice(1) ?? cell.textContent);
  return [far(at.map(shareIn)), ["", ...cells.map(cell => cell.firstChild.textContent)]];
};
const sayShares = (line, [word, ...said]) => said.forEach((share, i) => {
  const cell = line.cells[i + 1], band = one(".band", cell);
  if (share) cell.firstChild.textContent = `${share} ${word}`;
  if (!band) return;
  band.setAttribute("d", `M0 5H${Math.max(Math.round(shareIn(share)), 1)}`);
  one("path.rail", cell).setAttribute("d", `M${Math.round(shareIn(said.at(-1)))} 0V10`);
});
const compare = () => {
  const pair = pickers.map(({value}) => Number(value)), isPair = pair.every(i => i >= 0) && pair[0] !== pair[1];
  const found = lines.map((line, i) => {
    line.replaceChildren(...own[i].cloneNode(true).childNodes);
    return [line, ...(isPair ? differ(line, first.rules.words[i], pair) : [0])];
  }).sort((a, b) => b[1] - a[1]);
  body.append(...found.map(([line]) => line));
  heads.replaceChildren(...headsInOrder);
  heads.classList.toggle("pair", isPair);
  found.forEach(([line, , , shares]) => shares && sayShares(line, shares));
  all("tr", body.parentNode).forEach(line => {
    rules.clusters.forEach((_, i) => { line.cells[i + 1].hidden = isPair && !pair.includes(i); });
    if (isPair) line.cells[pair[0] + 1].after(line.cells[pair[1] + 1]);  // as the sentence has them
  });
  const said = found.slice(0, 3).filter(([, far]) => far >= 10).map(([line, , [word, ...texts]]) => `${one("bdi", line).textContent}${word}, ${texts.join(" against ")}`);
  one("#differ").textContent = !isPair ? "" : said.length ? `They differ most in ${said.join("; ")}.` : "They hardly differ in any column that is shown.";
  measure();
};
if (pickers.length) {
  one("#compare").hidden = false;
  pickers.forEach(picker => {
    picker.append(element("option", {value: -1}, "…"), ...rules.clusters.map(([, name], i) => element("option", {value: i}, name)));
    picker.addEventListener("input", compare);
  });
}

// ------------------------------------------------------------------ what is out of sight says so
const hints = new Map();
function measure() {
  all(".scroll").forEach(part => {
    if (!hints.has(part)) hints.set(part, element("p", {class: "note screen"}, "More to the right: scroll sideways."));
    if (part.previousSibling !== hints.get(part)) part.before(hints.get(part));
    hints.get(part).hidden = part.scrollWidth <= part.clientWidth + 1;
  });
}
addEventListener("resize", measure);
all("details").forEach(part => part.addEventListener("toggle", measure));
measure();
})();
