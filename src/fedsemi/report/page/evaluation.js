// What a test says, each number with its interval and what it rests on.

const within = (i) => (known(i) ? `${percent(i.value)} (${(100 * i.low).toFixed(1)}–${(100 * i.high).toFixed(1)})` : "–");
const nameList = (names) => (names.length > 6 ? `${names.slice(0, 6).join(", ")} and ${names.length - 6} more` : names.join(", "));
const tabled = (title, note, ...tables) => el("figure", { class: "wide intervals" }, el("figcaption", {}, el("h3", {}, title), el("span", { class: "note" }, note)), ...tables);

const FEW = 10;

function restsOn(scores, classes) {
  const whose = known(scores.num_patients) ? ` of ${whole(scores.num_patients)} patients or lesions` : "";
  return `${whole(scores.num)} images${whose}, ${classes - scores.missing.length} of ${classes} classes`;
}

function evaluationSection(found) {
  const test = found.test;
  if (!test) return [];
  const names = found.class_names, { scores } = test, there = test.classes.filter((c) => c.num), said = `Last model; ${restsOn(scores, names.length)}.`;
  const nodes = scores.missing.length ? [el("div", { class: "alarm" }, el("b", {}, `No test image of ${nameList(scores.missing)}: no number on this page says anything about ${scores.missing.length > 1 ? "these classes" : "this class"}.`))] : [];
  const few = there.filter((c) => c.num < FEW).map((c) => c.name);
  const bars = [["accuracy", "accuracy"], ["balanced accuracy", "balanced_accuracy"], ["AUC", "auc"]].filter(([, key]) => scores[key]).map(([name, key]) => barWithin(name, scores[key]));
  const drawn = known(scores.num_patients) ? "whole patients or lesions drawn again" : "images drawn again within their class";
  const whiskers = `Whiskers: 95 % intervals, ${drawn} ${whole(scores.num_draws)} times. They do not cover another seed, place or camera.`;
  const figures = [
    figure({ title: "The test as a whole", note: [said, whiskers, few.length && `Fewer than ${FEW} images of ${nameList(few)}: anecdotes, whatever the interval.`].filter(Boolean).join(" "), chart: barChart({ rows: bars, high: 1 }), rows: () => [["score", "value (95 % interval)"], bars.map((b) => [b.name, b.text])] }),
    ...(there.some((c) => c.auc) ? [figure({ title: "AUC of each class", wide: names.length > 30, note: "One class against the rest, with 95 % intervals; number of its images in brackets.", chart: barChart({ rows: there.map((c) => barWithin(`${c.name} (${whole(c.num)})`, c.auc)), high: 1 }), rows: () => [["class", "images", "AUC"], test.classes.map((c) => [c.name, whole(c.num), within(c.auc)])] })] : []),
    reliabilityFigure("Calibration", test.calibration, "Of images whose class was predicted with a probability (across), the part that was right (up)."),
    ...(there.length <= 12 ? [panelFigure("Calibration of each class", there.map((c) => ({ name: c.name, ...c.calibration })), "Of all images, the probability of a class (across) and how often it is that class (up).")] : []),
  ];
  return [...nodes, ...grid(figures), thresholdFigure(test.classes)];
}

const barWithin = (name, i) => ({ name, value: i.value, low: i.low, high: i.high, text: within(i) });

function thresholdFigure(classes) {
  const some = classes.find((c) => c.thresholds && c.thresholds.length);
  if (!some) return "";
  return tabled("Thresholds", "A class is called from a probability on; of the images of other classes, at least the named part is then left alone. Thresholds are chosen on these very images: choose yours on others, and test it on these.",
    table(["class", "images", ...some.thresholds.flatMap((t) => [`sensitivity at ${Math.round(100 * t.at.wanted)} % specificity`, "from probability"]), "recall", "calibration error"],
      classes.map((c) => (c.num ? [c.name, whole(c.num), ...c.thresholds.flatMap((t) => [within(t.sensitivity), t.at.sensitivity ? plain(+t.at.threshold.toPrecision(3)) : "none"]), within(c.recall), errorText(c.calibration)] : [c.name, "0", ...Array(2 * some.thresholds.length + 2).fill("no test image")])), "Sensitivity at fixed specificity"));
}

