// The batches that were run: which one the numbers and colours are of. At the last one the drawing follows the session.
// JupyterLab leaves the arrow keys to the slider.

class Timeline {
  constructor(model) {
    this.model = model;
    this.slider = make("input", { type: "range", step: 1, "aria-label": "Batch that is shown", "data-lm-suppress-shortcuts": "true", oninput: () => this.go(Number(this.slider.value)) });
    this.text = make("span", { class: "argus-when" });
    this.follow = button("Last", "Show the last batch, and follow the session", () => this.go(Infinity));
    this.element = make("div", { class: "argus-timeline" },
      button("◀", "One batch back", () => this.go(this.batch - 1)), this.slider, button("▶", "One batch on", () => this.go(this.batch + 1)), this.follow, this.text);
    this.refresh();
  }

  // The batch that is shown.
  get batch() { return this.model.get("at") || this.model.get("batches")[1]; }

  go(batch) {
    const [first, last] = this.model.get("batches");
    this.model.set("at", batch >= last ? 0 : Math.max(first, batch));
    this.model.save_changes();
  }

  refresh() {
    const [first, last] = this.model.get("batches"), { batch } = this;
    this.element.hidden = last <= first;
    this.slider.min = first;
    this.slider.max = last;
    this.slider.value = batch;
    this.slider.setAttribute("aria-valuetext", `batch ${batch}`);
    this.follow.disabled = batch === last;
    this.text.textContent = batch === last ? `batch ${batch}, the last` : `batch ${batch}, as it was; the last is ${last}`;
    this.element.classList.toggle("past", batch !== last);
  }
}
