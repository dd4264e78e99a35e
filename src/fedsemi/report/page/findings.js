// Charts of the questions: differences with intervals, a map of them, a dose.

const MINUS = "−";
// What rounds to zero has no sign.
function signed(value, digits = 1) {
  const text = Math.abs(value).toFixed(digits);
  return +text === 0 ? text : (value < 0 ? MINUS : "+") + text;
}
const axisNumber = (value) => String(+value.toPrecision(3)).replace("-", MINUS);

function axisAlong(picture, { x, low, high, y, label, count, top }) {
  for (const value of ticks(low, high, count)) {
    picture.append(draw("line", { class: "axis", x1: x(value), x2: x(value), y1: top, y2: y }));
    picture.append(draw("text", { x: x(value), y: y + 15, "text-anchor": "middle", class: "soft" }, axisNumber(value)));
  }
  picture.append(draw("text", { x: (x(low) + x(high)) / 2, y: y + 31, "text-anchor": "middle", class: "soft" }, label));
}

// A line for each difference and score; names stand above their lines where it is narrow.
// Where seeds are drawn below their line, lines stand farther apart.
function intervalChart({ rows, worth, label }) {
  return (width) => {
    const names = [...new Set(rows.map((r) => r.name))], groups = [...new Set(rows.map((r) => r.group))];
    const narrow = width < 520, lines = names.map((name) => (narrow ? inTwo(name, Math.floor((width - 10) / 6.6)) : [name]));
    const above = narrow ? 5 + 14 * Math.max(...lines.map((some) => some.length)) : 0;
    const apart = rows.some((r) => r.each) ? 20 : 16, step = above + apart * groups.length + 8;
    const left = narrow ? 10 : Math.min(width * 0.42, 14 + Math.max(...names.map((name) => textWidth(name, 11.5))));
    const right = 12 + Math.max(...rows.map((row) => textWidth(besideRow(row), 11))), top = 4, bottom = top + step * names.length;
    const ends = rows.flatMap((r) => [r.value, r.low, r.high, ...Object.values(r.each || {})]).filter(known).concat(0, worth ? [worth, -worth] : []);
    const pad = (Math.max(...ends) - Math.min(...ends) || 1) * 0.05;
    const low = Math.min(...ends) - pad, high = Math.max(...ends) + pad;
    const x = (v) => left + ((v - low) / (high - low)) * (width - left - right);
    const picture = draw("svg", { width, height: bottom + 38, viewBox: `0 0 ${width} ${bottom + 38}` });
    if (worth) picture.append(draw("rect", { x: x(-worth), y: top, width: x(worth) - x(-worth), height: bottom - top, class: "worth" }));
    axisAlong(picture, { x, low, high, y: bottom, top, label, count: Math.min(7, (width - left - right) / 60) });
    picture.append(draw("line", { class: "zero", x1: x(0), x2: x(0), y1: top, y2: bottom }));
    names.forEach((name, i) => {
      const start = top + i * step;
      const place = narrow ? { x: left } : { x: left - 8, "text-anchor": "end" };
      lines[i].forEach((text, k) => {
        const y = narrow ? start + above - 5 - 14 * (lines[i].length - 1 - k) : start + step / 2 + 4;
        picture.append(draw("text", { ...place, y, class: "over" }, narrow ? text : shorten(text, Math.floor(left / 6.4))));
      });
      groups.forEach((group, g) => {
        const row = rows.find((r) => r.name === name && r.group === group);
        if (row) intervalRow(picture, row, { x, y: start + above + 12 + g * apart, color: COLORS[g], hollow: g > 0, end: width - right });
      });
    });
    return picture;
  };
}

// A name that is too long for a line stands in two.
function inTwo(name, most) {
  const end = name.length > most ? name.lastIndexOf(" ", most) : -1;
  return end < 0 ? [name] : [name.slice(0, end), name.slice(end + 1)];
}

const besideRow = (row) => (!row.seeds ? signed(row.value) : `${signed(row.value)}, n = ${row.seeds}`);

