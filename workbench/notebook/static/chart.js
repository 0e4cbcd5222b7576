// A chart that stays: the specification is drawn once, and then its points are replaced.
// `vegaEmbed` is in the module's text before this one (panel/live_chart.py).

class View {
  constructor(model, el) {
    this.model = model;
    this.pane = document.createElement("div");
    this.pane.className = "argus argus-chart";
    el.append(this.pane);
    this.draw = this.draw.bind(this);
    this.move = this.move.bind(this);
    this.sized = new ResizeObserver(() => this.fit());
    model.on("change:spec", this.draw);
    model.on("change:points", this.move);
    this.draw();
  }

  get points() {
    return JSON.parse(this.model.get("points") || "[]");
  }

  async draw() {
    const spec = this.model.get("spec");
    this.drawing?.finalize();
    this.drawing = undefined;
    if (!spec.mark) return this.pane.replaceChildren();
    const sized = { width: "container", autosize: { type: "fit-x", contains: "padding" } };
    const whole = { ...spec, ...sized, data: { ...spec.data, values: this.points } };
    this.drawing = await vegaEmbed(this.pane, whole, { actions: false, renderer: "svg" });
    const svg = this.pane.querySelector("svg");
    svg?.setAttribute("aria-label", spec.description);
    this.pane.style.minHeight = `${svg?.getAttribute("height") ?? 0}px`; // the next drawing takes its place
    this.move();
    this.sized.observe(this.drawing.view.container());
  }

  // Vega looks at its container when it draws and when the window is resized. A cell that JupyterLab has not shown yet
  // is 0 wide then, and side bars change the width of cells alone.
  async fit() {
    const view = this.drawing?.view;
    const width = view?.container().clientWidth;
    if (width && width !== view.width()) await view.width(width).runAsync();
  }

  async move() {
    await this.drawing?.view.data("rows", this.points).runAsync();
  }

  end() {
    this.model.off("change:spec", this.draw);
    this.model.off("change:points", this.move);
    this.sized.disconnect();
    this.drawing?.finalize();
  }
}

export default {
  render({ model, el }) {
    const view = new View(model, el);
    return () => view.end();
  },
};
