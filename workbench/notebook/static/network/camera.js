// Where one stands before the drawing: pan, zoom, fit, and the small map of a drawing that is larger than its pane.

const READABLE = 0.95, LEAST = 0.75, LARGEST = 1.5; // scales: what does not fit at the least is shown in part, easier to read

class Camera {
  constructor(pane) {
    this.pane = pane;
    this.place = { x: 0, y: 0, k: 1 };
    this.map = document.createElementNS(SVG, "svg");
    this.map.setAttribute("class", "argus-map");
    this.map.setAttribute("aria-hidden", "true");
    pane.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey && document.activeElement !== pane) return; // let the page scroll
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY / 300), event);
    }, { passive: false });
    pane.addEventListener("pointerdown", (event) => this.drag(event));
  }

  // A new drawing: its graph, and its boxes, of which the map shows the places.
  take(graph, size, boxes) {
    this.graph = graph;
    this.size = size;
    this.base = graph.getAttribute("transform").match(/translate\(([-\d.]+)[ ,]([-\d.]+)\)/).slice(1).map(Number);
    this.corners = [...boxes.values()].map((group) => this.corner(group)).filter(Boolean);
    this.map.setAttribute("viewBox", `0 0 ${size[0] || 1} ${size[1] || 1}`);
    const mark = (name, corner) => {
      const rect = document.createElementNS(SVG, "rect");
      rect.setAttribute("class", name);
      if (corner) for (const side of ["x", "y", "width", "height"]) rect.setAttribute(side, corner[side]);
      return rect;
    };
    this.seen = mark("seen");
    this.map.replaceChildren(...this.corners.map((corner) => mark("box", corner)), this.seen);
  }

  // What is shown first: all of it where that can be read, else the drawing's left side around its first box.
  start() {
    let pane = this.fit(LEAST);
    if (!this.whole) pane = this.fit(READABLE);
    const [first] = this.corners, { k } = this.place;
    if (!first || !pane.width || this.whole) return;
    if (k * this.size[0] > pane.width) this.place.x = 12 - k * first.x;
    // From its upper edge where the first box is seen then.
    if (k * this.size[1] > pane.height) this.place.y = k * (first.y + first.height) < pane.height - 12 ? 12 : pane.height / 2 - k * first.y;
    this.apply();
    this.untouched = true;
  }

  // The place of a box in the drawing, whose shape is a path or a polygon.
  corner(group) {
    const shape = group.querySelector("path, polygon"), points = shape?.getAttribute("d") ?? shape?.getAttribute("points");
    if (!points) return null;
    const numbers = points.match(/-?[\d.]+/g).map(Number), [across, down] = [0, 1].map((from) => numbers.filter((_, i) => i % 2 === from));
    const [x, y] = [Math.min(...across), Math.min(...down)];
    return { x: this.base[0] + x, y: this.base[1] + y, width: Math.max(...across) - x, height: Math.max(...down) - y };
  }

  // All of the drawing in the pane, but not below a scale; the pane's place.
  fit(least = 0) {
    const pane = this.pane.getBoundingClientRect(), [width, height] = this.size;
    this.untouched = true;
    if (!width || !pane.width) return pane;
    const all = Math.min((pane.width - 16) / width, (pane.height - 16) / height);
    const k = Math.min(LARGEST, Math.max(least, all));
    this.whole = k <= all;
    this.place = { k, x: (pane.width - k * width) / 2, y: (pane.height - k * height) / 2 };
    this.apply();
    this.untouched = least > 0;
    return pane;
  }

  apply() {
    const { x, y, k } = this.place, [width, height] = this.size;
    this.untouched = false;
    this.graph.setAttribute("transform", `translate(${x + k * this.base[0]} ${y + k * this.base[1]}) scale(${k})`);
    const pane = this.pane.getBoundingClientRect();
    this.map.style.display = k * width > pane.width + 1 || k * height > pane.height + 1 ? "" : "none";
    for (const [side, value] of Object.entries({ x: -x / k, y: -y / k, width: pane.width / k, height: pane.height / k })) this.seen.setAttribute(side, value);
  }

  zoom(factor, event) {
    const pane = this.pane.getBoundingClientRect();
    const x = event ? event.clientX - pane.x : pane.width / 2, y = event ? event.clientY - pane.y : pane.height / 2;
    const k = Math.min(4, Math.max(0.02, this.place.k * factor)), by = k / this.place.k;
    this.place = { k, x: x - by * (x - this.place.x), y: y - by * (y - this.place.y) };
    this.apply();
  }

  // On the map a click goes to the place, elsewhere a drag moves the drawing.
  drag(start) {
    if (start.button !== 0) return;
    if (this.map.contains(start.target)) return this.go(start);
    const from = { ...this.place };
    this.moved = false;
    const move = (event) => {
      const x = event.clientX - start.clientX, y = event.clientY - start.clientY;
      if (!this.moved && Math.hypot(x, y) < 4) return;
      this.moved = true;
      this.place = { ...this.place, x: from.x + x, y: from.y + y };
      this.apply();
    };
    const end = () => {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", end);
      setTimeout(() => { this.moved = false; });
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", end);
  }

  go(event) {
    const map = this.map.getBoundingClientRect(), pane = this.pane.getBoundingClientRect(), [width, height] = this.size, { k } = this.place;
    const scale = Math.min(map.width / width, map.height / height); // the map keeps the drawing's shape
    const x = (event.clientX - map.x - (map.width - scale * width) / 2) / scale, y = (event.clientY - map.y - (map.height - scale * height) / 2) / scale;
    this.place = { k, x: pane.width / 2 - k * x, y: pane.height / 2 - k * y };
    this.apply();
  }

  // Bring a box into the pane.
  reveal(group) {
    const pane = this.pane.getBoundingClientRect(), box = group.getBoundingClientRect();
    if (box.x < pane.x || box.right > pane.right) this.place.x += pane.x + pane.width / 2 - (box.x + box.width / 2);
    if (box.y < pane.y || box.bottom > pane.bottom) this.place.y += pane.y + pane.height / 2 - (box.y + box.height / 2);
    this.apply();
  }

  // Move what has gone elsewhere in a new drawing back to where it was.
  keep(was, is) {
    this.place.x += was.x - is.x;
    this.place.y += was.y - is.y;
    this.apply();
  }
}
