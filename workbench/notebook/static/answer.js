// An answer to scroll through. The kernel sends the rows around those that are seen; scrolling beyond them asks for
// others, a heading for another order. Cells that a batch changed are marked for a moment, with what they were.

const NEXT = { none: "descending", descending: "ascending", ascending: "none" };
const SIGN = { none: "", descending: " ▼", ascending: " ▲" };
const ROW = 26; // pixels; that of the style sheet
const TALLEST = 8_000_000; // pixels that every browser can scroll; rows of larger answers are passed over faster
const AROUND = 60; // rows asked for before and after those that are seen
const DRAWN = 8; // rows drawn before and after those that are seen
const TICK = 1200; // milliseconds for which a changed cell is marked strongly
const PADDING = 22; // pixels of a cell beside its text

class View {
  constructor(model, el) {
    this.model = model;
    this.pane = document.createElement("div");
    this.pane.className = "argus argus-answer";
    this.pane.tabIndex = 0;
    this.pane.setAttribute("role", "region");
    this.pane.setAttribute("aria-label", "answer");
    this.table = document.createElement("table");
    this.head = this.table.createTHead().insertRow();
    this.body = this.table.createTBody();
    this.before = document.createElement("div");
    this.after = document.createElement("div");
    this.pane.append(this.before, this.table, this.after);
    el.append(this.pane);
    this.widths = [];
    this.batch = undefined;
    this.ink = document.createElement("canvas").getContext("2d");
    this.fill = this.fill.bind(this);
    this.pane.addEventListener("scroll", () => this.place(this.pane.scrollTop), { passive: true });
    this.pane.addEventListener("keydown", (event) => this.step(event));
    this.resized = new ResizeObserver(() => { // it grows with its rows, and is shown later: no font is known before
      this.fit(this.page.columns, this.page.rows);
      this.place(this.pane.scrollTop);
    });
    this.resized.observe(this.pane);
    model.on("change:page", this.fill);
    model.on("change:selected", this.fill);
    this.fill();
  }

  get page() {
    return { columns: [], rows: [], start: 0, total: 0, order: {}, ...this.model.get("page") };
  }

  // The rows that fit, and the first one that is seen where the pane is scrolled so far.
  seen(top = this.pane.scrollTop) {
    const { total } = this.page;
    const fit = Math.max(1, Math.floor((this.pane.clientHeight - ROW) / ROW));
    const most = Math.max(0, total - fit);
    const tall = Math.min(total * ROW, TALLEST), room = Math.max(1, tall + ROW - this.pane.clientHeight);
    const first = total * ROW <= TALLEST ? Math.floor(top / ROW) : Math.round((top / room) * most);
    return { fit, tall, first: Math.min(most, Math.max(0, first)) };
  }

  place(top) {
    const { start, rows, total } = this.page, { fit, tall, first } = this.seen(top);
    const from = Math.min(rows.length, Math.max(0, first - start - DRAWN)), to = Math.max(from, Math.min(rows.length, first - start + fit + DRAWN));
    const above = total * ROW <= TALLEST ? (start + from) * ROW : Math.min(tall, Math.max(0, top - (first - start - from) * ROW));
    this.before.style.height = `${above}px`;
    this.after.style.height = `${Math.max(0, tall - above - (to - from) * ROW)}px`;
    this.draw(from, to);
    const missing = first < start || Math.min(total, first + fit) > start + rows.length;
    if (!missing) return;
    const wanted = [Math.max(0, first - AROUND), fit + 2 * AROUND];
    if (String(wanted) === String(this.wanted)) return;
    this.wanted = wanted;
    this.model.set("window", wanted);
    this.model.save_changes();
  }

  fill() {
    const { columns, rows, order, start, total, batch } = this.page;
    const held = this.pane.contains(document.activeElement) ? document.activeElement.dataset?.column : undefined;
    const names = columns.map(({ name }) => name).join("\n");
    if (names !== this.names) {
      this.widths = [];
      this.pane.scrollTop = 0;
      this.names = names;
    }
    this.wanted = undefined;
    const top = this.pane.scrollTop; // fewer rows than before would move it
    const moved = batch !== this.batch && this.batch !== undefined;
    this.batch = batch;
    this.table.setAttribute("aria-rowcount", total + 1);
    this.head.replaceChildren(...columns.map((column) => this.heading(column, order)));
    this.fit(columns, rows);
    if (moved) this.tick();
    this.place(top);
    this.pane.scrollTop = top;
    if (held !== undefined) [...this.head.querySelectorAll("button")].find((each) => each.dataset.column === held)?.focus();
  }

