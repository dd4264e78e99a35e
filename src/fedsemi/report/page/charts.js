// The charts: lines over rounds, shares stacked over rounds, heat maps and bars.

function frame(width, { xs, low, high, format, stages, step }) {
  const height = Math.max(190, Math.min(300, width * 0.5));
  const box = { left: 52, right: 14, top: 24, bottom: 38 };
  const picture = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, tabindex: 0 });
  const from = xs[0], to = xs[xs.length - 1];
  const x = (v) => box.left + (to === from ? 0.5 : (v - from) / (to - from)) * (width - box.left - box.right);
  const y = (v) => height - box.bottom - ((v - low) / (high - low || 1)) * (height - box.top - box.bottom);
  for (const value of ticks(low, high, step ? (high - low) / step : 5)) {
    picture.append(draw("line", { class: "axis", x1: box.left, x2: width - box.right, y1: y(value), y2: y(value) }));
    picture.append(draw("text", { x: box.left - 6, y: y(value) + 4, "text-anchor": "end", class: "soft" }, format(value)));
  }
  for (const value of ticks(from, to, Math.min(8, width / 70)).filter(Number.isInteger))
    picture.append(draw("text", { x: x(value), y: height - box.bottom + 16, "text-anchor": "middle", class: "soft" }, value));
  picture.append(draw("text", { x: (box.left + width - box.right) / 2, y: height - 5, "text-anchor": "middle", class: "soft" }, "round"));
  nameStages(picture, stages || [], { x, from, to, top: box.top, bottom: height - box.bottom, right: width - box.right });
  return { picture, x, y, height, box };
}

function nameStages(picture, stages, { x, from, to, top, bottom, right }) {
  stages.forEach(({ after, method }, i) => {
    if (after >= to) return;
    const start = Math.max(x(Math.max(after + (i ? 0.5 : 1), from)), 52);
    const next = i + 1 < stages.length && stages[i + 1].after < to ? x(stages[i + 1].after + 0.5) : right;
    if (i) picture.append(draw("line", { class: "axis", x1: start, x2: start, y1: top - 18, y2: bottom }));
    const room = Math.floor((next - start - 6) / 6.6);
    if (room >= 4) picture.append(draw("text", { x: start + 3, y: top - 9, class: "soft" }, shorten(method, room)));
  });
}

// Follow the pointer, or the arrow keys, along the rounds.
function follow({ picture, x, height, box }, xs, describe) {
  const cursor = draw("line", { class: "cursor", y1: box.top, y2: height - box.bottom, visibility: "hidden" });
  picture.append(cursor);
  let at = xs.length - 1;
  const point = (i, px, py) => {
    at = Math.max(0, Math.min(xs.length - 1, i));
    cursor.setAttribute("x1", x(xs[at]));
    cursor.setAttribute("x2", x(xs[at]));
    cursor.setAttribute("visibility", "visible");
    const area = picture.getBoundingClientRect();
    tip.show(px ?? area.left + x(xs[at]), py ?? area.top + 20, `round ${xs[at]}`, describe(at));
  };
  const leave = () => { cursor.setAttribute("visibility", "hidden"); tip.hide(); };
  picture.addEventListener("pointermove", (event) => {
    const px = event.clientX - picture.getBoundingClientRect().left;
    let nearest = 0;
    xs.forEach((v, i) => { if (Math.abs(x(v) - px) < Math.abs(x(xs[nearest]) - px)) nearest = i; });
    point(nearest, event.clientX, event.clientY);
  });
  picture.addEventListener("pointerleave", leave);
  picture.addEventListener("blur", leave);
  picture.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -1e9, End: 1e9 }[event.key];
    if (step) { event.preventDefault(); point(at + step); }
  });
}