function intervalRow(picture, row, { x, y, color, hollow, end }) {
  const node = draw("g");
  for (const [seed, value] of Object.entries(row.each || {})) {
    const dot = draw("circle", { cx: x(value), cy: y + 7, r: 1.8, fill: color, class: "seed" });
    dot.append(draw("title", {}, `seed ${seed}: ${signed(value, 2)}`));
    node.append(dot);
  }
  if (known(row.low)) node.append(draw("path", { d: `M${x(row.low)} ${y}H${x(row.high)}`, stroke: color, "stroke-width": 2.4 }));
  node.append(draw("circle", { cx: x(row.value), cy: y, r: 4.2, fill: hollow ? "var(--panel)" : color, stroke: color, "stroke-width": 2 }));
  const told = `${signed(row.value, 2)}${known(row.low) ? ` (${signed(row.low, 2)} to ${signed(row.high, 2)})` : ""}${row.seeds ? `, n = ${row.seeds}` : ""}${known(row.median) ? `; median ${signed(row.median, 2)}` : ""}`;
  node.append(draw("title", {}, `${row.name}, ${row.group}: ${told}`));
  node.append(draw("text", { x: end + 8, y: y + 4, "font-size": 11, class: "soft" }, besideRow(row)));
  picture.append(node);
}

// Blue above zero, orange below, pale in between; a frame says that zero is excluded.
const ABOVE = { light: [[226, 238, 250], [33, 113, 181]], dark: [[28, 56, 88], [90, 170, 225]] };
const BELOW = { light: [[252, 236, 214], [201, 122, 0]], dark: [[74, 52, 20], [245, 180, 60]] };

function differenceMap({ rows, columns, cells, rowLabel, worth, most, planned }) {
  return (width) => {
    const narrow = width < 520, left = 24, head = 40, tall = narrow ? 70 : 54;
    const cellWidth = Math.max(narrow ? 58 : 76, (width - left - 2) / columns.length);
    const full = left + cellWidth * columns.length + 2, end = head + tall * rows.length, height = end + 44;
    const picture = draw("svg", { width: full, height, viewBox: `0 0 ${full} ${height}` });
    picture.append(draw("text", { x: 0, y: 12, class: "soft" }, `${rowLabel} ↓`));
    columns.forEach((name, c) => picture.append(draw("text", { x: left + (c + 0.5) * cellWidth, y: head - 8, "text-anchor": "middle", "font-size": narrow ? 10 : 12 }, name)));
    rows.forEach((name, r) => {
      picture.append(draw("text", { x: left - 8, y: head + (r + 0.5) * tall + 4, "text-anchor": "end" }, name));
      columns.forEach((column, c) => mapCell(picture, cells[r][c], { x: left + c * cellWidth, y: head + r * tall, width: cellWidth - 3, height: tall - 3, most, worth, planned, narrow }));
    });
    const steps = [-1, -0.75, -0.5, -0.25, -0.01, 0.01, 0.25, 0.5, 0.75, 1].map((part) => inksOf(part * most, worth, most));
    colorKey(picture, { x: left + 1, y: end + 12, inks: steps, low: `${signed(-most)}, below zero`, high: `${signed(most)}, above zero` });
    return picture;
  };
}

const inksOf = (value, worth, most) => ["light", "dark"].map((scheme) => shade(Math.abs(value) <= worth ? 0 : Math.abs(value) / most, (value < 0 ? BELOW : ABOVE)[scheme]));

function mapCell(picture, cell, { x, y, width, height, most, worth, planned, narrow }) {
  const box = draw("rect", { x: x + 1, y: y + 1, width, height, rx: 3, fill: "var(--empty)" });
  picture.append(box);
  const middle = { x: x + 1 + width / 2, "text-anchor": "middle" };
  if (!cell) { picture.append(draw("text", { ...middle, y: y + height / 2 + 5, class: "soft" }, "not run")); return; }
  const inks = inksOf(cell.value, worth, most);
  paint(box, ...inks.map(rgb));
  const excluded = known(cell.low) && (cell.low > 0 || cell.high < 0);
  // Dashed as long as seeds are missing: such a cell claims nothing yet.
  if (excluded) Object.entries({ stroke: "var(--text)", "stroke-width": 2, ...(cell.seeds < planned && { "stroke-dasharray": "3 4" }) }).forEach(([name, value]) => box.setAttribute(name, value));
  const [low, high] = known(cell.low) ? [`${signed(cell.low)} to`, signed(cell.high)] : ["no", "interval"];
  const lines = [signed(cell.value), ...(narrow ? [low, high] : [`${low} ${high}`]), `n = ${cell.seeds}`];
  lines.forEach((text, i) => {
    const at = y + height / 2 + 6 + (i - (lines.length - 1) / 2) * 14;
    const node = draw("text", { ...middle, y: at, "font-size": i ? 10.5 : 15, "font-weight": i ? 400 : 600 }, text);
    paint(node, ...inks.map(inkOn));
    picture.append(node);
  });
}

