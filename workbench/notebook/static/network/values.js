// Numbers as text, and elements of the page. The files of this folder are one module: the kernel joins and sends them.

const SVG = "http://www.w3.org/2000/svg";
const NUMBER = new Intl.NumberFormat("en", { maximumFractionDigits: 0 }); // making one is slow, and there are thousands of numbers

function count(n) { return NUMBER.format(n); }
function counted(n, one, many = `${one}s`) { return `${count(n)} ${n === 1 ? one : many}`; }
function milliseconds(seconds) { return `${count(seconds * 1000)} ms`; }
function bytes(n) {
  for (const [unit, size] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]]) if (n >= size) return `${(n / size).toFixed(1)} ${unit}`;
  return `${n} bytes`;
}

function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function button(label, title, action) {
  return make("button", { title, "aria-label": title, type: "button", onclick: action }, label);
}
