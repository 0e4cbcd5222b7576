// The network widget: the drawing that Python laid out, with what only a browser can do: pan, zoom, search, choosing a
// box, colours by measure, and numbers that change in place. Everything shown was sent by the kernel; nothing is loaded.

const SVG = "http://www.w3.org/2000/svg";
const LEVELS = 5;
const READABLE = 0.6; // scale
const ROWS_HERE = "▁", TIME_HERE = "▂";
const SCALES = {
  time: { label: "time of the last batch", text: milliseconds },
  rows: { label: "rows of the last batch", text: count },
  queries: { label: "number of queries", text: count },
};

const NUMBER = new Intl.NumberFormat("en", { maximumFractionDigits: 0 }); // making one is slow, and there are thousands of numbers

function count(n) { return NUMBER.format(n); }
function milliseconds(seconds) { return `${count(seconds * 1000)} ms`; }
function bytes(n) {
  for (const [unit, size] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]]) if (n >= size) return `${(n / size).toFixed(1)} ${unit}`;
  return `${n} bytes`;
}

function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

class View {
  constructor(model, el) {
    this.model = model;
    this.place = { x: 0, y: 0, k: 1 };
    this.boxes = new Map();
    this.build(el);
    this.followed = [];
    const follow = (name, action) => {
      model.on(`change:${name}`, action);
      this.followed.push([`change:${name}`, action]);
    };
    follow("drawing", () => this.draw());
    follow("numbers", () => this.fill());
    follow("scale", () => { this.scale.value = model.get("scale"); this.paint(); });
    follow("selected", () => { this.mark(); this.detail(); });
    follow("series", () => this.chart());
    follow("focus", () => this.choices());
    follow("names", () => this.choices());
    this.choices();
    this.draw();
    this.resized = new ResizeObserver(() => this.untouched && this.start());
    this.resized.observe(this.pane);
  }

