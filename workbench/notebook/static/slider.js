// A slider over whole numbers. The kernel hears where it is left, or rests while it is dragged, and its end may move.

const REST = 100; // milliseconds without a move, after which the kernel hears of a position of a live slider

class View {
  constructor(model, el) {
    this.model = model;
    this.slider = Object.assign(document.createElement("input"), { type: "range", min: model.get("min"), ariaLabel: model.get("label"), oninput: () => this.drag(), onchange: () => this.choose() });
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

  tell() {
    this.text.textContent = this.model.get("texts")[this.slider.value - this.slider.min] ?? this.slider.value;
    this.slider.ariaValueText = this.text.textContent;
  }

  drag() {
    this.tell();
    clearTimeout(this.resting);
    if (this.model.get("live")) this.resting = setTimeout(() => this.choose(), REST);
  }

  choose() {
    clearTimeout(this.resting);
    if (Number(this.slider.value) === this.model.get("value")) return;
    this.model.set("value", Number(this.slider.value));
    this.model.save_changes();
  }

  end() {
    clearTimeout(this.resting);
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