// The range of an axis of shares: what is there and little more, between whole steps.
function fitted(values) {
  const some = values.filter(known), least = Math.min(...some), most = Math.max(...some);
  const step = [0.005, 0.01, 0.02, 0.05, 0.1].find((s) => (most - least) / s <= 6) || 0.2;
  return [Math.max(0, Math.floor((least - step / 4) / step) * step), Math.min(1, Math.ceil((most + step / 4) / step) * step), step];
}

// Far below its end, the beginning of a run would press the rest together.
const fittedFrom = (begun, series, rules) => fitted([...series.flatMap((s) => s.values.slice(begun)), ...rules.map((r) => r.value)]);

let clips = 0;
function clipOf({ picture, height, box }, width) {
  const id = `inside-${clips++}`, clip = draw("clipPath", { id });
  clip.append(draw("rect", { x: box.left, y: box.top - 4, width: width - box.left - box.right, height: height - box.top - box.bottom + 4 }));
  picture.append(clip);
  return `url(#${id})`;
}

function lineChart({ xs, series, format = percent, stages, low, high, fit, rules = [], ticksBelow = [] }) {
  return (width) => {
    const values = [...series.flatMap((s) => [...s.values, ...(s.low || []), ...(s.high || [])]), ...rules.map((r) => r.value)].filter(known);
    const [bottom, top, step] = fit ? fit(values) : [low ?? Math.min(...values, 0), high ?? Math.max(...values, (low ?? 0) + 1e-9) * 1.04];
    const parts = frame(width, { xs, low: bottom, high: top, format: (v) => axisText(v, format), stages, step });
    const path = (list) => segments(list.map((v, i) => (known(v) ? [parts.x(xs[i]), parts.y(v)] : null)));
    const inside = bottom > 0 ? clipOf(parts, width) : "none"; // what lies below a fitted axis
    // Dashes over solid lines: so a line shows where it lies on another.
    for (const s of [...series].sort((a, b) => !!a.dash - !!b.dash)) {
      if (s.low) parts.picture.append(band(xs, s, parts));
      parts.picture.append(draw("path", { d: path(s.values), fill: "none", stroke: s.color, "stroke-width": s.faint ? 1 : 2.2, "stroke-dasharray": s.dash || "", opacity: s.faint ? 0.6 : 1, "clip-path": inside }));
      // A line of one point has no length; and dots show where rounds were tested.
      if (!s.faint) s.values.forEach((v, i) => {
        const alone = known(v) && !known(s.values[i - 1]) && !known(s.values[i + 1]);
        if (alone && v >= bottom) parts.picture.append(draw("circle", { cx: parts.x(xs[i]), cy: parts.y(v), r: 3, fill: s.color }));
      });
    }
    for (const rule of rules) parts.picture.append(...ruleAcross(rule, width, parts));
    for (const s of series) for (const mark of s.marks || []) markOn(parts, xs, s, mark);
    for (const round of ticksBelow) parts.picture.append(draw("path", { class: "cut", d: `M${parts.x(round)} ${parts.height - parts.box.bottom}v-9`, stroke: "var(--warn)", "stroke-width": 2 }));
    follow(parts, xs, (i) => {
      const cut = (s) => (s.marks || []).filter((m) => m.at === xs[i]).map((m) => `, ${m.text}`).join("");
      const shown = series.filter((s) => known(s.values[i])).sort((a, b) => b.values[i] - a.values[i]);
      const lines = shown.slice(0, 12).map((s) => `${s.name}: ${format(s.values[i])}${s.low ? ` (${format(s.low[i])} – ${format(s.high[i])})` : ""}${cut(s)}`);
      return shown.length > 12 ? [...lines, `and ${shown.length - 12} more`] : lines;
    });
    return parts.picture;
  };
}

// A line across for a number that has no rounds, with its name at the left end.
function ruleAcross({ name, value, above }, width, { y, box }) {
  const line = draw("line", { class: "rule", x1: box.left, x2: width - box.right, y1: y(value), y2: y(value) });
  const text = draw("text", { class: "over", x: box.left + 6, y: y(value) + (above ? 14 : -5) }, `${name}: ${percent(value)}`);
  return [line, text];
}

