// A slider over whole numbers. The kernel hears where it is left, and its end may move while it is dragged.

class View {
  constructor(model, el) {
    this.model = model;
    this.slider = Object.assign(document.createElement("input"), { type: "range", min: model.get("min"), ariaLabel: model.get("label"), oninput: () => this.tell(), onchange: () => this.choose() });
    this.slider.dataset.lmSuppressShortcuts = "true"; // JupyterLab leaves the arrow keys to it
    this.text = document.createElement("span");
    const line = document.createElement("div");
    line.className = "argus argus-slider";
    line.append(model.get("label"), this.slider, this.text);
    el.append(line);
    this.extend = this.extend.bind(this);
    this.move = this.move.bind(this);
    model.on("change:max", this.extend);
    model.on("change:value", this.move);
    this.extend();
    this.move();
  }

  extend() {
    this.slider.max = this.model.get("max");
    this.tell();
  }

  move() {
    this.slider.value = this.model.get("value");
    this.tell();
  }

  tell() { this.text.textContent = this.slider.value; }

  choose() {
    this.model.set("value", Number(this.slider.value));
    this.model.save_changes();
  }

  end() {
    this.model.off("change:max", this.extend);
    this.model.off("change:value", this.move);
  }
}

export default {
  render({ model, el }) {
    const view = new View(model, el);
    return () => view.end();
  },
};
