// The network widget: the drawing that Python laid out, with what only a browser can do: pan, zoom, search, choosing a
// box, colours by measure, and numbers that change in place. Everything shown was sent by the kernel; nothing is loaded.

const ROWS_HERE = "▁", TIME_HERE = "▂";
const NOTHING = '<svg xmlns="http://www.w3.org/2000/svg"><g class="graph" transform="translate(0 0)"/></svg>'; // not looked at yet
const OTHERS = "others"; // the box that stands for all trees that are not drawn

class View {
  constructor(model, el) {
    this.model = model;
    this.id = `argus-${Math.random().toString(36).slice(2)}`; // one node may be drawn in several views of a page
    this.boxes = new Map();
    this.build(el);
    this.followed = [];
    const follow = (name, action) => {
      model.on(`change:${name}`, action);
      this.followed.push([`change:${name}`, action]);
    };
    follow("drawing", () => this.draw());
    follow("numbers", () => { this.fill(); this.side.chart(); });
    follow("batches", () => this.timeline.refresh());
    follow("at", () => this.timeline.refresh());
    follow("scale", () => { this.scale.value = model.get("scale"); this.paint(); });
    follow("load", () => { this.load.value = model.get("load"); this.paint(); });
    follow("selected", () => { this.mark(); this.side.refresh(); });
    follow("series", () => this.side.chart());
    follow("focus", () => this.chooser.refresh());
    follow("names", () => this.chooser.refresh());
    this.draw();
    this.resized = new ResizeObserver(() => this.camera.untouched && this.camera.start());
    this.resized.observe(this.pane);
  }

  build(el) {
    this.search = make("input", { type: "search", placeholder: "Search nodes", "aria-label": "Search nodes",
      oninput: () => this.find(), onkeydown: (event) => { if (event.key === "Enter") this.next(event.shiftKey ? -1 : 1); } });
    this.found = make("span", { class: "argus-faint", role: "status" });
    this.scale = make("select", { "aria-label": "Colour by", onchange: () => this.set("scale", this.scale.value) },
      ...Object.entries(SCALES).map(([name, { label }]) => make("option", { value: name }, label)));
    this.scale.value = this.model.get("scale");
    this.load = make("select", { "aria-label": "Edges by", onchange: () => this.set("load", this.load.value) },
      ...Object.keys(LOADS).map((name) => make("option", { value: name }, name)));
    this.load.value = this.model.get("load");
    this.pane = make("div", { class: "argus-pane", tabindex: "0", role: "application",
      "aria-label": "Query network. Arrow keys go from box to box, Enter opens or closes a local tree, plus and minus zoom, 0 shows all, F fills the screen." });
    this.pane.addEventListener("keydown", (event) => this.key(event));
    this.camera = new Camera(this.pane);
    this.chooser = new Chooser(this.model);
    this.colours = new Colours(this.model);
    this.timeline = new Timeline(this.model);
    this.side = new Side(this.model, (id) => { this.choose(id); this.reveal(id); });
    this.root = make("div", { class: "argus-network" },
      make("div", { class: "argus-bar" },
        this.chooser.element, this.search, this.found,
        make("label", {}, "Colour by ", this.scale), make("label", {}, "Edges by ", this.load),
        make("span", { class: "argus-zoom" },
          button("−", "Zoom out", () => this.camera.zoom(1 / 1.3)), button("+", "Zoom in", () => this.camera.zoom(1.3)),
          button("Fit", "Show all", () => this.camera.fit()),
          button("SVG", "Save the drawing as SVG", () => this.save("svg")), button("PNG", "Save the drawing as PNG", () => this.save("png")),
          button("Full screen", "Fill the screen, or no longer", () => this.fillScreen()))),
      this.timeline.element,
      make("div", { class: "argus-body" }, this.pane, this.side.element),
      this.colours.legend);
    el.append(this.root);
  }

  set(name, value) {
    this.model.set(name, value);
    this.model.save_changes();
  }

  known(id) { return this.model.get("nodes")[id]; }

  async save(kind) {
    const { size, base } = this.camera, text = standalone(this.svg, size, base, getComputedStyle(this.root).backgroundColor);
    download(kind === "png" ? await asPng(text, size) : new Blob([text], { type: "image/svg+xml" }), `network.${kind}`);
  }

  fillScreen() { return document.fullscreenElement ? document.exitFullscreen() : this.root.requestFullscreen(); }