function markOn({ picture, x, y }, xs, s, { at, text }) {
  const value = s.values[xs.indexOf(at)];
  if (!known(value)) return;
  const [px, py] = [x(at), y(value)];
  const mark = draw("path", { class: "cut", d: `M${px - 4.5} ${py - 8}h9L${px} ${py}z`, fill: s.color, stroke: "var(--panel)", "stroke-width": 0.8 });
  mark.append(draw("title", {}, `round ${at}, ${s.name}, ${text}`));
  picture.append(mark);
}

const axisText = (value, format) => (format === percent ? `${+(100 * value).toFixed(2)} %` : format(value));

function segments(points) {
  let pen = "M";
  return points.map((p) => {
    if (!p) { pen = "M"; return ""; }
    const piece = `${pen}${p[0].toFixed(1)} ${p[1].toFixed(1)}`;
    pen = "L";
    return piece;
  }).join("");
}

function band(xs, s, { x, y }) {
  const there = xs.map((v, i) => i).filter((i) => known(s.low[i]));
  const upper = there.map((i) => `${x(xs[i]).toFixed(1)} ${y(s.high[i]).toFixed(1)}`);
  const lower = there.map((i) => `${x(xs[i]).toFixed(1)} ${y(s.low[i]).toFixed(1)}`).reverse();
  return draw("path", { d: there.length ? `M${[...upper, ...lower].join("L")}Z` : "", fill: s.color, opacity: 0.18 });
}

function stackChart({ xs, series, stages }) {
  return (width) => {
    const parts = frame(width, { xs, low: 0, high: 1, format: (v) => axisText(v, percent), stages });
    let base = xs.map(() => 0);
    for (const s of series) {
      const next = base.map((b, i) => b + (s.values[i] || 0));
      const place = (list) => list.map((v, i) => `${parts.x(xs[i]).toFixed(1)} ${parts.y(v).toFixed(1)}`);
      const outline = xs.length > 1 ? `M${[...place(next), ...place(base).reverse()].join("L")}Z` : barOf(parts, xs[0], base[0], next[0]);
      parts.picture.append(draw("path", { d: outline, fill: s.color, stroke: "var(--panel)", "stroke-width": 0.8 }));
      base = next;
    }
    follow(parts, xs, (i) => series.filter((s) => s.values[i]).map((s) => `${s.name}: ${percent(s.values[i])}`).reverse());
    return parts.picture;
  };
}

function barOf({ x, y }, at, low, high) {
  const l = x(at) - 20, r = x(at) + 20;
  return `M${l} ${y(low)}L${r} ${y(low)}L${r} ${y(high)}L${l} ${y(high)}Z`;
}

// One hue from faint to strong, so that it reads in gray as well; nothing is gray-ish.
// What is strong stands out from the page: dark on a light one, bright on a dark one.
const RAMPS = {
  light: [[222, 235, 247], [107, 174, 214], [33, 113, 181], [8, 48, 107]],
  dark: [[24, 52, 84], [33, 102, 160], [90, 170, 225], [205, 232, 255]],
};

function shade(share, stops) {
  const place = Math.max(0, Math.min(0.9999, share)) * (stops.length - 1);
  const i = Math.floor(place), rest = place - i;
  return stops[i].map((v, k) => Math.round(v + (stops[i + 1][k] - v) * rest));
}

// Browsers that do not know light-dark() keep the attribute, which is for light pages.
function paint(node, light, dark) {
  node.setAttribute("fill", light);
  node.style.fill = `light-dark(${light}, ${dark})`;
}

const rgb = (color) => `rgb(${color.join(",")})`;

// The darker or the lighter ink, whichever has more contrast on a color.
function inkOn(color) {
  const linear = color.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  const luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  return luminance > 0.2 ? "#10243a" : "#ffffff";
}

