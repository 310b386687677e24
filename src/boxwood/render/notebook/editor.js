// The tree that is changed by hand: draws what Python sends, asks it for changes, and shows what these would do.
// Names reach the page as text, or in the drawing, in which Python has escaped them. Nothing is loaded.

const SVG = "http://www.w3.org/2000/svg";
const REST = 700; // milliseconds without a key, after which a threshold that keys moved stays where it is

function svg(tag, attributes, parent) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  parent.append(made);
  return made;
}

function html(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children.filter((child) => child !== null));
  return made;
}

function render({ model, el }) {
  const host = html("div", {});
  host.setAttribute("data-lm-suppress-shortcuts", "true"); // keys pressed inside are no commands of JupyterLab
  host.addEventListener("keydown", (event) => event.stopPropagation()); // nor of VS Code
  el.append(host);
  const root = host.attachShadow({ mode: "open" });
  let asked = 0; // messages
  let chosen = null; // node
  let focus = null; // what has the focus again after a change
  let said = { text: "", wrong: false };
  const waiting = new Map();

  // ---------------------------------------------------------------------------------------------- asking Python

  function ask(message) {
    const id = ++asked;
    return new Promise((resolve) => {
      waiting.set(id, resolve);
      model.send({ ...message, id });
    });
  }

  function onAnswer(answer) {
    const resolve = waiting.get(answer.id);
    waiting.delete(answer.id);
    if (resolve) resolve(answer);
  }

  async function change(message, meanwhile = "counting …") {
    tell(meanwhile);
    root.querySelector(".root").setAttribute("aria-busy", "true");
    const answer = await ask(message);
    root.querySelector(".root").removeAttribute("aria-busy");
    tell(answer.wrong ?? answer.said, "wrong" in answer);
    return answer;
  }

  // the sentence below the numbers; a slider says its own, so readers of the screen need not hear it twice
  function tell(text, wrong = false, aloud = true) {
    said = { text, wrong };
    const line = root.querySelector(".told");
    line.setAttribute("aria-live", aloud ? "polite" : "off");
    line.textContent = text;
    line.classList.toggle("wrong", wrong);
  }

  // ---------------------------------------------------------------------------------------------- drawing

  function draw() {
    const view = model.get("view");
    root.innerHTML = view.html;
    dress();
    tell(said.text, said.wrong);
    for (const button of root.querySelectorAll("[data-do]")) {
      button.disabled = !view.can[button.dataset.do];
      button.addEventListener("click", () => {
        focus = `[data-do=${button.dataset.do}]`;
        change({ do: button.dataset.do });
      });
    }
    root.querySelector(".python pre").textContent = view.lines.join("\n") || "# no change yet";
    const tree = root.querySelector("svg.tree");
    if (tree) tree.setAttribute("role", "group");
    for (const cut of view.cuts) makeNode(view, cut.node, `Cut ${cut.number}: ${nameOf(view, cut.column)}`);
    for (const leaf of view.leaves) makeNode(view, leaf.node, `Leaf ${leaf.leaf}: ${view.clusters[leaf.cluster]}`);
    if (tree) for (const cut of view.cuts) for (const end of cut.ends) if (end.at !== null) makeHandle(view, tree, cut, end);
    choose(view, nodes(view).includes(chosen) ? chosen : null);
    const again = focus && root.querySelector(focus);
    if (again && !again.disabled) again.focus();
    focus = null;
  }

  // light ink around the tree asks for a dark one; what no document holds yet has no ink
  function dress() {
    if (!el.isConnected) return;
    const ink = getComputedStyle(el).color.match(/[0-9.]+/g).map(Number);
    const theme = ink[0] + ink[1] + ink[2] > 382 ? "dark" : "light";
    root.querySelector(".root").dataset.theme = theme;
    host.style.colorScheme = theme;
  }

  function nodes(view) {
    return [...view.cuts, ...view.leaves].map((one) => one.node);
  }

  function nameOf(view, column) {
    const found = view.columns.find((one) => one.column === column);
    return found ? found.name : `column ${column}`;
  }

  function makeNode(view, node, label) {
    const drawn = root.querySelector(`g.node[data-node="${node}"]`);
    if (!drawn) return;
    drawn.setAttribute("tabindex", "0");
    drawn.setAttribute("role", "button");
    drawn.setAttribute("aria-label", `${label}. Choose to change it`);
    drawn.addEventListener("click", () => choose(view, node));
    drawn.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      choose(view, node);
      root.querySelector(".panel button, .panel select").focus();
    });
  }

  // ---------------------------------------------------------------------------------------------- thresholds

  function makeHandle(view, tree, cut, end) {
    const [left, top, width, height] = cut.area;
    const handle = svg("g", {
      class: "handle",
      tabindex: "0",
      role: "slider",
      "data-handle": `${cut.node} ${end.upper}`,
      "aria-label": `Threshold of cut ${cut.number} on ${nameOf(view, cut.column)}`,
      "aria-valuetext": end.said,
      "aria-valuenow": "0",
      "aria-valuemin": "0",
      "aria-valuemax": "0",
    }, tree);
    const line = svg("line", { class: "line", y1: top - 4, y2: top + height + 2 }, handle);
    svg("rect", { class: "ground", x: left, y: top + height + 3, width, height: 11 }, handle);
    const text = svg("text", { class: "said", y: top + height + 11 }, handle);
    const grip = svg("circle", { class: "grip", r: 4.5, cy: top - 3 }, handle);
    const hold = svg("rect", { class: "hold", y: top - 8, width: 22, height: height + 20 }, handle);
    let places = null; // what the rules do at each; asked for when the handle is first touched
    let at = 0;
    let rest = null;

    function put(x) {
      line.setAttribute("x1", x);
      line.setAttribute("x2", x);
      grip.setAttribute("cx", x);
      hold.setAttribute("x", x - 11);
      text.setAttribute("x", Math.min(Math.max(x, left + 24), left + width - 24));
    }

    async function ready() {
      if (places) return true;
      const answer = await ask({ do: "places", node: cut.node, upper: end.upper });
      if (!answer.places) {
        tell(answer.wrong ?? answer.said, "wrong" in answer);
        return false;
      }
      places = answer.places;
      at = places.now;
      handle.setAttribute("aria-valuemax", places.values.length - 1);
      handle.setAttribute("aria-valuenow", at);
      return true;
    }

    function show(place) {
      at = Math.min(Math.max(place, 0), places.values.length - 1);
      put(left + places.at[at] * width);
      text.textContent = places.said[at];
      handle.classList.toggle("moving", at !== places.now);
      handle.setAttribute("aria-valuenow", at);
      handle.setAttribute("aria-valuetext", `${places.said[at]}: ${places.cost[at]}`);
      tell(at === places.now ? "" : `${places.said[at]}: ${places.cost[at]}`, false, false);
      for (const [name, numbers] of Object.entries(places.numbers)) {
        const shown = root.querySelector(`[data-number="${name}"]`);
        if (shown) shown.textContent = numbers[at];
      }
    }

    function back() {
      clearTimeout(rest);
      if (places) show(places.now);
    }

    function settle() {
      clearTimeout(rest);
      if (!places || at === places.now) return;
      focus = `[data-handle="${cut.node} ${end.upper}"]`;
      change({ do: "move", node: cut.node, upper: end.upper, to: places.values[at] }).then((answer) => {
        if ("wrong" in answer) {
          const { text: reason } = said;
          back();
          tell(reason, true);
        }
      });
    }

    handle.addEventListener("pointerenter", ready);
    handle.addEventListener("click", (event) => {
      event.stopPropagation();
      if (!places || at === places.now) choose(view, cut.node); // it was not dragged
    });
    handle.addEventListener("pointerdown", async (event) => {
      event.preventDefault();
      handle.focus();
      handle.setPointerCapture(event.pointerId);
      let x = event.clientX;
      let held = true;
      const follow = () => {
        const spot = new DOMPoint(x, 0).matrixTransform(tree.getScreenCTM().inverse()).x;
        const wanted = (spot - left) / width;
        let nearest = 0;
        places.at.forEach((one, i) => {
          if (Math.abs(one - wanted) < Math.abs(places.at[nearest] - wanted)) nearest = i;
        });
        show(nearest);
      };
      const move = (moved) => {
        x = moved.clientX;
        if (places) follow();
      };
      const stop = (released) => {
        held = false;
        handle.removeEventListener("pointermove", move);
        handle.removeEventListener("pointerup", stop);
        handle.removeEventListener("pointercancel", stop);
        if (released.type === "pointercancel") back();
        else settle();
      };
      handle.addEventListener("pointermove", move);
      handle.addEventListener("pointerup", stop);
      handle.addEventListener("pointercancel", stop);
      const begun = x;
      if ((await ready()) && x !== begun) {
        follow();
        if (!held) settle(); // it was let go before the numbers came
      }
    });
    handle.addEventListener("keydown", async (event) => {
      const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 };
      const keys = [...Object.keys(steps), "Home", "End", "Enter", "Escape"];
      if (!keys.includes(event.key)) return;
      event.preventDefault();
      event.stopPropagation();
      clearTimeout(rest);
      if (event.key === "Enter") return settle();
      if (event.key === "Escape") return back();
      if (!(await ready())) return;
      const ends = { Home: 0, End: places.values.length - 1 };
      show(ends[event.key] ?? at + steps[event.key]);
      rest = setTimeout(settle, REST);
    });
    put(left + end.at * width);
  }

  // ---------------------------------------------------------------------------------------------- the chosen node

  function choose(view, node) {
    chosen = node;
    for (const drawn of root.querySelectorAll("g.node")) {
      const is = Number(drawn.dataset.node) === node;
      drawn.classList.toggle("chosen", is);
      drawn.setAttribute("aria-pressed", String(is));
    }
    const panel = root.querySelector(".panel");
    panel.replaceChildren();
    const cut = view.cuts.find((one) => one.node === node);
    const leaf = view.leaves.find((one) => one.node === node);
    if (cut) panel.append(...ofCut(view, cut));
    else if (leaf) panel.append(...ofLeaf(view, leaf));
    else if (nodes(view).length) panel.append(html("p", { className: "note", textContent: HOW }));
  }

  function ofCut(view, cut) {
    const column = nameOf(view, cut.column);
    const title = html("p", { className: "what", textContent: `Cut ${cut.number}: ${column}` });
    const plain = html("fieldset", {}, html("legend", { textContent: "Without it" }),
      button("Drop this cut", () => change({ do: "drop", node: cut.node })),
      button("Search again without this column", () =>
        change({ do: "without", column: cut.column }, "searching for the best tree without it; that may take a while …")));
    const ends = cut.ends.map((end) => exact(cut, end));
    const replace = question(view, cut.node, "Ask something else", "Replace this cut", (value) =>
      change({ do: "replace", node: cut.node, ...value }));
    return [title, ...ends, replace, plain];
  }

  function ofLeaf(view, leaf) {
    const name = view.clusters[leaf.cluster];
    const title = html("p", { className: "what", textContent: `Leaf ${leaf.leaf}: ${name}` });
    const split = question(view, leaf.node, "Split it by", "Split this leaf", (value) =>
      change({ do: "split", leaf: leaf.leaf, ...value }));
    const others = html("select", {}, ...view.clusters.map((other, i) =>
      html("option", { value: i, textContent: other, disabled: i === leaf.cluster, selected: i !== leaf.cluster })));
    const merge = html("fieldset", {}, html("legend", { textContent: `Merge ${name} with another cluster` }),
      html("label", {}, "Cluster ", others),
      button("Merge", () => change({ do: "merge", clusters: [leaf.cluster, Number(others.value)] })));
    const new_name = html("input", { type: "text", value: "" });
    const rename = html("fieldset", {}, html("legend", { textContent: `Another name for ${name}` }),
      html("label", {}, "Name ", new_name),
      button("Rename", () => change({ do: "rename", cluster: leaf.cluster, name: new_name.value })));
    return [title, split, ...(view.clusters.length > 1 ? [merge] : []), rename];
  }

  function button(text, act) {
    return html("button", { type: "button", textContent: text, onclick: act });
  }

  // a field for the value of an end, as rules say it
  function exact(cut, end) {
    const field = html("input", { type: "text", value: end.said });
    const move = () => change({ do: "move", node: cut.node, upper: end.upper, to: field.value });
    field.addEventListener("keydown", (event) => event.key === "Enter" && move());
    return html("fieldset", {}, html("legend", { textContent: "Move it to" }),
      html("label", {}, "Value ", field), button("Move", move));
  }

  // a column, and the value or the words that a new cut asks for
  function question(view, node, legend, text, act) {
    const allowed = view.columns.filter((one) => !one.forbidden);
    const select = html("select", {}, html("option", { value: "", textContent: "choose a column" }),
      ...allowed.map((one) => html("option", { value: one.column, textContent: one.name })));
    const where = html("span", {});
    const effect = html("output", {});
    let value = () => null;
    const go = button(text, () => act({ column: Number(select.value), ...value() }));
    go.disabled = true;

    function ofWords(words) {
      const boxes = words.map(() => html("input", { type: "checkbox" }));
      boxes.forEach((box) => box.addEventListener("change", () => {
        const n = boxes.filter((one) => one.checked).length;
        go.disabled = n === 0 || n === boxes.length;
      }));
      where.replaceChildren(html("span", { className: "choices" },
        ...words.map((word, i) => html("label", {}, boxes[i], word))));
      value = () => ({ words: boxes.flatMap((box, i) => (box.checked ? [i] : [])) });
    }

    function ofPlaces(places, dates) {
      const slider = html("input", { type: "range", min: 0, max: places.values.length - 1, value: places.now });
      const show = () => {
        const i = Number(slider.value);
        slider.setAttribute("aria-valuetext", `${places.said[i]}: ${places.cost[i]}`);
        effect.textContent = `${places.said[i]}: ${places.cost[i]}`;
      };
      slider.addEventListener("input", show);
      where.replaceChildren(html("label", {}, dates ? "Before " : "Up to ", slider));
      value = () => ({ value: places.values[Number(slider.value)] });
      show();
      go.disabled = false;
    }

    function typed(dates) {
      const field = html("input", { type: "text" });
      field.addEventListener("input", () => { go.disabled = field.value === ""; });
      where.replaceChildren(html("label", {}, dates ? "Before " : "Up to ", field));
      value = () => ({ value: field.value });
    }

    select.addEventListener("change", async () => {
      go.disabled = true;
      effect.textContent = "";
      where.replaceChildren();
      if (select.value === "") return;
      const column = allowed.find((one) => one.column === Number(select.value));
      if (column.words) return ofWords(column.words);
      const answer = await ask({ do: "ask", node, column: column.column });
      if (answer.places) return ofPlaces(answer.places, column.dates);
      if ("wrong" in answer) return tell(answer.wrong, true);
      effect.textContent = answer.said;
      typed(column.dates);
    });
    return html("fieldset", {}, html("legend", { textContent: legend }), html("label", {}, "Column ", select), where, go, effect);
  }

  const HOW = "Drag a threshold, or move it with the arrow keys. Choose a cut or a leaf to ask something else, to split, "
    + "to drop or to merge.";

  model.on("change:view", draw);
  model.on("msg:custom", onAnswer);
  draw();
  const placed = new ResizeObserver(dress); // a notebook may put a cell's output into the document after this
  placed.observe(el);
  return () => {
    placed.disconnect();
    model.off("change:view", draw);
    model.off("msg:custom", onAnswer);
  };
}

export default { render };
