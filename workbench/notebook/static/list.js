// A list of rows of which one is chosen, by mouse or arrow keys. Rows are changed in place, so nothing jumps while a
// session plays; a field filters them when they are many.

const MANY = 12;

class View {
  constructor(model, el) {
    this.model = model;
    this.head = document.createElement("tr");
    this.body = document.createElement("tbody");
    this.filter = Object.assign(document.createElement("input"), { type: "search", className: "argus-filter", placeholder: "Filter", ariaLabel: "Filter", oninput: () => this.sift() });
    const pane = document.createElement("div"), table = document.createElement("table"), thead = document.createElement("thead");
    thead.append(this.head);
    table.append(thead, this.body);
    pane.append(table);
    pane.className = "argus-list";
    pane.style.height = model.get("height");
    table.tabIndex = 0;
    table.setAttribute("role", "grid");
    table.setAttribute("aria-label", model.get("label"));
    table.addEventListener("keydown", (event) => this.key(event));
    this.table = table;
    this.id = `argus-${Math.random().toString(36).slice(2)}`;
    el.append(this.filter, pane);
    this.fill = this.fill.bind(this);
    this.mark = this.mark.bind(this);
    model.on("change:rows", this.fill);
    model.on("change:selected", this.mark);
    this.fill();
  }

  fill() {
    const columns = this.model.get("columns"), rows = this.model.get("rows");
    this.head.innerHTML = columns.map((column) => `<th scope="col">${column}</th>`).join("");
    this.filter.hidden = rows.length <= MANY;
    while (this.body.rows.length > rows.length) this.body.lastChild.remove();
    rows.forEach(({ key, cells }, i) => {
      const row = this.body.rows[i] ?? this.body.insertRow();
      if (row.dataset.key !== key) {
        row.dataset.key = key;
        row.id = `${this.id}-${i}`;
        row.onclick = () => this.choose(key);
      }
      cells.forEach((cell, j) => {
        const place = row.cells[j] ?? row.insertCell();
        if (place.dataset.was !== cell) { place.innerHTML = cell; place.dataset.was = cell; }
      });
    });
    this.sift();
    this.mark();
  }

  sift() {
    const words = this.filter.hidden ? "" : this.filter.value.toLowerCase();
    for (const row of this.body.rows) row.hidden = !row.textContent.toLowerCase().includes(words);
  }

  mark() {
    this.table.removeAttribute("aria-activedescendant");
    for (const row of this.body.rows) {
      const chosen = row.dataset.key === this.model.get("selected");
      row.setAttribute("aria-selected", chosen);
      if (chosen) this.table.setAttribute("aria-activedescendant", row.id);
    }
  }

  choose(key) {
    this.model.set("selected", key);
    this.model.save_changes();
  }

  key(event) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by) return;
    const rows = [...this.body.rows].filter((row) => !row.hidden);
    const at = rows.findIndex((row) => row.dataset.key === this.model.get("selected"));
    const row = rows[Math.min(rows.length - 1, Math.max(0, at + by))];
    if (row) { this.choose(row.dataset.key); row.scrollIntoView({ block: "nearest" }); }
    event.preventDefault();
    event.stopPropagation();
  }

  end() {
    this.model.off("change:rows", this.fill);
    this.model.off("change:selected", this.mark);
  }
}

export default {
  render({ model, el }) {
    const view = new View(model, el);
    return () => view.end();
  },
};