  // Rows of the page are written into those that are there: only texts that are others are laid out anew.
  draw(from, to) {
    const { columns, rows, start } = this.page, selected = this.model.get("selected");
    while (this.body.rows.length > to - from) this.body.lastChild.remove();
    for (let i = from; i < to; i += 1) {
      const row = this.body.rows[i - from] ?? this.body.insertRow();
      while (row.cells.length > columns.length) row.lastChild.remove();
      while (row.cells.length < columns.length) row.insertCell().onclick = ({ currentTarget }) => this.choose(row.ariaRowIndex - 2, currentTarget.cellIndex);
      this.write(row, rows[i], start + i, columns, selected);
    }
  }

  write(row, { cells, titles, fresh, was }, at, columns, selected) {
    row.ariaRowIndex = at + 2;
    put(row, "className", fresh ? "fresh" : "");
    put(row, "title", fresh ? "new since you looked" : "");
    put(row, "ariaSelected", selected.at === at ? "true" : null);
    cells.forEach((cell, i) => {
      const place = row.cells[i], before = was?.[i] ?? null;
      put(place, "textContent", cell);
      put(place, "className", `${columns[i].number ? "number" : ""}${before === null ? "" : this.ticking ? " ticked" : " changed"}`.trim());
      put(place, "title", before === null ? (titles?.[i] ?? "") : `was ${before}`);
    });
  }

  // Mark strongly for a moment what a batch changed. An animation of many cells would compute their styles in each frame.
  tick() {
    clearTimeout(this.ticking);
    this.resized.disconnect();
    this.ticking = setTimeout(() => {
      this.ticking = undefined;
      for (const cell of this.body.querySelectorAll(".ticked")) cell.classList.replace("ticked", "changed");
    }, TICK);
  }

  choose(at, column) {
    const before = this.model.get("selected");
    this.model.set("selected", before.at === at && before.column === column ? {} : { at, column });
    this.model.save_changes();
  }

  // The arrows move the selected row, as a click chooses it.
  step(event) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key], { at, column = 0 } = this.model.get("selected");
    if (by === undefined || at === undefined || event.target !== this.pane) return;
    event.preventDefault();
    const next = Math.min(this.page.total - 1, Math.max(0, at + by)), { first, fit } = this.seen();
    this.model.set("selected", { at: next, column });
    this.model.save_changes();
    if (next < first || next >= first + fit) this.pane.scrollTop += by * ROW;
  }

  // The widths of columns by their texts, without a layout; a column does not become narrower while one scrolls.
  fit(columns, rows) {
    const { fontWeight, fontSize, fontFamily } = getComputedStyle(this.pane);
    const wide = (texts, weight) => {
      this.ink.font = `${weight} ${fontSize} ${fontFamily}`;
      return Math.ceil(Math.max(0, ...texts.map((text) => this.ink.measureText(text).width))) + PADDING;
    };
    columns.forEach(({ name }, i) => {
      const texts = wide(rows.map(({ cells }) => cells[i]), fontWeight), heading = wide([name + SIGN.ascending], 600);
      this.widths[i] = Math.max(this.widths[i] ?? 0, texts, heading);
      this.head.cells[i].style.width = `${this.widths[i]}px`;
    });
    this.table.style.width = `${this.widths.slice(0, columns.length).reduce((all, width) => all + width, 0)}px`;
  }

  heading({ name, number, sortable }, order) {
    const way = order.column === name ? (order.descending ? "descending" : "ascending") : "none";
    const cell = Object.assign(document.createElement("th"), { scope: "col", className: number ? "number" : "" });
    if (!sortable) {
      cell.textContent = name;
      return cell;
    }
    const press = Object.assign(document.createElement("button"), { textContent: name + SIGN[way], title: `sort by ${name}` });
    press.dataset.column = name;
    press.onclick = () => {
      const next = NEXT[way];
      this.pane.scrollTop = 0;
      this.model.set("window", this.wanted = [0, this.seen(0).fit + 2 * AROUND]);
      this.model.set("asked", next === "none" ? {} : { column: name, descending: next === "descending" });
      this.model.save_changes();
    };
    cell.setAttribute("aria-sort", way);
    cell.append(press);
    return cell;
  }

  end() {
    clearTimeout(this.ticking);
    this.model.off("change:page", this.fill);
    this.model.off("change:selected", this.fill);
  }
}

function put(element, property, value) {
  if (element[property] !== value) element[property] = value;
}

export default {
  render({ model, el }) {
    const view = new View(model, el);
    return () => view.end();
  },
};
