/* The behaviour of the page: sliders, tree, tabs, linked lines. What runs where is computed by the script before. */
const DATA = JSON.parse(document.getElementById("data").textContent);
const COLOURS = 8;
const MOST_CHANGES = 6;
const MOST_MILLISECONDS = 40, REST_MILLISECONDS = 150;
document.documentElement.classList.add("js");

/* An element with attributes and children; text is never read as HTML. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}
const named = (found) => (found.kind === "leaf" || found.kind === "dead end" ? `${found.kind} ${found.index}` : found.kind);
const grouped = (value) => String(value).replace(/\B(?=(\d{3})+(?!\d))/g, "\u2009");
function colour(node, found) {
  node.classList.add(found.kind.replace(" ", "-"));
  if (found.kind === "leaf") node.style.setProperty("--case", `var(--c${found.index % COLOURS})`);
  return node;
}
const same = (a, b) => a.kind === b.kind && a.index === b.index;

/* ---- sliders */

class Slider {
  constructor(root, control, changed) {
    this.name = control.name;
    [this.low, this.high] = [BigInt(control.low), BigInt(control.high)];
    this.stops = control.stops.map(BigInt);
    [this.root, this.number, this.range] = [root, root.querySelector(".number"), root.querySelector(".range")];
    this.start = BigInt(this.number.dataset.start);
    this.value = this.start;
    this.number.value = String(this.start);
    this.show();
    this.range.addEventListener("input", () => {
      this.value = this.stops[Number(this.range.value)];
      this.number.value = String(this.value);
      this.show();
      changed();
    });
    this.number.addEventListener("input", () => {
      const value = /^\s*\d+\s*$/.test(this.number.value) ? BigInt(this.number.value.trim()) : null;
      const fits = value !== null && value >= this.low && value <= this.high;
      this.number.setAttribute("aria-invalid", String(!fits));
      this.problem = fits ? "" : `an integer from ${this.low} to ${this.high} is wanted; ${this.value} still counts`;
      if (fits) {
        this.value = value;
        this.show();
      }
      changed();
    });
    this.number.addEventListener("keydown", (event) => {
      const step = { ArrowUp: 1n, ArrowDown: -1n, PageUp: 16n, PageDown: -16n }[event.key];
      if (event.key === "Enter") event.preventDefault();
      if (step === undefined) return;
      event.preventDefault();
      this.set(this.value + step);
      changed();
    });
  }
  set(value) {
    this.value = value < this.low ? this.low : value > this.high ? this.high : value;
    this.number.value = String(this.value);
    this.number.setAttribute("aria-invalid", "false");
    this.problem = "";
    this.show();
  }
  show() {
    this.range.value = String(this.stops.findLastIndex((stop) => stop <= this.value));
    this.range.setAttribute("aria-valuetext", String(this.value));
  }
  /* Where a value is between the ends of the slider, which goes from stop to stop in equal steps. */
  place(value) {
    const at = Math.min(this.stops.findLastIndex((stop) => stop <= value), this.stops.length - 2);
    if (at < 0) return 0;
    const [a, b] = [this.stops[at], this.stops[at + 1]];
    return Math.min(1, (at + Number(value - a) / Number(b - a)) / (this.stops.length - 1));
  }
}

function strip(slider, region, point) {
  const pieces = cf_pieces(region, point, slider.name, slider.low, slider.high);
  const band = element("div", { class: "strip" });
  for (const [from, to, found] of pieces ?? []) {
    const left = slider.place(from), right = to === slider.high ? 1 : slider.place(to + 1n);
    const piece = colour(element("span", { class: "piece", title: `${named(found)} from ${from} to ${to}` }), found);
    piece.style.left = `${100 * left}%`;
    piece.style.width = `${100 * (right - left)}%`;
    band.append(piece);
  }
  return [band, pieces];
}

