// An answer to scroll through. The kernel sends the rows around those that are seen; scrolling beyond them asks for
// others, a heading for another order. Cells that a batch changed are marked for a moment, with what they were.

const NEXT = { none: "descending", descending: "ascending", ascending: "none" };
const SIGN = { none: "", descending: " ▼", ascending: " ▲" };
const ROW = 26; // pixels; that of the style sheet
const TALLEST = 8_000_000; // pixels that every browser can scroll; rows of larger answers are passed over faster
const AROUND = 60; // rows asked for before and after those that are seen

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
    this.fill = this.fill.bind(this);
    this.pane.addEventListener("scroll", () => this.place(this.pane.scrollTop), { passive: true });
    this.pane.addEventListener("keydown", (event) => this.step(event));
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
    const above = total * ROW <= TALLEST ? start * ROW : Math.max(0, top - (first - start) * ROW);
    this.before.style.height = `${above}px`;
    this.after.style.height = `${Math.max(0, tall - above - rows.length * ROW)}px`;
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
    const moved = batch !== this.batch;
    this.batch = batch;
    this.table.setAttribute("aria-rowcount", total + 1);
    this.head.replaceChildren(...columns.map((column) => this.heading(column, order)));
    const selected = this.model.get("selected");
    this.body.replaceChildren(...rows.map((row, i) => this.row(row, start + i, columns, moved, selected)));
    this.place(top);
    this.pane.scrollTop = top;
    this.keepWidths();
    if (held !== undefined) [...this.head.querySelectorAll("button")].find((each) => each.dataset.column === held)?.focus();
  }

  row({ cells, fresh, was }, at, columns, moved, selected) {
    const row = document.createElement("tr");
    row.setAttribute("aria-rowindex", at + 2);
    if (fresh) { row.className = "fresh"; row.title = "new since you looked"; }
    if (selected.at === at) row.setAttribute("aria-selected", "true");
    cells.forEach((cell, i) => {
      const place = row.insertCell();
      place.textContent = cell;
      if (columns[i].number) place.classList.add("number");
      if (was && was[i] !== null) {
        place.title = `was ${was[i]}`;
        place.classList.add(moved ? "ticked" : "changed");
      }
      place.onclick = () => this.choose(at, i);
    });
    return row;
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

  // A column does not become narrower while one scrolls.
  keepWidths() {
    [...this.head.cells].forEach((cell, i) => {
      this.widths[i] = Math.max(this.widths[i] ?? 0, Math.ceil(cell.getBoundingClientRect().width));
      cell.style.minWidth = `${this.widths[i]}px`;
    });
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
      this.model.set("asked", next === "none" ? {} : { column: name, descending: next === "descending" });
      this.model.save_changes();
    };
    cell.setAttribute("aria-sort", way);
    cell.append(press);
    return cell;
  }

  end() {
    this.model.off("change:page", this.fill);
    this.model.off("change:selected", this.fill);
  }
}

export default {
  render({ model, el }) {
    const view = new View(model, el);
    return () => view.end();
  },
};