function doseChart({ points, label, unit }) {
  return (width) => {
    const height = Math.max(230, Math.min(320, width * 0.55)), box = { left: 48, right: 24, top: 14, bottom: 42 };
    const span = (key) => {
      const values = points.map((p) => p[key]), low = Math.min(...values), high = Math.max(...values), pad = (high - low || 1) * 0.12;
      return [low - pad, high + pad];
    };
    const [x0, x1] = span("x"), [y0, y1] = span("y");
    const x = (v) => box.left + ((v - x0) / (x1 - x0)) * (width - box.left - box.right);
    const y = (v) => height - box.bottom - ((v - y0) / (y1 - y0)) * (height - box.top - box.bottom);
    const picture = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
    axisAlong(picture, { x, low: x0, high: x1, y: height - box.bottom, top: box.top, label, count: Math.min(6, width / 80) });
    for (const value of ticks(y0, y1, 4)) picture.append(draw("text", { x: box.left - 6, y: y(value) + 4, "text-anchor": "end", class: "soft" }, `${axisNumber(value)}${unit}`));
    picture.append(draw("path", { d: segments(points.map((p) => [x(p.x), y(p.y)])), fill: "none", stroke: "var(--c0)", "stroke-width": 1.5, opacity: 0.5 }));
    for (const p of points) {
      const dot = draw("circle", { cx: x(p.x), cy: y(p.y), r: 5, fill: "var(--c0)" });
      dot.append(draw("title", {}, `power ${p.name}: ${p.y} at a share of ${p.x}`));
      const last = x(p.x) > width * 0.7;
      picture.append(dot, draw("text", { x: x(p.x) + (last ? -9 : 9), y: y(p.y) - 8, "text-anchor": last ? "end" : "start", class: "over" }, `power ${p.name}`));
    }
    return picture;
  };
}

// Scores over the values of a setting, a line for each method, with what they vary by.
function sweepChart({ names, series, label }) {
  return (width) => {
    const height = Math.max(230, Math.min(340, width * 0.5)), box = { left: 52, right: 24, top: 14, bottom: 46 };
    const ends = series.flatMap((s) => [...s.low, ...s.high]).filter(known);
    const pad = (Math.max(...ends) - Math.min(...ends) || 1) * 0.08, low = Math.min(...ends) - pad, high = Math.max(...ends) + pad;
    const step = (width - box.left - box.right) / names.length;
    const y = (v) => height - box.bottom - ((v - low) / (high - low)) * (height - box.top - box.bottom);
    const picture = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
    for (const value of ticks(low, high, 5)) {
      picture.append(draw("line", { class: "axis", x1: box.left, x2: width - box.right, y1: y(value), y2: y(value) }));
      picture.append(draw("text", { x: box.left - 6, y: y(value) + 4, "text-anchor": "end", class: "soft" }, `${axisNumber(value)} %`));
    }
    names.forEach((name, i) => picture.append(draw("text", { x: box.left + (i + 0.5) * step, y: height - box.bottom + 16, "text-anchor": "middle", class: "soft" }, name)));
    picture.append(draw("text", { x: (box.left + width - box.right) / 2, y: height - 8, "text-anchor": "middle", class: "soft" }, label));
    series.forEach((s, k) => {
      // Beside each other, so that lines of spread do not cover one another.
      const x = (i) => box.left + (i + 0.5) * step + (k - (series.length - 1) / 2) * Math.min(9, step / (2 * series.length));
      picture.append(draw("path", { d: segments(s.values.map((v, i) => (known(v) ? [x(i), y(v)] : null))), fill: "none", stroke: s.color, "stroke-width": 2, "stroke-dasharray": s.dash || "" }));
      s.values.forEach((v, i) => {
        if (!known(v)) return;
        const dot = draw("circle", { cx: x(i), cy: y(v), r: 4, fill: s.color });
        dot.append(draw("title", {}, `${s.name}, ${label} = ${names[i]}: ${v} % (${s.low[i]} to ${s.high[i]})`));
        picture.append(draw("line", { x1: x(i), x2: x(i), y1: y(s.low[i]), y2: y(s.high[i]), stroke: s.color, "stroke-width": 1.5 }), dot);
      });
    });
    return picture;
  };
}