// What colors stand for: a strip from the least to the most, its ends below it.
function colorKey(picture, { x, y, inks, low, high }) {
  const full = 252, step = full / inks.length;
  inks.forEach((both, i) => {
    const box = draw("rect", { x: x + i * step, y, width: step, height: 10 });
    paint(box, ...both.map(rgb));
    picture.append(box);
  });
  picture.append(draw("text", { x, y: y + 24, class: "soft" }, low), draw("text", { x: x + full, y: y + 24, "text-anchor": "end", class: "soft" }, high));
}

// Nothing (null) is left empty; so is zero, unless zeros say something. What is counted
// has a key of its colors, and cells that are wide enough for numbers unless there are many.
function heatMap({ rowNames, rowFills, columnNames, values, format, top, rowLabel, columnLabel, counted, zeros = false }) {
  return (width) => {
    const beforeNames = rowFills ? 16 : 0;
    const left = Math.min(160, 14 + beforeNames + Math.max(rowLabel.length, ...rowNames.map((n) => n.length)) * 7);
    const longest = Math.max(...columnNames.map((name) => textWidth(name)));
    const turned = longest > (width - left - 6) / columnNames.length - 4;
    const beside = turned ? 40 : 6; // turned names lean out to the right
    // Numbers in all cells or in none: some alone would look like the only ones.
    const told = (v) => known(v) && (v !== 0 || zeros);
    const widest = Math.max(0, ...values.flat().filter(told).map((v) => textWidth(cellText(v, format), 11)));
    const least = columnNames.length > 30 ? 8 : Math.max(26, counted ? widest + 2 : 0);
    const cellWidth = Math.max(least, (width - left - beside) / columnNames.length);
    const head = (turned ? Math.min(longest, 84) * 0.8 + 14 : 20) + 18;
    const cell = Math.max(14, Math.min(28, 900 / rowNames.length));
    const full = left + cellWidth * columnNames.length + beside, end = head + cell * rowNames.length, height = end + (counted ? 44 : 8);
    const picture = draw("svg", { width: full, height, viewBox: `0 0 ${full} ${height}` });
    picture.append(draw("text", { x: left, y: 12, class: "soft" }, columnLabel));
    picture.append(draw("text", { x: 2, y: head - 6, class: "soft" }, rowLabel));
    const every = Math.ceil(14 / cellWidth);
    columnNames.forEach((name, c) => {
      if (c % every) return;
      const x = left + (c + 0.5) * cellWidth, y = head - 6;
      const place = turned ? { x, y, transform: `rotate(-50 ${x} ${y})` } : { x, y, "text-anchor": "middle" };
      picture.append(draw("text", place, shorten(name, 14)));
    });
    const most = top || Math.max(...values.flat().filter(known), 1e-12);
    const numbers = widest <= cellWidth - 1;
    rowNames.forEach((name, r) => {
      if (rowFills) picture.append(draw("rect", { x: Math.max(2, left - 22 - textWidth(name)), y: head + cell * (r + 0.5) - 5, width: 10, height: 10, rx: 2, fill: rowFills[r] }));
      picture.append(draw("text", { x: left - 6, y: head + cell * (r + 0.5) + 4, "text-anchor": "end" }, shorten(name, Math.floor((left - 8 - beforeNames) / 7.2))));
      columnNames.forEach((column, c) => heatCell(picture, { v: (values[r] || [])[c], most, format, told, numbers, name: `${rowLabel} ${name}, ${column}` }, { x: left + c * cellWidth, y: head + r * cell, cellWidth, cell }));
    });
    if (counted) colorKey(picture, { x: left, y: end + 12, inks: [0, 0.25, 0.5, 0.75, 1].map(heatInks), low: "1", high: `${format(most)} ${counted}` });
    return picture;
  };
}

const heatInks = (part) => [RAMPS.light, RAMPS.dark].map((ramp) => shade(0.06 + 0.94 * part, ramp));
const cellText = (v, format) => format(v).replace(" %", "");

