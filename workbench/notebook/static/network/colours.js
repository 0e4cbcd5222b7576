// Colours of boxes by a measure, with a legend, and edges as thick as the rows that pass. Strong boxes have thick lines
// too, so that nothing is said by colour alone.

const LEVELS = 5;
const SCALES = {
  time: { label: "time of the batch", text: milliseconds, value: (node, { seconds = {} }) => seconds[node.root] ?? 0 },
  rows: { label: "rows of the batch", text: count, value: (node, { rows = {} }) => rows[node.id]?.[1] ?? 0 },
  queries: { label: "sharing: queries it works for", text: count, value: (node) => node.queries.length },
  age: { label: "age: batches since its first query", text: count, value: (node, { batch = 0 }) => Math.max(0, batch - node.since) },
};
const STEPS = [1, 10, 100, 1_000, 10_000]; // rows from which on an edge is thicker

function level(value, most) { return value > 0 && most > 0 ? Math.max(1, Math.ceil((LEVELS * value) / most)) : 0; }

class Colours {
  constructor(model) {
    this.model = model;
    this.legend = make("div", { class: "argus-legend", role: "group", "aria-label": "Legend" });
  }

  // Boxes and frames by node, edges by what they read.
  paint(boxes, frames, edges) {
    const scale = this.model.get("scale"), nodes = this.model.get("nodes"), numbers = this.model.get("numbers");
    const { value, text, label } = SCALES[scale], bytime = scale === "time";
    const most = Object.values(nodes).reduce((top, node) => Math.max(top, value(node, numbers)), 0);
    for (const [name, group] of boxes) {
      const node = nodes[name];
      // A tree is timed as a whole, so its frame has the colour and not its nodes.
      if (node) group.dataset.level = bytime && frames.has(node.root) ? 0 : level(value(node, numbers), most);
    }
    for (const [root, frame] of frames) frame.dataset.level = bytime ? level(value(nodes[root], numbers), most) : 0;
    for (const { group, read } of edges) {
      const rows = read.reduce((all, id) => all + (numbers.rows?.[id]?.[1] ?? 0), 0);
      group.dataset.thick = STEPS.filter((step) => rows >= step).length;
    }
    const steps = Array.from({ length: LEVELS }, (_, i) => make("span", { "data-level": i + 1 },
      most ? `${i ? "" : "> 0 "}≤ ${text((most * (i + 1)) / LEVELS)}` : "–"));
    this.legend.replaceChildren(`${label}: `, ...steps,
      make("span", { class: "argus-thick" }, "edges: ", ...STEPS.map((step, i) => make("span", { "data-thick": i + 1 }, `${count(step)}`)), "rows and more"),
      make("span", { class: "argus-way" }, "what the chosen node is computed from"), make("span", { class: "argus-way downstream" }, "what is computed from it"),
      make("span", { class: "argus-hint" }, "double click or Enter: open, close · drag: move · click, then wheel: zoom"));
  }
}
