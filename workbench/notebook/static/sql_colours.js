// Colours the SQL of %%argus cells, which JupyterLab colours as Python. Highlights of CSS give a colour to ranges of
// text and change nothing on the page, so that the editor need not know of them. A browser without them shows Python's.

const CELLS = ".jp-CodeCell .cm-content";
const MAGIC = /^\s*%%argus\b/;
const COLOURS = { keyword: "keyword", called: "builtin", text: "string", number: "number", comment: "comment", other: "variable" };
const KEYWORDS = new Set(`ALL AND ANTI ANY AS ASC ASOF BEGIN BETWEEN BY CASE CAST CREATE CROSS CUBE CURRENT DATE DECIMAL DESC DISTINCT DOUBLE ELSE END
  ESCAPE EXCEPT EXCLUDE EXISTS FALSE FETCH FILTER FIRST FOLLOWING FOR FROM FULL GROUP GROUPING GROUPS HAVING IGNORE ILIKE IN INNER INT INTEGER INTERSECT
  INTERVAL IS JOIN LAST LATERAL LEFT LIKE LIMIT MINUS NATURAL NEXT NOT NULL NULLS OFFSET ON ONLY OR ORDER OUTER OVER PARTITION PRECEDING QUALIFY RANGE
  RECURSIVE RIGHT RLIKE ROLLUP ROW ROWS SELECT SEMI SETS SOME STRING THEN TIES TIMESTAMP TRUE UNBOUNDED UNION USING VALUES VIEW WHEN WHERE WINDOW WITH
  WITHIN`.split(/\s+/));
const TOKEN = /(?<comment>--[^\n]*|\/\*[^]*?(?:\*\/|$))|(?<text>'(?:[^']|'')*(?:'|$))|(?<number>\b\d[\w.]*)|(?<word>[A-Za-z_]\w*)|(?<other>`[^`]*`?|"[^"]*"?|\S)/g;

const name = (kind) => `argus-sql-${kind}`;

function kindOf({ groups, index, 0: token }, text) {
  if (groups.word === undefined) return Object.keys(groups).find((kind) => groups[kind] !== undefined);
  if (KEYWORDS.has(token.toUpperCase())) return "keyword";
  return /^\s*\(/.test(text.slice(index + token.length)) ? "called" : "other";
}

// The text of a cell as far as the editor shows it, and where in it each node of text begins.
function read(content) {
  const nodes = [];
  let text = "";
  for (const line of content.children) {
    const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      nodes.push({ node: walker.currentNode, start: text.length });
      text += walker.currentNode.data;
    }
    text += "\n";
  }
  return { nodes, text };
}

function rangeOf(nodes, start, end) {
  const place = (offset) => nodes.findLast((one) => one.start <= offset);
  const first = place(start), last = place(end - 1);
  return new StaticRange({
    startContainer: first.node, startOffset: start - first.start, endContainer: last.node, endOffset: end - last.start,
  });
}

class Colours {
  constructor() {
    this.highlights = {};
    this.ranges = new WeakMap();
    this.waiting = new Set();
    const sheet = new CSSStyleSheet();
    for (const [kind, colour] of Object.entries(COLOURS)) {
      CSS.highlights.set(name(kind), (this.highlights[kind] = new Highlight()));
      sheet.insertRule(`::highlight(${name(kind)}) { color: var(--jp-mirror-editor-${colour}-color); }`);
    }
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    new MutationObserver((changes) => this.changed(changes)).observe(document.body, { subtree: true, childList: true, characterData: true });
    document.querySelectorAll(CELLS).forEach((content) => this.later(content));
  }

  changed(changes) {
    for (const { target, addedNodes } of changes) {
      const content = (target.nodeType === Node.TEXT_NODE ? target.parentElement : target)?.closest(CELLS);
      if (content) this.later(content);
      else for (const node of addedNodes) node.querySelectorAll?.(CELLS).forEach((added) => this.later(added));
    }
  }

  later(content) {
    if (!this.waiting.size) requestAnimationFrame(() => this.colourAll());
    this.waiting.add(content);
  }

  colourAll() {
    const contents = [...this.waiting];
    this.waiting.clear();
    contents.forEach((content) => this.colour(content));
  }

  colour(content) {
    for (const [kind, range] of this.ranges.get(content) ?? []) this.highlights[kind].delete(range);
    this.ranges.delete(content);
    const { nodes, text } = read(content);
    if (!content.isConnected || !MAGIC.test(text)) return;
    const first = text.indexOf("\n") + 1, sql = text.slice(first), ranges = [];
    for (const found of sql.matchAll(TOKEN)) {
      const kind = kindOf(found, sql), start = first + found.index;
      ranges.push([kind, rangeOf(nodes, start, start + found[0].length)]);
    }
    for (const [kind, range] of ranges) this.highlights[kind].add(range);
    this.ranges.set(content, ranges);
  }
}

export default {
  initialize() {
    const known = globalThis.CSS?.highlights;
    if (known && !known.has(name("keyword"))) new Colours();
  },
};