function changes(slider, region, point, pieces, label) {
  if (pieces === null) return [`${label}changes not searched: what depends on it is no polynomial`];
  const shown = [], own = pieces.findIndex(([from, to]) => from <= slider.value && slider.value <= to);
  const near = pieces.length <= MOST_CHANGES ? [1, pieces.length - 1] : [Math.max(1, own), Math.min(pieces.length - 1, own + 1)];
  for (let i = near[0]; i <= near[1]; i++) {
    const [from, , found] = pieces[i], before = pieces[i - 1][2];
    const here = cf_completed(region, { ...point, [slider.name]: from });
    const there = cf_completed(region, { ...point, [slider.name]: from - 1n });
    const why = [...region.facts.filter((fact) => fact.relation === CF_AT_MOST && cf_holds(fact, here) !== cf_holds(fact, there)),
      ...region.preconditions.filter((guard) => guard.holds(here) !== guard.holds(there))];
    shown.push(element("span", {}, i > near[0] ? "; " : label, element("code", {}, `${slider.name} = ${from}`),
      ` ${named(before)} → ${named(found)}${why.length ? ` (${why[0].text})` : ""}`));
  }
  return pieces.length <= MOST_CHANGES ? shown : [...shown, `; ${pieces.length - 1} changes in all`];
}

/* ---- a function: its sliders, and what follows from them */

class Function_ {
  constructor(data) {
    this.root = document.querySelector(`[data-function="${data.name}"]`);
    this.due = false;
    this.sliders = data.controls.map((control) =>
      new Slider(this.root.querySelector(`[data-control="${control.name}"]`), control, () => this.later()));
    this.regions = data.regions.map((name) => new Region(name, this.root.querySelector(`[data-region="${name}"]`)));
    this.root.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
    this.root.querySelector(".reset").addEventListener("click", () => {
      this.sliders.forEach((slider) => slider.set(slider.start));
      this.update();
    });
    this.update();
  }
  later() {
    if (this.due) return;
    this.due = true;
    requestAnimationFrame(() => {
      this.due = false;
      this.update();
    });
  }
  get point() {
    const machine = Object.entries(DATA.machine).map(([name, value]) => [name, BigInt(value)]);
    return Object.fromEntries([...machine, ...this.sliders.map((slider) => [slider.name, slider.value])]);
  }
  move(values) {
    for (const slider of this.sliders) if (slider.name in values) slider.set(values[slider.name]);
    this.update();
  }
  update() {
    this.regions.forEach((region) => region.update(this.point, this));
    for (const slider of this.sliders) {
      const line = slider.root.querySelector(".problem");
      line.textContent = slider.problem ?? "";
    }
    // What took long the last time waits until the sliders rest.
    clearTimeout(this.waiting);
    this.root.setAttribute("aria-busy", "true");
    if ((this.took ?? 0) < MOST_MILLISECONDS) this.thresholds();
    else this.waiting = setTimeout(() => this.thresholds(), REST_MILLISECONDS);
  }
  thresholds() {
    const point = this.point, begun = performance.now();
    this.root.setAttribute("aria-busy", "false");
    for (const slider of this.sliders) {
      const strips = this.regions.map((region) => [region, ...strip(slider, region.selection, point)]);
      const told = strips.flatMap(([region, , pieces]) =>
        changes(slider, region.selection, point, pieces, this.regions.length > 1 ? `${region.name}: ` : ""));
      slider.root.querySelector(".strips").replaceChildren(...strips.map(([, band]) => band));
      slider.root.querySelector(".changes").replaceChildren(...(told.length ? told : ["no change along this slider"]));
    }
    this.took = performance.now() - begun;
  }
}

