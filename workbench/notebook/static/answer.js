// A page of an answer. The kernel sends the rows of one page; pressing a heading asks it for another order.

const NEXT = { none: "descending", descending: "ascending", ascending: "none" };
const SIGN = { none: "", descending: " ▼", ascending: " ▲" };

class View {
  constructor(model, el) {
    this.model = model;
    this.pane = document.createElement("div");
    this.pane.className = "argus argus-answer";
    this.pane.tabIndex = 0;
    this.pane.setAttribute("role", "region");
    this.pane.setAttribute("aria-label", "answer");
    el.append(this.pane);
    this.fill = this.fill.bind(this);
    model.on("change:page", this.fill);
    this.fill();
  }

  fill() {
    const { columns = [], rows = [], order = {} } = this.model.get("page");
    const held = this.pane.contains(document.activeElement) ? document.activeElement.dataset?.column : undefined;
    const head = document.createElement("tr"), body = document.createElement("tbody");
    for (const column of columns) head.append(this.heading(column, order));
    for (const { cells, fresh } of rows) {
      const row = body.insertRow();
      if (fresh) { row.className = "fresh"; row.title = "new since you looked"; }
      cells.forEach((cell, i) => {
        const place = row.insertCell();
        place.textContent = cell;
        if (columns[i].number) place.className = "number";
      });
    }
    const table = document.createElement("table"), thead = document.createElement("thead");
    thead.append(head);
    table.append(thead, body);
    this.pane.replaceChildren(table);
    if (held !== undefined) [...this.pane.querySelectorAll("button")].find((each) => each.dataset.column === held)?.focus();
  }

  heading({ name, number }, order) {
    const way = order.column === name ? (order.descending ? "descending" : "ascending") : "none";
    const cell = Object.assign(document.createElement("th"), { scope: "col", className: number ? "number" : "" });
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
  }
}

export default {
  render({ model, el }) {
    const view = new View(model, el);
    return () => view.end();
  },
};
