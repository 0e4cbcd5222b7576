// Colours of boxes and edges by measures, with a legend. Strong boxes and edges have thick lines too, so that nothing is
// said by colour alone.

const LEVELS = 5;
const SCALES = {
  time: { label: "time of the batch", text: milliseconds, value: (node, { seconds = {} }) => seconds[node.root] ?? 0 },
  rows: { label: "rows of the batch", text: count, value: (node, { rows = {} }) => rows[node.id]?.[1] ?? 0 },
  queries: { label: "sharing: queries it works for", text: count, value: (node) => node.queries.length },
  age: { label: "age: batches since its first query", text: count, value: (node, { batch = 0 }) => Math.max(0, batch - node.since) },
};
// Of an edge between boxes that stand for several nodes: what each of them gave, once, or what all that read them took.
const sum = (values) => values.reduce((all, value) => all + value, 0), most = (values) => Math.max(0, ...values);
const gave = (place) => (loads) => sum(Object.values(Object.fromEntries(loads.map(([parent, load]) => [parent, load[place]]))));
const LOADS = {
  rows: { label: "rows that pass", text: count, value: gave(0) },
  time: { label: "time for what passes", text: milliseconds, value: (loads) => sum(loads.map(([, load]) => load[1])) },
  waiting: { label: "waits for other inputs", text: milliseconds, value: (loads) => most(loads.map(([, load]) => load[2])) },
  bytes: { label: "bytes that pass, about", text: bytes, value: gave(3) },
};

function level(value, top) { return value > 0 && top > 0 ? Math.max(1, Math.ceil((LEVELS * value) / top)) : 0; }

class Colours {
  constructor(model) {
    this.model = model;
    this.legend = make("div", { class: "argus-legend", role: "group", "aria-label": "Legend" });
  }

  // Boxes and frames by node, edges by what they read.
  paint(boxes, frames, edges) {
    const scale = this.model.get("scale"), nodes = this.model.get("nodes"), numbers = this.model.get("numbers");
    const { value, text, label } = SCALES[scale], bytime = scale === "time";
    const top = most(Object.values(nodes).map((node) => value(node, numbers)));
    for (const [name, group] of boxes) {
      const node = nodes[name];
      // A tree is timed as a whole, so its frame has the colour and not its nodes.
      if (node) group.dataset.level = bytime && frames.has(node.root) ? 0 : level(value(node, numbers), top);
    }
    for (const [root, frame] of frames) frame.dataset.level = bytime ? level(value(nodes[root], numbers), top) : 0;
    const load = LOADS[this.model.get("load")], passed = numbers.edges ?? {};
    const heaviest = most(Object.values(passed).flatMap((from) => Object.entries(from).map((each) => load.value([each]))));
    for (const { group, pairs } of edges) {
      const loads = pairs.map(([parent, child]) => [parent, passed[child]?.[parent]]).filter(([, found]) => found);
      const value = load.value(loads);
      group.dataset.thick = Math.min(LEVELS, level(value, heaviest));
      group.querySelector(":scope > title").textContent = pairs.length ? `${load.label}: ${load.text(value)}` : "read by queries";
    }
    const steps = (kind, greatest, text) => Array.from({ length: LEVELS }, (_, i) => make("span", { [`data-${kind}`]: i + 1 },
      greatest ? `${i ? "" : "> 0 "}≤ ${text((greatest * (i + 1)) / LEVELS)}` : "–"));
    this.legend.replaceChildren(`${label}: `, ...steps("level", top, text),
      make("span", { class: "argus-thick" }, `edges, ${load.label}: `, ...steps("thick", heaviest, load.text)),
      make("span", { class: "argus-way" }, "what the chosen node is computed from"), make("span", { class: "argus-way downstream" }, "what is computed from it"),
      make("span", { class: "argus-hint" }, "double click or Enter: open, close · drag: move · click, then wheel: zoom"));
  }
}