class Region {
  constructor(name, root) {
    [this.name, this.root, this.selection, this.model] = [name, root, CF_REGIONS[name], DATA.models[name]];
    this.tabs = [...root.querySelectorAll("[role=tab]")];
    this.trees = [...root.querySelectorAll("[role=tree]")].map((tree) => new Tree(tree, root.querySelector(".quintuple")));
    for (const button of root.querySelectorAll("[data-tree]")) button.addEventListener("click", () => this.command(button));
    this.trees[0].show(this.trees[0].nodes[0]);
    root.querySelectorAll(".code").forEach((list) => listen(root, list));
    tabs(this.tabs);
    root.querySelectorAll(".node.leaf").forEach((node) => {
      if (node.closest("[data-written='1']")) colour(node, { kind: "leaf", index: Number(node.dataset.index) });
    });
  }
  command(button) {
    const action = button.dataset.tree;
    if (action === "dead") {
      const shows = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(shows));
      this.root.querySelector(".trees").classList.toggle("hide-dead", !shows);
    } else {
      this.trees.forEach((tree) => tree.foldAll(action === "fold"));
    }
  }
  update(point, owner) {
    const found = cf_select(this.selection, point);
    this.verdict(found);
    this.conditions(found, point);
    this.occupancy(found, point);
    this.cases(found, point);
    this.bars(point, owner);
    this.trees[0].mark(found);
    this.planes(point);
    this.tabs.forEach((tab) => tab.classList.toggle("runs-now", found.kind === "leaf" && tab.dataset.kind === "leaf" && Number(tab.dataset.index) === found.index));
    this.root.dataset.found = named(found);
  }
  verdict(found) {
    const shown = this.root.querySelector(".verdict");
    const mark = colour(element("span", { class: "mark" }), found);
    if (found.kind === "leaf") {
      const link = element("a", { href: `#${this.name}-leaf-${found.index}` }, element("strong", {}, named(found)));
      link.addEventListener("click", (event) => { event.preventDefault(); choose(`${this.name}-leaf-${found.index}`); });
      shown.replaceChildren(mark, link, " runs");
    } else {
      const words = { "dead end": "no variant fits", refused: "the call is refused", none: "no case holds" }[found.kind];
      const because = found.kind === "refused" ? `${found.because} does not hold` : found.because;
      shown.replaceChildren(mark, element("strong", {}, words), " ",
        element("small", {}, `${found.kind === "dead end" ? `${named(found)}, where ` : ""}${because}`));
    }
  }
  conditions(found, point) {
    const v = cf_completed(this.selection, point);
    const number = found.kind === "dead end" ? -1 - found.index : found.index;
    const own = found.kind === "leaf" || found.kind === "dead end" ? this.selection.cases.find((each) => each.leaf === number) : null;
    const lines = this.selection.preconditions.map((guard) => condition(`assert(${guard.text})`, guard.holds(v), ""));
    if (own) {
      lines.push(...own.facts.map((at) => this.selection.facts[at]).map((fact) =>
        condition(fact.text, cf_holds(fact, v), `${grouped(fact.needed(v))} ${fact.relation === CF_EQUAL ? "=" : fact.relation} ${grouped(fact.available(v))}`)));
    }
    this.root.querySelector(".conditions").replaceChildren(element("ul", {}, ...lines));
  }
  occupancy(found, point) {
    const shown = this.root.querySelector(".occupancy");
    if (found.kind !== "leaf") return shown.replaceChildren();
    const held = cf_occupancy(this.selection.residencies[found.index], point);
    const share = held.most > 0n ? Number(100n * held.resident / held.most) : 0;
    const bar = element("div", { class: "meter", role: "img", "aria-label": `occupancy ${share} %` }, element("span", { style: `width: ${share}%` }));
    colour(bar, found);
    shown.replaceChildren(element("p", { class: "big" }, `Occupancy ${share} %`), bar,
      element("p", { class: "note" }, `${held.resident} of ${held.most} warps of a multiprocessor: ${held.blocks} blocks of ${held.warps}, as many as ${held.limits.join(" and ")} allow`));
  }
  cases(found, point) {
    const v = cf_completed(this.selection, point);
    const rows = this.selection.cases.map((each) => {
      const kind = each.leaf < 0 ? { kind: "dead end", index: -1 - each.leaf } : { kind: "leaf", index: each.leaf };
      const failing = each.facts.map((at) => this.selection.facts[at]).find((fact) => !cf_holds(fact, v));
      const verdict = same(kind, found) ? (each.leaf < 0 ? "applies" : "runs") : failing ? "does not" : "fits";
      const held = each.leaf < 0 ? null : cf_occupancy(this.selection.residencies[each.leaf], point);
      return element("tr", {}, element("th", { scope: "row" }, colour(element("span", { class: "mark" }), kind), named(kind)), element("td", {}, verdict),
        element("td", {}, failing ? element("code", {}, failing.text) : "", failing ? ` is ${grouped(failing.needed(v))} ${failing.relation} ${grouped(failing.available(v))}` : found.kind === "refused" ? `the call is refused: ${found.because}` : ""),
        element("td", {}, held ? `${held.resident} of ${held.most}` : ""));
    });
    rows.push(...this.selection.tiles.map((tile) => {
      const obstacle = cf_obstacle(this.selection, tile, point);
      return element("tr", {}, element("th", { scope: "row" }, tile.name), element("td", {}, obstacle ? "does not fit" : "fits"), element("td", {}, obstacle), element("td", {}, ""));
    }));
    this.root.querySelector(".cases tbody").replaceChildren(...rows);
  }
  bars(point, owner) {
    const shown = this.root.querySelector(".model");
    const key = this.model.order.map((name) => `${name}=${point[name]}`).join(",");
    const moved = owner.sliders.filter((slider) => slider.name in DATA.machine && slider.value !== slider.start);
    const found = moved.length ? null : this.model.points[key];
    const taken = found ? found.find(([, is_taken]) => is_taken) : undefined;
    const instead = taken ? this.model.names[taken[0]] : "leaf";
    this.root.querySelector(".instead").replaceChildren(instead.startsWith("leaf") ? ""
      : `The launcher takes ${instead} in its place, which is expected to be faster, unless it is asked for the leaf (tile = 0).`);
    if (!found) {
      const back = element("button", { type: "button" }, "Back to the start");
      back.addEventListener("click", () => owner.root.querySelector(".reset").click());
      const why = moved.length ? "limits of the device were moved" : Object.keys(this.model.points).length ? "more than one slider was moved, or one beside its stops, or the call is refused" : "a value is not known before the launch";
      shown.replaceChildren(element("p", { class: "note" }, `Not evaluated at this point: ${why}. `, ...(Object.keys(this.model.points).length ? [back] : [])));
      return;
    }
    const fitting = found.filter(([, , , cycles]) => typeof cycles === "number");
    const longest = Math.max(1, ...fitting.map(([, , sweeps, cycles]) => cycles / sweeps));
    const rows = found.map(([at, taken, sweeps, cycles, bounds]) => {
      const name = this.model.names[at] + (taken ? ", taken" : "");
      if (typeof cycles !== "number") return element("p", { class: "note" }, `${name} does not fit: ${cycles}`);
      const largest = Math.max(1, ...bounds.filter((_, i) => i % 2));
      const parts = [];
      for (let i = 0; i < bounds.length; i += 2) {
        parts.push(element("div", { class: "bound" }, element("span", {}, this.model.terms[bounds[i]]),
          bar(bounds[i + 1] / largest, bounds[i + 1] === largest), element("span", { class: "value" }, grouped(bounds[i + 1]))));
      }
      const details = element("details", { class: taken ? "candidate taken" : "candidate" },
        element("summary", {}, element("span", {}, name), bar(cycles / sweeps / longest, false),
          element("span", { class: "value" }, grouped(cycles) + (sweeps > 1 ? ` / ${sweeps} sweeps` : ""))), ...parts);
      details.open = Boolean(taken);
      return details;
    });
    shown.replaceChildren(...rows);
  }
  planes(point) {
    for (const figure of this.root.querySelectorAll(".plane")) {
      const [left, top, width, height] = JSON.parse(figure.dataset.frame);
      const places = [figure.dataset.x, figure.dataset.y].map((name, i) => {
        const [low, high, logarithmic] = JSON.parse(figure.dataset.axes)[i], value = Number(point[name]);
        return logarithmic ? Math.log(Math.max(value, 1e-9) / low) / Math.log(high / low) : (value - low) / (high - low);
      });
      const inside = places.every((place) => place >= 0 && place <= 1);
      const elsewhere = JSON.parse(figure.dataset.fixed).filter(([name, value]) => name in point && String(point[name]) !== value);
      const [x, y] = [left + width * places[0], top + height * (1 - places[1])];
      const dot = figure.querySelector(".dot");
      dot.setAttribute("cx", inside ? x : -20);
      dot.setAttribute("cy", inside ? y : -20);
      dot.classList.toggle("elsewhere", elsewhere.length > 0);
      figure.querySelector(".cross").setAttribute("d", inside ? `M${left} ${y}H${left + width}M${x} ${top}V${top + height}` : "");
      figure.querySelector(".here").textContent = elsewhere.length
        ? `The sliders are in another plane: ${elsewhere.map(([name]) => `${name} = ${point[name]}`).join(", ")}.`
        : inside ? "The ring is where the sliders are." : "The sliders are outside of the picture.";
    }
  }
}

