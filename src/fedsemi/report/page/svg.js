// Small tools: elements, numbers, axes, the tip beside the pointer, and figures.

const SVG = "http://www.w3.org/2000/svg";
const COLORS = [0, 1, 2, 3, 4, 5, 6].map((i) => `var(--c${i})`);
const DASHES = ["", "9 4", "3 6", "12 4 3 4"];

function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

function draw(tag, attributes = {}, text) {
  const node = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

const known = (value) => value !== null && value !== undefined;
const percent = (value) => (known(value) ? `${(100 * value).toFixed(1)} %` : "–");
const plain = (value) => (known(value) ? String(+value.toPrecision(4)) : "–");
const whole = (value) => (known(value) ? Math.round(value).toLocaleString("en") : "–");
const sum = (values) => values.reduce((a, b) => a + (b || 0), 0);
const mean = (values) => {
  const some = values.filter(known);
  return some.length ? sum(some) / some.length : null;
};

function bytes(value) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let i = 0;
  for (; value >= 1000 && i < units.length - 1; i++) value /= 1000;
  return `${value >= 100 || i === 0 ? Math.round(value) : value.toFixed(1)} ${units[i]}`;
}

function duration(seconds) {
  const s = Math.round(seconds);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
}

function ticks(low, high, count) {
  const span = high - low || 1;
  const rough = span / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough * (1 - 1e-6));
  const found = [];
  for (let v = Math.ceil(low / step - 1e-9) * step; v <= high + step * 1e-6; v += step) found.push(+v.toPrecision(10));
  return found;
}

const textWidth = (text, size = 12) => String(text).length * size * 0.6;
const shorten = (text, length) => (text.length > length ? text.slice(0, length - 1) + "…" : text);

const tip = {
  show(x, y, title, lines) {
    const box = document.getElementById("tip");
    box.replaceChildren(el("b", {}, title), ...lines.map((line) => el("span", {}, line)));
    box.hidden = false;
    const { width, height } = box.getBoundingClientRect();
    box.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - width - 4))}px`;
    box.style.top = `${Math.max(4, Math.min(y + 14, innerHeight - height - 4))}px`;
  },
  hide() { document.getElementById("tip").hidden = true; },
};
addEventListener("keydown", (event) => event.key === "Escape" && tip.hide());

function table(head, rows, caption) {
  const body = rows.map(([first, ...rest]) => {
    const row = el("th", { scope: "row" }, String(first));
    return el("tr", {}, row, ...rest.map((value) => el("td", {}, String(value))));
  });
  const heads = head.map((name) => el("th", { scope: "col" }, String(name)));
  const made = el("table", {}, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...body));
  if (caption) made.prepend(el("caption", {}, caption));
  const place = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption || "Table" }, made);
  const node = el("div", {}, place, sideways());
  new ResizeObserver(() => tellOfMore(place, made.offsetWidth)).observe(place);
  return node;
}

// Phones show no scroll bars, so what lies beyond the edge is announced.
const sideways = () => el("div", { class: "note more", hidden: "" }, "There is more to the right: swipe or scroll →");

function tellOfMore(place, width) {
  const more = width > place.clientWidth + 1;
  place.nextSibling.hidden = !more;
  if (more) place.setAttribute("tabindex", "0");
}

// A figure: title, a sentence, a chart that is drawn anew for every width, a legend,
// and the same numbers as a table, made only when somebody opens it.
function figure({ title, note, chart, legend, rows, wide }) {
  const place = el("div", { class: "scroll" });
  const node = el("figure", wide ? { class: "wide" } : {});
  node.append(el("figcaption", {}, el("h3", {}, title)));
  if (note) node.firstChild.append(el("span", { class: "note" }, note));
  node.append(place, sideways());
  if (legend && legend.length > 1) node.append(legendOf(legend));
  if (rows) node.append(numbers(title, rows));
  let last = 0;
  place.drawAt = (width) => {
    if (!width || width === last) return;
    last = width;
    const picture = chart(width);
    picture.setAttribute("role", "img");
    const keys = picture.hasAttribute("tabindex") ? "Arrow keys go from round to round." : "";
    picture.setAttribute("aria-label", [`${title}.`, note, keys].filter(Boolean).join(" "));
    place.replaceChildren(picture);
    tellOfMore(place, +picture.getAttribute("width"));
  };
  new ResizeObserver(() => printing || place.drawAt(Math.floor(place.clientWidth))).observe(place);
  return node;
}

// Two columns at most: an odd figure takes a row of its own, so that no hole is left.
function grid(figures) {
  const narrow = figures.filter((node) => !node.classList.contains("wide"));
  if (narrow.length % 2) narrow.at(-1).classList.add("wide");
  return figures.length ? [el("div", { class: "grid" }, ...figures)] : [];
}

// On paper charts are drawn for its width, in one column or two; the style says the same.
const PAPER = 680, GAP = 12, PADDING = 10;
let printing = false;
const charted = () => [...document.querySelectorAll("figure > .scroll")].filter((place) => place.drawAt);
addEventListener("beforeprint", () => {
  printing = true;
  for (const place of charted()) place.drawAt((place.parentNode.matches(".grid > :not(.wide)") ? (PAPER - GAP) / 2 : PAPER) - 2 * PADDING);
});
addEventListener("afterprint", () => {
  printing = false;
  for (const place of charted()) place.drawAt(Math.floor(place.clientWidth));
});

function numbers(title, rows) {
  const details = el("details", {}, el("summary", {}, "Show the numbers"));
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1) details.append(table(...rows(), title));
  });
  return details;
}

function swatch(fill) {
  const sample = draw("svg", { width: 14, height: 14, class: "swatch", "aria-hidden": "true" });
  sample.append(draw("rect", { width: 14, height: 14, rx: 2, fill }));
  return sample;
}

function legendOf(series) {
  const items = series.map(({ name, color, dash, area }) => {
    const sample = draw("svg", { width: 22, height: 10, "aria-hidden": "true" });
    sample.append(draw("line", { x1: 0, x2: 22, y1: 5, y2: 5, stroke: color, "stroke-width": 3, "stroke-dasharray": dash || "" }));
    return el("li", {}, area ? swatch(color) : sample, name);
  });
  return el("ul", { class: "legend" }, ...items);
}