function heatCell(picture, { v, most, format, told, numbers, name }, { x, y, cellWidth, cell }) {
  const [light, dark] = heatInks(known(v) ? v / most : 0);
  const box = draw("rect", { x, y, width: cellWidth - 1, height: cell - 1, fill: "var(--empty)" });
  if (told(v)) paint(box, rgb(light), rgb(dark));
  box.append(draw("title", {}, `${name}: ${known(v) ? format(v) : "none"}`));
  picture.append(box);
  if (!told(v) || !numbers) return;
  const number = draw("text", { x: x + cellWidth / 2, y: y + cell / 2 + 4, "text-anchor": "middle", "font-size": 11, "pointer-events": "none" }, cellText(v, format));
  paint(number, inkOn(light), inkOn(dark));
  picture.append(number);
}

// Bars from a common zero; rows may have an interval and a second, thinner mark. Many rows
// stand in several columns where there is room.
function barChart({ rows, format = percent, high }) {
  return (full) => {
    const columns = rows.length > 30 ? Math.max(1, Math.floor(full / 340)) : 1;
    const width = full / columns, inColumn = Math.ceil(rows.length / columns);
    const needed = (names) => 12 + Math.max(...names.map((name) => textWidth(name)));
    const long = rows.map((r) => r.name);
    const names = needed(long) <= width * 0.4 ? long : rows.map((r) => r.short || r.name);
    const left = Math.min(width * 0.4, needed(names));
    const step = rows.length > 12 ? 24 : 29, height = inColumn * step + 6;
    const ends = rows.flatMap((r) => [r.value, r.high, r.low, r.mark]).filter(known);
    const top = high ?? Math.max(...ends, 0), floor = Math.min(0, ...ends);
    const room = 14 + Math.max(...rows.map((r) => textWidth(r.text || format(r.value))));
    const x = (v) => left + ((v - floor) / (top - floor || 1)) * Math.max(20, width - left - room);
    const picture = draw("svg", { width: full, height, viewBox: `0 0 ${full} ${height}` });
    rows.forEach((row, i) => {
      const place = draw("g", { transform: `translate(${Math.floor(i / inColumn) * width} ${(i % inColumn) * step + 4})` });
      picture.append(place);
      barOfRow(place, { ...row, name: names[i] }, { x, left, thick: step - 8, text: row.text || format(row.value) });
    });
    return picture;
  };
}

// Seen on a bar of any color: a line with an edge in the color of the panel.
const overBar = (d, width) => [["var(--panel)", width + 3], ["var(--text)", width]].map(([stroke, thick]) => draw("path", { d, stroke, "stroke-width": thick, fill: "none" }));

function barOfRow(place, row, { x, left, thick, text }) {
  const middle = thick / 2 + 5, half = middle - 5;
  place.append(draw("text", { x: left - 6, y: middle, "text-anchor": "end" }, shorten(row.name, Math.floor((left - 8) / 6.8))));
  if (!known(row.value)) { place.append(draw("text", { x: left + 4, y: middle, class: "soft" }, "no value")); return; }
  const [a, b] = [x(0), x(row.value)];
  place.append(draw("rect", { x: Math.min(a, b), y: 0, width: Math.max(Math.abs(b - a), 1), height: thick, fill: row.color || "var(--c0)", rx: 2 }));
  if (known(row.low)) place.append(...overBar(`M${x(row.low)} ${half}H${x(row.high)}M${x(row.low)} ${half - 4}v8M${x(row.high)} ${half - 4}v8`, 1.5));
  if (known(row.mark)) place.append(...overBar(`M${x(row.mark)} -2v${thick + 4}`, 3.5));
  const end = Math.max(a, ...[row.value, row.high, row.mark].filter(known).map(x));
  place.append(draw("text", { x: end + 6, y: middle }, text));
}