function condition(text, holds, numbers) {
  return element("li", { class: holds ? "holds" : "fails" }, element("code", {}, text), element("span", { class: "numbers" }, numbers));
}
function bar(share, decides) {
  return element("div", { class: decides ? "bar decides" : "bar" }, element("span", { style: `width: ${(100 * share).toFixed(1)}%` }));
}

/* ---- the tree: one node at a time can be reached by Tab, arrow keys go on from there */

class Tree {
  constructor(root, panel) {
    [this.root, this.panel] = [root, panel];
    this.nodes = [...root.querySelectorAll("[role=treeitem]")];
    this.nodes[0].tabIndex = 0;
    root.addEventListener("keydown", (event) => this.key(event));
    root.addEventListener("click", (event) => {
      const node = event.target.closest("[role=treeitem]");
      if (event.target.closest(".fold")) this.fold(node, node.getAttribute("aria-expanded") === "true");
      this.select(node);
    });
  }
  get visible() {
    return this.nodes.filter((node) => node.querySelector(".row").getClientRects().length > 0);
  }
  fold(node, folded) {
    if (node.hasAttribute("aria-expanded")) node.setAttribute("aria-expanded", String(!folded));
  }
  foldAll(folded) {
    this.nodes.forEach((node) => this.fold(node, folded));
    if (folded) this.focusable(this.nodes[0]);
  }
  focusable(node) {
    this.nodes.forEach((each) => { each.tabIndex = each === node ? 0 : -1; });
  }
  select(node) {
    this.show(node);
    this.focusable(node);
    node.focus({ preventScroll: true });
    node.querySelector(".row").scrollIntoView({ block: "nearest" });
  }
  show(node) {
    for (const other of this.panel.parentElement.querySelectorAll("[aria-selected=true]")) other.setAttribute("aria-selected", "false");
    node.setAttribute("aria-selected", "true");
    quintuple(this.panel, node);
  }
  key(event) {
    const node = event.target.closest("[role=treeitem]"), visible = this.visible, at = visible.indexOf(node);
    const expanded = node.getAttribute("aria-expanded");
    const to = {
      ArrowDown: () => visible[at + 1], ArrowUp: () => visible[at - 1], Home: () => visible[0], End: () => visible.at(-1),
      ArrowRight: () => (expanded === "false" ? (this.fold(node, false), node) : expanded ? node.querySelector("[role=treeitem]") : null),
      ArrowLeft: () => (expanded === "true" ? (this.fold(node, true), node) : node.parentElement.closest("[role=treeitem]")),
      Enter: () => node, " ": () => (this.fold(node, expanded === "true"), node),
    }[event.key];
    if (!to || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const found = to();
    if (found) this.select(found);
  }
  /* Marks the way to the case that holds; a fold that hides it stays as it is. */
  mark(found) {
    this.nodes.forEach((node) => node.classList.remove("on-path"));
    const end = this.nodes.find((node) => node.dataset.kind === found.kind && Number(node.dataset.index) === found.index);
    for (let node = end; node; node = node.parentElement.closest("[role=treeitem]")) node.classList.add("on-path");
  }
}

function quintuple(panel, node) {
  const data = DATA.nodes[Number(node.dataset.node)], texts = (numbers) => numbers.map((at) => DATA.atoms[at]);
  const list = (items, none) => (items.length ? element("ul", {}, ...items.map((item) => element("li", {}, item))) : element("p", { class: "note" }, none));
  const entry = (letter, meaning, ...content) => [element("dt", {}, element("span", { class: "letter" }, letter), ` ${meaning}`), element("dd", {}, ...content)];
  const code = document.getElementById(`code-${data.G}`).content.cloneNode(true);
  panel.replaceChildren(
    element("h5", {}, node.querySelector(".title strong").textContent),
    ...texts(data.notes).map((note) => element("p", { class: "note" }, note)),
    element("dl", {},
      ...entry("C", "what holds here", list(texts(data.C), "nothing but the assumptions")),
      ...entry("γ", "counters that wait, the next one first", list(texts(data.g), "none: the quintuple is processed")),
      ...entry("λ", "strategies applied, the last one first", list(texts(data.l), "none so far")),
      ...entry("ω", "strategies left", list(texts(data.o), "none")),
      ...entry("G", "the code", code)));
  panel.scrollTop = 0;
}

/* ---- tabs of leaves */

function tabs(all) {
  const select = (tab) => {
    for (const each of all) {
      const chosen = each === tab;
      each.setAttribute("aria-selected", String(chosen));
      each.tabIndex = chosen ? 0 : -1;
      const panel = document.getElementById(each.getAttribute("aria-controls"));
      panel.classList.toggle("shown", chosen);
      if (chosen) borrow(panel);
    }
    relink(tab.closest(".region"));
  };
  all.forEach((tab, at) => {
    tab.addEventListener("click", () => select(tab));
    tab.addEventListener("keydown", (event) => {
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      const other = all[(to + all.length) % all.length];
      select(other);
      other.focus();
    });
  });
  if (all.length) select(all[0]);
}

/* Leaves may share a kernel, whose code is on the page once: the others get a copy when they are shown. */
function borrow(panel) {
  if (!panel.dataset.sameAs || panel.querySelector(".code")) return;
  const copy = document.getElementById(panel.dataset.sameAs).querySelector(".code").cloneNode(true);
  for (const line of copy.children) line.removeAttribute("id");
  panel.append(copy);
  listen(panel.closest(".region"), copy);
}

/* Shows a leaf: its tab, and the page at it. */
function choose(anchor) {
  const tab = document.getElementById(`${anchor}-tab`);
  tab.click();
  tab.scrollIntoView({ block: "start" });
  tab.focus({ preventScroll: true });
}
for (const link of document.querySelectorAll("[data-leaf]"))
  link.addEventListener("click", (event) => { event.preventDefault(); choose(link.dataset.leaf); });

/* ---- lines of the source and of kernels, linked both ways */

const lineOf = (line) => line.dataset.source ?? line.dataset.line;
function shownCode(region) {
  return [...region.querySelectorAll(".source-pane .code, .leaf.shown .code")];
}
function relink(region) {
  const [source, kernel] = shownCode(region);
  const known = new Set([...(kernel?.children ?? [])].map((line) => line.dataset.source));
  for (const line of source.children) line.classList.toggle("linked", known.has(line.dataset.line));
}
function light(region, line) {
  const number = lineOf(line), own = line.closest(".code");
  for (const list of shownCode(region)) {
    let first = null;
    for (const each of list.children) {
      const lit = number !== undefined && lineOf(each) === number;
      each.classList.toggle("lit", lit);
      if (lit) first ??= each;
      each.setAttribute("aria-selected", String(each === line || (list !== own && lit && each === first)));
    }
    if (first && list !== own) list.scrollTop = first.offsetTop - list.offsetTop - list.clientHeight / 3;
  }
  const rect = line.offsetTop - own.offsetTop;
  if (rect < own.scrollTop || rect + line.offsetHeight > own.scrollTop + own.clientHeight) own.scrollTop = rect - own.clientHeight / 2;
  if (!line.id) line.id = `line-${light.count = (light.count ?? 0) + 1}`;
  own.setAttribute("aria-activedescendant", line.id);
}
function listen(region, list) {
  list.addEventListener("click", (event) => {
    const line = event.target.closest("li");
    if (line) light(region, line);
  });
  list.addEventListener("keydown", (event) => {
    const lines = [...list.children], at = lines.findIndex((line) => line.getAttribute("aria-selected") === "true");
    const to = { ArrowDown: at + 1, ArrowUp: Math.max(at, 1) - 1, Home: 0, End: lines.length - 1 }[event.key];
    if (to === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    if (lines[to]) light(region, lines[to]);
  });
}

/* ---- printing shows what is folded */

let unfolded = [];
addEventListener("beforeprint", () => {
  unfolded = [...document.querySelectorAll("details:not([open])")];
  unfolded.forEach((details) => { details.open = true; });
});
addEventListener("afterprint", () => unfolded.forEach((details) => { details.open = false; }));

const FUNCTIONS = DATA.functions.map((data) => new Function_(data));