const errorText = (c) => (c ? `${percent(c.error)}${c.error > c.by_chance ? "" : " (chance)"}` : "–");

// Sites and subgroups: those with the same classes in one table, never in one order.
function alike(parts) {
  const sets = new Map();
  for (const part of parts.filter((p) => p.scores)) {
    const key = JSON.stringify(part.scores.missing);
    sets.set(key, [...(sets.get(key) || []), part]);
  }
  return [...sets.entries()].map(([key, members]) => [JSON.parse(key), members]).sort((a, b) => a[0].length - b[0].length);
}

function comparedTables(parts, what, classes) {
  const few = parts.filter((p) => !p.scores), heads = [what, "images", "accuracy", "balanced accuracy", "AUC"];
  const made = table(heads, [], `Scores by ${what}`), rows = made.querySelector("table");
  for (const [missing, members] of alike(parts)) {
    const over = missing.length ? `${classes - missing.length} of ${classes} classes: without ${nameList(missing)}` : `All ${classes} classes`;
    const cells = (p) => [whole(p.num), ...["accuracy", "balanced_accuracy", "auc"].map((key) => within(p.scores[key]))].map((text) => el("td", {}, text));
    rows.append(el("tbody", {}, el("tr", {}, el("th", { colspan: 5, scope: "rowgroup", class: "kind" }, over)), ...members.map((p) => el("tr", {}, el("th", { scope: "row" }, p.name), ...cells(p)))));
  }
  return [made, ...(few.length ? [el("p", { class: "note" }, `Too few images to say anything: ${few.map((p) => `${p.name} (${whole(p.num)})`).join(", ")}.`)] : [])];
}

const APART = "Those with the same classes stand together: a mean over other classes is another number, so compare within a block only.";

function subgroupTables(found) {
  const classes = found.class_names?.length;
  return Object.entries(found.subgroups || {}).map(([column, groups]) => tabled(`By ${column}`, `With 95 % intervals. Where they overlap, a difference may be chance. ${alike(groups).length > 1 ? APART : ""}`, ...comparedTables(groups, column, classes)));
}

function siteSection(run) {
  const found = run.evaluation, entries = Object.entries(found.sites || {});
  if (!entries.length) return [];
  const names = found.class_names || classNames(run), sites = entries.map(([id, site]) => ({ ...site, name: clientName(run, run.clients.ids.indexOf(+id)) }));
  const nodes = [tabled("Each site that has labels", `Measured on ${found.sites_on}, with 95 % intervals. ${alike(sites).length > 1 ? APART : ""}`, ...comparedTables(sites, "site", names.length))];
  const curves = sites.filter((s) => s.calibration).map((s) => ({ name: s.name, ...s.calibration }));
  if (curves.length && curves.length <= 24) nodes.push(panelFigure("Calibration at each site", curves, "Probability of the predicted class (across) and the part that was right (up).", true));
  for (const site of sites.filter((s) => s.classes)) nodes.push(el("details", {}, el("summary", {}, `${site.name}: each class`), siteClasses(site)));
  return nodes;
}

function siteClasses(site) {
  const some = site.classes.find((c) => c.thresholds && c.thresholds.length), at = some ? some.thresholds : [];
  const heads = ["class", "images", "recall", ...(some ? ["AUC", ...at.map((t) => `sensitivity at ${Math.round(100 * t.at.wanted)} %`)] : [])];
  const rows = site.classes.map((c) => (c.num ? [c.name, whole(c.num), within(c.recall), ...(some ? [within(c.auc), ...c.thresholds.map((t) => within(t.sensitivity))] : [])] : [c.name, "0", ...heads.slice(2).map(() => "no image")]));
  const error = known(site.calibration_error) ? `Calibration error ${percent(site.calibration_error)}. An area and thresholds need the images: fedsemi evaluate at the site shows them there.` : "";
  return el("div", {}, table(heads, rows, site.name), el("p", { class: "note" }, error));
}