  // The box that shows a node.
  boxOf(id) { return this.boxes.get(this.model.get("boxes")[id]); }

  // -- the drawing ------------------------------------------------------------------------------------------------

  draw() {
    const kept = this.model.get("selected"), where = this.boxOf(kept)?.getBoundingClientRect();
    const parsed = new DOMParser().parseFromString(this.model.get("drawing") || NOTHING, "image/svg+xml").documentElement;
    this.svg = document.importNode(parsed, true);
    const size = (this.svg.getAttribute("viewBox") ?? "0 0 0 0").split(" ").slice(2).map(Number);
    for (const name of ["width", "height", "viewBox"]) this.svg.removeAttribute(name);
    this.take();
    this.camera.take(this.svg.querySelector("g.graph"), size, this.boxes);
    this.svg.setAttribute("role", "group");
    this.svg.setAttribute("width", "100%");
    this.svg.setAttribute("height", "100%");
    this.fill();
    const sight = JSON.stringify(this.model.get("focus")), stays = where && this.boxOf(kept) && this.sight === sight;
    // Text that is on the page is laid out anew at another scale, so what is new gets its scale before.
    if (!stays) this.camera.start();
    this.pane.replaceChildren(this.svg, this.camera.map);
    if (stays) {
      this.camera.apply();
      this.camera.keep(where, this.boxOf(kept).getBoundingClientRect()); // what was chosen stays where it was
    }
    this.sight = sight;
    this.mark();
    this.side.refresh();
    this.find();
  }

  // Find the boxes, frames and edges of a drawing, and where the numbers stand in it.
  take() {
    this.boxes = new Map();
    this.frames = new Map();
    for (const group of this.svg.querySelectorAll("g.node, g.cluster")) {
      const title = group.querySelector(":scope > title"), name = title.textContent;
      title.remove();
      if (group.classList.contains("cluster")) { this.frames.set(name.replace("cluster_", ""), group); continue; }
      group.dataset.box = name;
      group.id = `${this.id}-${name.replaceAll(" ", "-")}`;
      group.setAttribute("role", "img");
      this.boxes.set(name, group);
      for (const text of group.querySelectorAll("text")) {
        if (text.textContent.includes(ROWS_HERE)) group.rows = text;
        else if (text.textContent.includes(TIME_HERE)) group.time = text;
      }
      for (const text of [group.rows, group.time]) if (text) text.textContent = "";
      group.addEventListener("click", () => this.camera.moved || this.choose(name));
      group.addEventListener("dblclick", () => this.toggle(name));
    }
    this.edges = this.read();
    this.svg.querySelector("g.graph > title")?.remove();
  }

  // Each edge with the pairs of nodes whose rows pass along it: one in its first box, one in its second box that reads it.
  read() {
    const boxes = this.model.get("boxes"), between = new Map();
    for (const node of Object.values(this.model.get("nodes"))) for (const parent of node.parents) {
      const edge = `${boxes[parent]}->${boxes[node.id]}`;
      between.set(edge, [...(between.get(edge) ?? []), [parent, node.id]]);
    }
    return [...this.svg.querySelectorAll("g.edge")].map((group) => {
      return { group, pairs: between.get(group.querySelector(":scope > title").textContent) ?? [] };
    });
  }

  fill() {
    const { rows = {}, seconds = {} } = this.model.get("numbers");
    for (const [name, group] of this.boxes) {
      const node = this.known(name);
      if (!node) { group.setAttribute("aria-label", [...group.querySelectorAll("text")].map((text) => text.textContent).join(" ")); continue; }
      const [into, out] = rows[name] ?? [0, 0];
      const idle = !(node.root in seconds);
      if (group.rows) group.rows.textContent = idle ? "" : node.kind === "source" ? `${count(out)} rows` : `${count(into)} → ${count(out)}`;
      if (group.time) group.time.textContent = idle ? "" : milliseconds(seconds[node.root]);
      group.setAttribute("aria-label", [`${node.kind} ${node.label.join(", ")}`, `for ${counted(node.queries.length, "query", "queries")}`,
        ...(idle ? [] : [`${counted(out, "row")} out`, milliseconds(seconds[node.root])])].join(", "));
    }
    this.paint();
    this.side.latest();
  }

  paint() { this.colours.paint(this.boxes, this.frames, this.edges); }

