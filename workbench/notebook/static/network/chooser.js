// Which queries are in focus: a list to tick, with a field that filters it. Nothing ticked means all queries.

const LISTED = 200; // names in the list at once; the field finds the others

class Chooser {
  constructor(model) {
    this.model = model;
    this.summary = make("summary", {});
    this.filter = make("input", { type: "search", placeholder: "Filter queries", "aria-label": "Filter queries", oninput: () => this.list() });
    this.names = make("div", { class: "argus-names", role: "group", "aria-label": "Queries to draw" });
    this.more = make("div", { class: "argus-faint" });
    this.element = make("details", { class: "argus-chooser" }, this.summary,
      make("div", { class: "argus-popup" }, this.filter,
        make("button", { class: "argus-link", type: "button", onclick: () => this.set([]) }, "Draw all queries"), this.names, this.more));
    this.element.addEventListener("toggle", () => this.element.open && (this.list(), this.filter.focus()));
    this.element.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.element.open) { this.element.open = false; this.summary.focus(); event.stopPropagation(); }
    });
    this.element.addEventListener("focusout", (event) => {
      if (event.relatedTarget && !this.element.contains(event.relatedTarget)) this.element.open = false;
    });
    this.refresh();
  }

  set(names) {
    this.model.set("focus", names);
    this.model.save_changes();
  }

  refresh() {
    const focus = this.model.get("focus"), all = this.model.get("names").length;
    this.summary.textContent = !focus.length ? `All ${counted(all, "query", "queries")}`
      : focus.length === 1 ? `Query ${focus[0]}` : `${focus.length} of ${counted(all, "query", "queries")}`;
    this.summary.setAttribute("aria-label", `Queries drawn: ${this.summary.textContent}`);
    if (this.element.open) this.list();
  }

  list() {
    const focus = new Set(this.model.get("focus")), words = this.filter.value.toLowerCase().trim();
    const names = this.model.get("names").filter((name) => name.toLowerCase().includes(words));
    names.sort((a, b) => focus.has(b) - focus.has(a)); // what is ticked stands first
    const active = this.names.contains(document.activeElement) ? document.activeElement.value : null;
    this.names.replaceChildren(...names.slice(0, LISTED).map((name) => {
      const box = make("input", { type: "checkbox", value: name, onchange: () => this.tick(name, box.checked) });
      box.checked = focus.has(name);
      return make("label", {}, box, ` ${name}`);
    }));
    this.more.textContent = names.length > LISTED ? `and ${count(names.length - LISTED)} more` : names.length ? "" : "no query has such a name";
    if (active !== null) [...this.names.querySelectorAll("input")].find((box) => box.value === active)?.focus();
  }

  tick(name, on) {
    const others = this.model.get("focus").filter((other) => other !== name);
    this.set(on ? [...others, name] : others);
  }
}