// Reliability: the diagonal is perfect, dots are tenths of probability, whiskers 95 %.
function panel(picture, { bins }, { x, y, side, ticksShown }) {
  const px = (v) => x + v * side, py = (v) => y + (1 - v) * side;
  picture.append(draw("rect", { x, y, width: side, height: side, fill: "none", class: "axis" }));
  picture.append(draw("path", { d: `M${px(0)} ${py(0)}L${px(1)} ${py(1)}`, class: "cursor", fill: "none" }));
  for (const v of ticksShown) {
    picture.append(draw("text", { x: px(v), y: py(0) + 15, "text-anchor": "middle", class: "soft", "font-size": 11 }, `${100 * v} %`));
    if (v) picture.append(draw("text", { x: px(0) - 5, y: py(v) + 4, "text-anchor": "end", class: "soft", "font-size": 11 }, `${100 * v} %`));
  }
  const most = Math.max(...bins.map((b) => b.num));
  picture.append(draw("path", { d: segments(bins.map((b) => [px(b.said), py(b.was.value)])), fill: "none", stroke: "var(--c0)", "stroke-width": 1.6 }));
  for (const b of bins) {
    picture.append(draw("path", { d: `M${px(b.said)} ${py(b.was.low)}V${py(b.was.high)}`, stroke: "var(--c0)", "stroke-width": 1.2, opacity: 0.7 }));
    const dot = draw("circle", { cx: px(b.said), cy: py(b.was.value), r: 2.2 + 3.8 * Math.sqrt(b.num / most), fill: "var(--c0)", stroke: "var(--panel)" });
    dot.append(draw("title", {}, `said ${percent(b.said)}, was ${within(b.was)}; ${whole(b.num)} images`));
    picture.append(dot);
  }
}

const calibrationNote = (c) => `Expected calibration error ${percent(c.error)}; of so many images, chance alone makes up to ${percent(c.by_chance)}${c.error > c.by_chance ? "." : ", so none is shown."}`;
const binRows = (c) => c.bins.map((b) => [percent(b.said), within(b.was), whole(b.num)]);

function reliabilityFigure(title, calibration, note) {
  const chart = (width) => {
    const side = Math.min(width - 70, 280), height = side + 34;
    const picture = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
    panel(picture, calibration, { x: 46, y: 8, side, ticksShown: [0, 0.25, 0.5, 0.75, 1] });
    return picture;
  };
  return figure({ title, note: `${note} On the dashed line all is as said; larger dots, more images. ${calibrationNote(calibration)}`, chart, rows: () => [["said", "was (95 % interval)", "images"], binRows(calibration)] });
}

function panelFigure(title, panels, note, wide = false) {
  const chart = (width) => {
    const columns = Math.max(1, Math.min(panels.length, Math.floor(width / 150))), cell = Math.min(width / columns, 250), side = Math.min(cell - 58, 190), rowHeight = side + 62;
    const height = Math.ceil(panels.length / columns) * rowHeight, picture = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
    panels.forEach((one, i) => {
      const x = (i % columns) * cell + 40, y = Math.floor(i / columns) * rowHeight + 34;
      picture.append(draw("text", { x, y: y - 20 }, shorten(one.name, Math.floor(cell / 8))));
      picture.append(draw("text", { x, y: y - 6, class: "soft", "font-size": 11 }, `error ${errorText(one)}`));
      panel(picture, one, { x, y, side, ticksShown: [0, 0.5, 1] });
    });
    return picture;
  };
  return figure({ title, note: `${note} “Chance”: an error that a perfect model shows one time in twenty on so many images.`, wide, chart, rows: () => [["", "error", "by chance"], panels.map((p) => [p.name, percent(p.error), percent(p.by_chance)])] });
}