  // -- search -----------------------------------------------------------------------------------------------------

  find() {
    const words = this.search.value.toLowerCase().trim(), boxes = this.model.get("boxes"), nodes = this.model.get("nodes");
    const text = (id) => `${id} ${nodes[id].sql.replace(/«[^»]*»/g, "")} ${nodes[id].label.join(" ")}`.toLowerCase();
    this.hits = words ? Object.keys(nodes).filter((id) => boxes[id] && text(id).includes(words)) : [];
    const found = new Set(this.hits.map((id) => boxes[id]));
    this.pane.classList.toggle("searching", words !== "");
    for (const [name, group] of this.boxes) group.classList.toggle("found", found.has(name));
    this.found.textContent = words ? `${counted(this.hits.length, "node")} in ${counted(found.size, "box", "boxes")}` : "";
    this.at = -1;
  }

  // The next hit; one that is only counted is chosen all the same, so that it says which queries it serves.
  next(by) {
    if (!this.hits.length) return;
    this.at = (this.at + by + this.hits.length) % this.hits.length;
    this.choose(this.hits[this.at]);
    this.reveal(this.hits[this.at]);
    this.found.textContent = `${count(this.at + 1)} of ${counted(this.hits.length, "node")}`;
  }

  // -- choosing ---------------------------------------------------------------------------------------------------

  key(event) {
    const steps = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
    const actions = { "+": () => this.camera.zoom(1.3), "=": () => this.camera.zoom(1.3), "-": () => this.camera.zoom(1 / 1.3), 0: () => this.camera.fit(),
      f: () => this.fillScreen(), Enter: () => this.toggle(this.model.get("selected")), Escape: () => this.choose("") };
    if (steps[event.key]) this.step(...steps[event.key]);
    else if (actions[event.key]) actions[event.key]();
    else return;
    event.preventDefault();
    event.stopPropagation(); // JupyterLab has meanings of its own for these keys
  }

  step(right, down) {
    const center = (group) => { const r = group.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; };
    const from = this.boxOf(this.model.get("selected"));
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

  reveal(id) {
    const box = this.boxOf(id);
    if (box) this.camera.reveal(box);
  }

  choose(id) {
    if (!id || this.known(id)) this.set("selected", id);
  }

  // Open or close a tree; the box of all others opens by drawing all queries.
  toggle(name) {
    if (name === OTHERS || this.model.get("boxes")[name] === OTHERS) return this.set("focus", []);
    const root = this.known(name)?.root ?? name.replace(/^rest /, "");
    if (!this.known(root)) return;
    const toggled = this.model.get("toggled");
    this.model.set("selected", root);
    this.set("toggled", toggled.includes(root) ? toggled.filter((other) => other !== root) : [...toggled, root]);
  }

  mark() {
    const chosen = this.model.get("selected"), box = this.boxOf(chosen);
    if (box) this.pane.setAttribute("aria-activedescendant", box.id);
    else this.pane.removeAttribute("aria-activedescendant");
    const nodes = this.model.get("nodes"), readers = {};
    for (const [name, { parents }] of Object.entries(nodes)) for (const parent of parents) (readers[parent] ??= []).push(name);
    const upstream = reached(chosen, (name) => nodes[name]?.parents ?? []), downstream = reached(chosen, (name) => readers[name] ?? []);
    for (const [name, group] of this.boxes) {
      group.classList.toggle("chosen", group === box);
      group.classList.toggle("upstream", upstream.has(name));
      group.classList.toggle("downstream", downstream.has(name));
    }
    const upto = new Set([...upstream, chosen]), after = new Set([...downstream, chosen]);
    for (const { group, pairs } of this.edges) {
      group.classList.toggle("upstream", pairs.some(([, child]) => upto.has(child)));
      group.classList.toggle("downstream", pairs.some(([parent]) => after.has(parent)));
    }
  }

  end() {
    this.resized.disconnect();
    for (const [name, action] of this.followed) this.model.off(name, action);
  }
}

// All that is reached from a node by steps, but itself.
function reached(from, next) {
  const found = new Set(), waiting = [...next(from)];
  while (waiting.length) {
    const name = waiting.pop();
    if (found.has(name)) continue;
    found.add(name);
    waiting.push(...next(name));
  }
  return found;
}

export default {
  render({ model, el }) {
    const view = new View(model, el);
    return () => view.end();
  },
};