  build(el) {
    const set = (name, value) => { this.model.set(name, value); this.model.save_changes(); };
    this.search = make("input", { type: "search", placeholder: "Search nodes", "aria-label": "Search nodes",
      oninput: () => this.find(), onkeydown: (event) => { if (event.key === "Enter") this.next(event.shiftKey ? -1 : 1); } });
    this.found = make("span", { class: "argus-faint", role: "status" });
    this.focus = make("select", { "aria-label": "Focus on a query", onchange: () => set("focus", this.focus.value) });
    this.scale = make("select", { "aria-label": "Colour by", onchange: () => set("scale", this.scale.value) },
      ...Object.entries(SCALES).map(([name, { label }]) => make("option", { value: name }, label)));
    this.scale.value = this.model.get("scale");
    const button = (label, title, action) => make("button", { title, "aria-label": title, type: "button", onclick: action }, label);
    this.legend = make("div", { class: "argus-legend", "aria-label": "Legend" });
    this.pane = make("div", { class: "argus-pane", tabindex: "0", role: "application",
      "aria-label": "Query network. Arrow keys go from box to box, Enter opens or closes a local tree, plus and minus zoom, 0 shows all." });
    this.side = make("div", { class: "argus-side", "aria-live": "polite" });
    el.append(make("div", { class: "argus-network" },
      make("div", { class: "argus-bar" },
        this.search, this.found,
        make("label", {}, "Focus ", this.focus),
        make("label", {}, "Colour by ", this.scale),
        make("span", { class: "argus-zoom" },
          button("−", "Zoom out", () => this.zoom(1 / 1.3)), button("+", "Zoom in", () => this.zoom(1.3)),
          button("Fit", "Show all", () => this.fit()))),
      make("div", { class: "argus-body" }, this.pane, this.side),
      this.legend));
    this.pane.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey && document.activeElement !== this.pane) return; // let the page scroll
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY / 300), event);
    }, { passive: false });
    this.pane.addEventListener("pointerdown", (event) => this.drag(event));
    this.pane.addEventListener("keydown", (event) => this.key(event));
  }

  choices() {
    const names = this.model.get("names");
    this.focus.replaceChildren(make("option", { value: "" }, "all queries"),
      ...names.map((name) => make("option", { value: name }, name)));
    this.focus.value = this.model.get("focus");
  }

  // -- the drawing ------------------------------------------------------------------------------------------------

  draw() {
    const before = this.boxes, kept = this.model.get("selected");
    const where = before.get(kept)?.getBoundingClientRect();
    const parsed = new DOMParser().parseFromString(this.model.get("drawing"), "image/svg+xml").documentElement;
    this.svg = document.importNode(parsed, true);
    this.size = (this.svg.getAttribute("viewBox") ?? "0 0 0 0").split(" ").slice(2).map(Number);
    for (const name of ["width", "height", "viewBox"]) this.svg.removeAttribute(name);
    this.graph = this.svg.querySelector("g.graph");
    this.base = this.graph.getAttribute("transform").match(/translate\(([-\d.]+)[ ,]([-\d.]+)\)/).slice(1).map(Number);
    this.boxes = new Map();
    this.frames = new Map();
    for (const group of this.svg.querySelectorAll("g.node, g.cluster")) {
      const title = group.querySelector(":scope > title"), name = title.textContent;
      title.remove();
      if (group.classList.contains("cluster")) { this.frames.set(name.replace("cluster_", ""), group); continue; }
      group.dataset.box = name;
      this.boxes.set(name, group);
      for (const text of group.querySelectorAll("text")) {
        if (text.textContent.includes(ROWS_HERE)) group.rows = text;
        else if (text.textContent.includes(TIME_HERE)) group.time = text;
      }
      for (const text of [group.rows, group.time]) if (text) text.textContent = "";
      group.addEventListener("click", () => this.moved || this.choose(name));
      group.addEventListener("dblclick", () => this.toggle(name));
    }
    for (const title of this.svg.querySelectorAll("g.edge > title, g.graph > title")) title.remove();
    this.svg.setAttribute("width", "100%");
    this.svg.setAttribute("height", "100%");
    this.fill();
    const stays = where && this.boxes.get(kept) && this.sameFocus === this.model.get("focus");
    // Text that is on the page is laid out anew at another scale, so what is new gets its scale before.
    if (!stays) this.start();
    this.pane.replaceChildren(this.svg);
    if (stays) {
      this.apply();
      const now = this.boxes.get(kept).getBoundingClientRect(); // what was chosen stays where it was
      this.place.x += where.x - now.x;
      this.place.y += where.y - now.y;
      this.apply();
    }
    this.sameFocus = this.model.get("focus");
    this.mark();
    this.detail();
    this.find();
  }

  // What is shown first: all of it where that can be read, else the drawing's left side around its first box.
  start() {
    const pane = this.fit(READABLE), first = this.corner(this.boxes.values().next().value), { k } = this.place;
    if (!first || !pane.width || this.whole) return;
    if (k * this.size[0] > pane.width) this.place.x = 12 - k * first.x;
    if (k * this.size[1] > pane.height) this.place.y = pane.height / 2 - k * first.y;
    this.apply();
    this.untouched = true;
  }

  // The upper left corner of a box in the drawing, whose shape is a path or a polygon.
  corner(group) {
    const shape = group?.querySelector("path, polygon"), points = shape?.getAttribute("d") ?? shape?.getAttribute("points");
    if (!points) return null;
    const numbers = points.match(/-?[\d.]+/g).map(Number), least = (from) => Math.min(...numbers.filter((_, i) => i % 2 === from));
    return { x: this.base[0] + least(0), y: this.base[1] + least(1) };
  }

  // All of the drawing in the pane, but not below a scale; the pane's place.
  fit(least = 0) {
    const pane = this.pane.getBoundingClientRect(), [width, height] = this.size;
    this.untouched = true;
    if (!width || !pane.width) return pane;
    const all = Math.min((pane.width - 16) / width, (pane.height - 16) / height);
    const k = Math.min(1.25, Math.max(least, all));
    this.whole = k <= all;
    this.place = { k, x: (pane.width - k * width) / 2, y: (pane.height - k * height) / 2 };
    this.apply();
    this.untouched = least > 0;
    return pane;
  }

  apply() {
    const { x, y, k } = this.place;
    this.untouched = false;
    this.graph.setAttribute("transform", `translate(${x + k * this.base[0]} ${y + k * this.base[1]}) scale(${k})`);
  }

  zoom(factor, event) {
    const pane = this.pane.getBoundingClientRect();
    const x = event ? event.clientX - pane.x : pane.width / 2, y = event ? event.clientY - pane.y : pane.height / 2;
    const k = Math.min(4, Math.max(0.02, this.place.k * factor)), by = k / this.place.k;
    this.place = { k, x: x - by * (x - this.place.x), y: y - by * (y - this.place.y) };
    this.apply();
  }

  drag(start) {
    if (start.button !== 0) return;
    const from = { ...this.place };
    this.moved = false;
    const move = (event) => {
      const x = event.clientX - start.clientX, y = event.clientY - start.clientY;
      if (!this.moved && Math.hypot(x, y) < 4) return;
      this.moved = true;
      this.place = { ...this.place, x: from.x + x, y: from.y + y };
      this.apply();
    };
    const end = () => {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", end);
      setTimeout(() => { this.moved = false; });
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", end);
  }

  key(event) {
    const steps = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
    const actions = { "+": () => this.zoom(1.3), "=": () => this.zoom(1.3), "-": () => this.zoom(1 / 1.3), 0: () => this.fit(),
      Enter: () => this.toggle(this.model.get("selected")), Escape: () => this.choose("") };
    if (steps[event.key]) this.step(...steps[event.key]);
    else if (actions[event.key]) actions[event.key]();
    else return;
    event.preventDefault();
    event.stopPropagation(); // JupyterLab has meanings of its own for these keys
  }

  step(right, down) {
    const center = (group) => { const r = group.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; };
    const from = this.boxes.get(this.model.get("selected"));
    if (!from) return this.choose(this.boxes.keys().next().value ?? "");
    const [x, y] = center(from);
    let best = null, least = Infinity;
    for (const [name, group] of this.boxes) {
      if (group === from || !this.known(name)) continue;
      const [a, b] = center(group), along = (a - x) * right + (b - y) * down, aside = Math.abs((a - x) * down) + Math.abs((b - y) * right);
      if (along > 1 && along + 2 * aside < least) [best, least] = [name, along + 2 * aside];
    }
    if (best) { this.choose(best); this.reveal(best); }
  }

  reveal(name) {
    const pane = this.pane.getBoundingClientRect(), box = this.boxes.get(name).getBoundingClientRect();
    if (box.x < pane.x || box.right > pane.right) this.place.x += pane.x + pane.width / 2 - (box.x + box.width / 2);
    if (box.y < pane.y || box.bottom > pane.bottom) this.place.y += pane.y + pane.height / 2 - (box.y + box.height / 2);
    this.apply();
  }

  // -- numbers and colours ----------------------------------------------------------------------------------------

  known(box) { return this.model.get("nodes")[box]; }

  fill() {
    const { rows = {}, seconds = {} } = this.model.get("numbers");
    for (const [name, group] of this.boxes) {
      const node = this.known(name);
      if (!node) continue;
      const [into, out] = rows[name] ?? [0, 0];
      const idle = !(node.root in seconds);
      if (group.rows) group.rows.textContent = idle ? "" : node.kind === "source" ? `${count(out)} rows` : `${count(into)} → ${count(out)}`;
      if (group.time) group.time.textContent = idle ? "" : milliseconds(seconds[node.root]);
    }
    this.paint();
    this.latest();
  }

  value(node) {
    const { rows = {}, seconds = {} } = this.model.get("numbers");
    switch (this.model.get("scale")) {
      case "time": return seconds[node.root] ?? 0;
      case "rows": return rows[node.id]?.[1] ?? 0;
      default: return node.queries.length;
    }
  }

  paint() {
    const nodes = Object.values(this.model.get("nodes"));
    const most = Math.max(0, ...nodes.map((node) => this.value(node)));
    const level = (value) => (value > 0 && most > 0 ? Math.max(1, Math.ceil((LEVELS * value) / most)) : 0);
    const bytime = this.model.get("scale") === "time";
    for (const [name, group] of this.boxes) {
      const node = this.known(name);
      // A tree is timed as a whole, so its frame has the colour and not its nodes.
      if (node) group.dataset.level = bytime && this.frames.has(node.root) ? 0 : level(this.value(node));
    }
    for (const [root, frame] of this.frames) frame.dataset.level = bytime ? level(this.value(this.known(root))) : 0;
    const { text, label } = SCALES[this.model.get("scale")];
    this.legend.replaceChildren(`${label}: `, ...Array.from({ length: LEVELS }, (_, i) => make("span", { "data-level": i + 1 },
      most ? `${i ? "" : "> 0 "}≤ ${text((most * (i + 1)) / LEVELS)}` : "–")),
      make("span", { class: "argus-hint" }, "double click or Enter: open, close a tree · drag: move · click, then wheel: zoom"));
  }

  // -- search -----------------------------------------------------------------------------------------------------

  find() {
    const words = this.search.value.toLowerCase().trim(), boxes = this.model.get("boxes");
    const nodes = this.model.get("nodes");
    const text = (id) => `${id} ${nodes[id].sql} ${nodes[id].label.join(" ")}`.toLowerCase();
    const hits = words ? Object.keys(nodes).filter((id) => text(id).includes(words)) : [];
    this.hits = [...new Set(hits.map((id) => boxes[id]).filter(Boolean))];
    this.pane.classList.toggle("searching", words !== "");
    for (const [name, group] of this.boxes) group.classList.toggle("found", this.hits.includes(name));
    this.found.textContent = words ? `${hits.length} node${hits.length === 1 ? "" : "s"} in ${this.hits.length} box${this.hits.length === 1 ? "" : "es"}` : "";
    this.at = -1;
  }

  next(by) {
    if (!this.hits.length) return;
    this.at = (this.at + by + this.hits.length) % this.hits.length;
    const name = this.hits[this.at];
    if (this.known(name)) this.choose(name);
    this.reveal(name);
  }

  // -- choosing ---------------------------------------------------------------------------------------------------

  choose(name) {
    if (name && !this.known(name)) return;
    this.model.set("selected", name);
    this.model.save_changes();
  }

  toggle(name) {
    const root = this.known(name)?.root ?? name.replace(/^rest /, "");
    if (!this.known(root)) return;
    const toggled = this.model.get("toggled");
    this.model.set("selected", root);
    this.model.set("toggled", toggled.includes(root) ? toggled.filter((other) => other !== root) : [...toggled, root]);
    this.model.save_changes();
  }

  mark() {
    const chosen = this.model.get("selected"), node = this.known(chosen);
    for (const [name, group] of this.boxes) {
      group.classList.toggle("chosen", name === chosen);
      group.classList.toggle("parent", Boolean(node?.parents.includes(name)));
    }
  }

  detail() {
    const node = this.known(this.model.get("selected"));
    if (!node) {
      this.side.replaceChildren(make("p", { class: "argus-faint" }, this.boxes.size ? "Choose a box to see what it computes, from what, and for which queries."
        : "There are no queries yet. Register one with %%argus."));
      return;
    }
    const part = (title, ...content) => make("section", {}, make("h4", {}, title), ...content);
    const link = (text, title, action) => make("button", { class: "argus-link", type: "button", title, onclick: action }, text);
    const boxes = this.model.get("boxes"), names = this.model.get("names");
    const goto = (id) => () => { this.choose(boxes[id] === id ? id : this.known(id).root); this.reveal(this.model.get("selected")); };
    const queries = node.queries.map((i) => names[i]);
    const listed = queries.slice(0, 30).map((name) => link(name, `focus on ${name}`, () => { this.model.set("focus", name); this.model.save_changes(); }));
    this.latestPlace = make("div");
    this.chartPlace = make("div", { class: "argus-charts" });
    this.side.replaceChildren(
      make("h3", {}, `${node.sign} ${node.kind} `, make("code", {}, node.id)),
      part("SQL", make("pre", {}, node.sql)),
      node.label.length ? part("Canonical form", make("pre", {}, node.label.join("\n"))) : null,
      node.parents.length ? part("Computed from", ...node.parents.map((id) => link(`${this.known(id).sign} ${id}`, this.known(id).sql, goto(id)))) : null,
      part(queries.length === 1 ? "Serves 1 query" : `Serves ${queries.length} queries`, ...listed,
        queries.length > listed.length ? ` and ${queries.length - listed.length} more` : ""),
      part("Last batch", this.latestPlace, this.chartPlace),
      part("Columns", make("p", { class: "argus-columns" }, node.columns.join(", "))));
    this.latest();
    this.chart();
  }

  latest() {
    const node = this.known(this.model.get("selected"));
    if (!node || !this.latestPlace) return;
    const { batch, rows = {}, seconds = {}, alone = {} } = this.model.get("numbers");
    const [into, out] = rows[node.id] ?? [0, 0];
    const whole = node.tree > 1 ? ` for its tree of ${node.tree} nodes` : "";
    const own = node.id in alone ? `, ${milliseconds(alone[node.id])} alone` : "";
    this.latestPlace.textContent = !batch ? "no batch was run yet"
      : !(node.root in seconds) ? `batch ${batch}: nothing to do`
        : `batch ${batch}: ${node.kind === "source" ? "" : `${count(into)} rows in, `}${count(out)} out, ${milliseconds(seconds[node.root])}${whole}${own}`;
  }

  chart() {
    const { node, batches = [], rows = [], seconds = [], kept = [0, 0] } = this.model.get("series");
    if (!this.chartPlace || node !== this.model.get("selected") || !batches.length) return;
    const bars = (title, values, text) => {
      const most = Math.max(...values, 0) || 1, width = 260, each = width / Math.max(values.length, 20);
      const svg = document.createElementNS(SVG, "svg");
      svg.setAttribute("viewBox", `0 0 ${width} 36`);
      svg.setAttribute("role", "img");
      svg.setAttribute("aria-label", `${title}: ${values.map(text).join(", ")}`);
      values.forEach((value, i) => {
        const bar = document.createElementNS(SVG, "rect"), high = Math.max(value ? 1 : 0, (34 * value) / most);
        for (const [name, is] of Object.entries({ x: i * each, y: 36 - high, width: Math.max(1, each - 1), height: high })) bar.setAttribute(name, is);
        bar.append(document.createElementNS(SVG, "title"));
        bar.firstChild.textContent = `batch ${batches[i]}: ${text(value)}`;
        svg.append(bar);
      });
      return make("figure", {}, make("figcaption", {}, `${title}, up to ${text(most)}`), svg);
    };
    this.chartPlace.replaceChildren(bars("Rows out", rows, count), bars("Time", seconds, milliseconds),
      make("p", {}, `Kept: ${count(kept[0])} rows, ${bytes(kept[1])}`));
  }

  end() {
    this.resized.disconnect();
    for (const [name, action] of this.followed) this.model.off(name, action);
  }
}

export default {
  render({ model, el }) {
    const view = new View(model, el);
    return () => view.end();
  },
};
