// The drawing as a file: SVG that needs no style sheet, and PNG made of it, in the colours of the page.

const KEPT = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-family", "font-size", "opacity"];
const SHARP = 2, WIDEST = 12_000; // pixels of PNG for one of the drawing, and of a side at most

// A colour as every viewer of SVG knows it; a page also has color-mix.
const plain = (() => {
  const known = new Map(), pen = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  return (colour) => {
    if (colour === "none" || colour.startsWith("rgb(")) return colour;
    if (!known.has(colour)) {
      pen.clearRect(0, 0, 1, 1);
      pen.fillStyle = colour;
      pen.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
      known.set(colour, `rgba(${r}, ${g}, ${b}, ${a / 255})`);
    }
    return known.get(colour);
  };
})();

function standalone(svg, [width, height], base, paper) {
  const copy = svg.cloneNode(true), here = svg.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((element, i) => {
    if (!["path", "polygon", "polyline", "ellipse", "text", "g"].includes(element.localName)) return;
    const style = getComputedStyle(here[i]);
    for (const name of KEPT) {
      const value = style.getPropertyValue(name);
      if (value) element.setAttribute(name, name === "fill" || name === "stroke" ? plain(value) : value);
    }
    for (const name of ["id", "role", "style"]) element.removeAttribute(name);
  });
  copy.querySelector("g.graph").setAttribute("transform", `translate(${base[0]} ${base[1]})`);
  const under = document.createElementNS(SVG, "rect");
  for (const [name, value] of Object.entries({ width, height, fill: plain(paper) })) under.setAttribute(name, value);
  copy.prepend(under);
  for (const [name, value] of Object.entries({ xmlns: SVG, width, height, viewBox: `0 0 ${width} ${height}` })) copy.setAttribute(name, value);
  return new XMLSerializer().serializeToString(copy);
}

async function asPng(text, [width, height]) {
  const image = new Image(), by = Math.min(SHARP, WIDEST / Math.max(width, height));
  image.src = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: Math.ceil(width * by), height: Math.ceil(height * by) });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  return new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });
}

function download(blob, name) {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
