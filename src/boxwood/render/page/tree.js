// The picture of a tree from plain data, in the look of `picture` in parts.html: `drawTree` for the page and for whoever
// changes a tree by hand. `nodes` are told by their numbers in pre-order; those of `ends` are leaves, whatever is below.
// A node has `by`, its rows by cluster, and `cluster`, its cluster as a leaf; a cut has `second`, its second child, and
// `column`, `title`, `short`, `wide`, `full` and `bars`, as `render/page/_trees.py` writes them.
const namespaceOfPictures = (() => {  // as the browser names it: the page holds no address
  const made = document.createElement("template");
  made.innerHTML = "<svg></svg>";
  return made.content.firstChild.namespaceURI;
})();
const svgElement = (tag, attributes = {}, ...children) => {
  const made = document.createElementNS(namespaceOfPictures, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};
const sumOf = rows => rows.reduce((sum, n) => sum + n, 0);
const amountOf = rows => {
  const n = Math.round(rows * 1e9) / 1e9;
  return n === Math.floor(n) ? n.toLocaleString("en") : String(Number(n.toPrecision(4)));
};
const rowsIn = (rows, weighted) => (weighted ? `weight ${amountOf(rows)}` : `${amountOf(rows)} row${rows === 1 ? "" : "s"}`);
// As Python rounds: halfway between two to the even one.
const percentOf = share => {
  const x = 100 * share;
  return share > 0 && share < 0.0005 ? "<0.1%" : share < 1 && share >= 0.9995 ? "99.9%" : `${(x % 1 === 0.25 ? x - 0.05 : x).toFixed(1)}%`;
};
const wholePercent = share => {
  const x = 100 * (share < 1 ? Math.min(share, 0.99) : share);
  return share > 0 && share < 0.01 ? "<1%" : `${x % 1 === 0.5 ? 2 * Math.round(x / 2) : Math.round(x)}%`;
};

// The nodes of a tree in pre-order, each with its parent, its side, its depth, its words and what is lost there.
const nodesOf = ({nodes, ends, weighted}) => {
  const found = [], leaves = new Set(ends);
  const add = (id, parent, side, depth) => {
    const node = nodes[id], at = found.length, isLeaf = leaves.has(Number(id));
    const one = {...node, id: Number(id), at, parent, side, depth, isLeaf, rows: sumOf(node.by), under: new Set(), last: at};
    found.push(one);
    if (isLeaf) one.under.add(node.cluster);
    else for (const child of [add(Number(id) + 1, at, 0, depth + 1), add(node.second, at, 1, depth + 1)]) child.under.forEach(c => one.under.add(c));
    one.last = found.length;
    return one;
  };
  add(0, null, 0, 0);
  let number = 0;
  found.forEach(one => {
    if (one.isLeaf) {
      one.own = one.by[one.cluster];
      one.note = `${rowsIn(one.rows, weighted)}, ${wholePercent(found[0].rows ? one.rows / found[0].rows : 0)}`;
      one.purity = one.rows ? `${percentOf(Math.min(one.own / one.rows, 1))} from this cluster` : "";
      return;
    }
    one.number = number += 1;
    one.children = found.filter(child => child.parent === one.at);
    // rows of a cluster that no leaf names are lost at the first cut
    one.lost = sumOf(one.children.flatMap(child => child.by.filter((_, c) => (!one.at || one.under.has(c)) && !child.under.has(c))));
    one.note = rowsIn(one.rows, weighted) + (one.lost ? `, ${amountOf(one.lost)} lost` : "");
  });
  return found;
};

// Places as `picture.py` has them: leaves evenly spaced at the right, cuts halfway between their children.
const placeNodes = (found, sizes) => {
  const gap = Math.min(Math.max(Math.max(0, ...found.map(one => one.wide ?? 0)) + 14, sizes.gaps[0]), sizes.gaps[1]);
  const deepest = Math.max(...found.map(one => one.depth)), hasBars = found.some(one => one.bars);
  const cut = hasBars ? sizes.cut : sizes.bare_cut, step = cut[0] + gap;
  found.filter(one => one.isLeaf).forEach((one, i) => { one.y = (i + 0.5) * sizes.pitch; });
  [...found].reverse().forEach(one => { if (!one.isLeaf) one.y = (one.children[0].y + one.children[1].y) / 2; });
  found.forEach(one => {
    [one.width, one.height] = one.isLeaf ? sizes.leaf : cut;
    one.x = (one.isLeaf ? deepest : one.depth) * step + 4;
    one.top = one.y - one.height / 2;
  });
  const top = Math.min(...found.map(one => one.top)) - 4;
  found.forEach(one => { one.top -= top; one.y -= top; });
  return {gap, width: deepest * step + sizes.leaf[0] + 8, height: Math.max(...found.map(one => one.top + one.height)) + 4};
};

const drawBars = ({width, height, paths, lines, labels, log}) => {
  const below = Number(height) + 11;
  return svgElement("g", {},
    ...paths.map(([cluster, d]) => svgElement("path", {class: `part c${cluster}`, d})),
    svgElement("path", {class: "axis", d: `M0 ${height}H${width}`}),
    ...lines.map(x => svgElement("path", {class: "cut", d: `M${x} -4V${Number(height) + 2}`})),
    svgElement("g", {class: "ends"},
      ...labels.map(([x, anchor, text, isCut]) => svgElement("text", {class: anchor + (isCut ? " at" : ""), x, y: below}, text)),
      ...(log ? [svgElement("text", {class: "end", x: width, y: 5}, "log")] : [])));
};

// The picture of a tree; IN: clusters: [mark, name, class] of each; titles: their names as they fit into a leaf.
const drawTree = (tree, clusters, titles) => {
  const found = nodesOf(tree), {sizes} = tree, {gap, width, height} = placeNodes(found, sizes), total = found[0].rows || 1;
  const label = `Tree of ${found.filter(one => !one.isLeaf).length} cuts and ${tree.ends.length} leaves; the same tree follows as a list`;
  const parts = [], texts = [];
  found.slice(1).forEach(one => {
    const parent = found[one.parent], x = parent.x + parent.width, turn = x + gap, half = (x + turn) / 2;
    const thick = Math.round(2 * (1 + 7 * one.rows / total)) / 2, off = thick / 2 + 3;
    const d = `M${x} ${parent.y}C${half} ${parent.y} ${half} ${one.y} ${turn} ${one.y}H${one.x}`;
    parts.push(svgElement("g", {class: "edge", "data-node": one.at}, svgElement("path", {d, "stroke-width": thick})));
    texts.push(svgElement("g", {class: "edge", "data-node": one.at}, svgElement("title", {}, parent.full[one.side]),
      svgElement("text", {x: turn - 5, y: one.side === 0 ? one.y - off : one.y + off + 8}, parent.short[one.side])));
  });
  found.forEach(one => {
    const at = {"data-node": one.at, transform: `translate(${one.x} ${one.top})`}, box = {class: "box", width: one.width, height: one.height, rx: 4};
    if (!one.isLeaf) {
      parts.push(svgElement("g", {class: "node", ...at}, svgElement("title", {}, `${one.column}: ${one.note}`), svgElement("rect", box),
        svgElement("text", {x: 8, y: 16}, svgElement("tspan", {class: "mute"}, String(one.number)), svgElement("tspan", {class: "title", dx: 5}, one.title)),
        ...(one.bars ? [svgElement("g", {transform: `translate(8 ${sizes.cut_area[0]})`}, drawBars(one.bars))] : []),
        svgElement("text", {class: "mute", x: 8, y: one.height - 6}, one.note)));
      return;
    }
    const [mark, name, colour] = clusters[one.cluster];
    const order = one.by.map((n, c) => [n, c]).filter(([n]) => n > 0).sort(([n, a], [m, b]) => (b === one.cluster) - (a === one.cluster) || m - n || a - b);
    let x = 8;
    const bar = order.map(([n, c]) => {
      const wide = (one.width - 16) * n / (one.rows || 1), made = svgElement("rect", {class: `part ${clusters[c][2]}`, x, y: sizes.leaf_area[0], width: wide, height: sizes.leaf_area[1] - sizes.leaf_area[0]});
      x += wide;
      return made;
    });
    parts.push(svgElement("g", {class: `node leaf ${colour}`, ...at}, svgElement("title", {}, `${name}: ${one.note}`), svgElement("rect", box),
      svgElement("rect", {class: "part", x: 8, y: 6, width: 22, height: 24, rx: 2}), svgElement("text", {class: "mark", x: 19, y: 22.5}, mark),
      svgElement("text", {class: "title", x: 36, y: 16}, titles[one.cluster]), svgElement("text", {x: 36, y: 30}, one.note), ...bar,
      svgElement("text", {class: "mute", x: 8, y: one.height - 5}, one.purity)));
  });
  const picture = svgElement("svg", {class: "tree", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label}, ...parts, ...texts);
  picture.style.setProperty("--w", `${width}px`);
  return {picture, nodes: found};
};
