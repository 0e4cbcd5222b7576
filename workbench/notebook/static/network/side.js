// Beside the drawing: what is known of the chosen node, and how it did in the last batches.

const CHARTED = { width: 260, height: 36, least: 20 };

class Side {
  constructor(model, goto) {
    this.model = model;
    this.goto = goto;
    this.element = make("div", { class: "argus-side", role: "region", "aria-label": "The chosen node", tabindex: "0" });
  }

  get node() { return this.model.get("nodes")[this.model.get("selected")]; }

  refresh() {
    const { node } = this;
    if (!node) {
      this.element.replaceChildren(make("p", { class: "argus-faint" }, Object.keys(this.model.get("nodes")).length
        ? "Choose a box to see what it computes, from what, and for which queries." : "There are no queries yet. Register one with %%argus."));
      return;
    }
    const nodes = this.model.get("nodes"), names = this.model.get("names");
    const part = (title, ...content) => make("section", {}, make("h4", {}, title), ...content);
    const link = (text, title, action) => make("button", { class: "argus-link", type: "button", title, onclick: action }, text);
    const focus = (name) => { this.model.set("focus", [name]); this.model.save_changes(); };
    const queries = node.queries.map((i) => names[i]), listed = queries.slice(0, 30);
    this.latestPlace = make("div");
    this.chartPlace = make("div", { class: "argus-charts" });
    this.element.replaceChildren(
      make("h3", { title: `${node.id} in %argus catalog` }, `${node.sign} ${node.name}`),
      part("SQL", make("pre", {}, node.sql)),
      node.label.length ? part("Canonical form", make("pre", {}, node.label.join("\n"))) : "",
      node.parents.length ? part("Computed from", ...node.parents.map((id) => link(`${nodes[id].sign} ${nodes[id].name}`, nodes[id].sql, () => this.goto(id)))) : "",
      part(queries.length === 1 ? "Serves 1 query" : `Serves ${queries.length} queries`,
        ...listed.map((name) => link(name, `draw ${name} alone`, () => focus(name))),
        queries.length > listed.length ? ` and ${queries.length - listed.length} more` : ""),
      part("Batch", this.latestPlace, this.chartPlace),
      part("Columns", make("p", { class: "argus-columns" }, node.columns.join(", "))));
    this.latest();
    this.chart();
  }

  latest() {
    const { node } = this;
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
      const most = Math.max(...values, 0) || 1, { width, height, least } = CHARTED, each = width / Math.max(values.length, least);
      const svg = document.createElementNS(SVG, "svg");
      svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      svg.setAttribute("role", "img");
      svg.setAttribute("aria-label", `${title}: ${values.map(text).join(", ")}`);
      values.forEach((value, i) => {
        const bar = document.createElementNS(SVG, "rect"), high = Math.max(value ? 1 : 0, ((height - 2) * value) / most);
        for (const [name, is] of Object.entries({ x: i * each, y: height - high, width: Math.max(1, each - 1), height: high })) bar.setAttribute(name, is);
        bar.classList.toggle("now", batches[i] === this.model.get("numbers").batch);
        bar.append(document.createElementNS(SVG, "title"));
        bar.firstChild.textContent = `batch ${batches[i]}: ${text(value)}`;
        svg.append(bar);
      });
      return make("figure", {}, make("figcaption", {}, `${title}, up to ${text(most)}`), svg);
    };
    this.chartPlace.replaceChildren(bars("Rows out", rows, count), bars("Time", seconds, milliseconds),
      make("p", {}, `Kept: ${count(kept[0])} rows, ${bytes(kept[1])}`));
  }
}
