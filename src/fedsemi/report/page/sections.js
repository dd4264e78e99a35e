// What is shown of one run, section by section; each returns figures or nothing.

const range = (count, from = 1) => Array.from({ length: count }, (_, i) => i + from);
const classNames = (run) => run.class_names || range((run.recall || []).length, 0).map((c) => `class ${c}`);
const hasValues = (rows) => rows.some((row) => (row || []).some((v) => known(v)));

// What the run has given away of any one site, where there is noise.
const epsilonText = (epsilon) => String(+epsilon.toPrecision(3));
function privacyTile(run) {
  const spent = run.privacy;
  if (!spent) return [];
  const of = spent.covers === "model" ? "of the models" : "of statistics alone";
  return [[`ε ${epsilonText(spent.epsilon)}`, `${of}, δ ${spent.delta.toExponential()}${spent.stops ? ", budget spent" : ""}`]];
}

// On how many classes and images a score rests; a class without test images has no recall.
function basis(run) {
  const classes = run.recall && `${run.recall.filter(known).length} of ${run.recall.length} classes`;
  const images = run.data?.test ?? run.evaluation.test?.scores.num;
  return classes ? `, ${classes}${images ? `, ${whole(images)} images` : ""}` : "";
}

function resultSection(view) {
  const run = view.runs[view.main];
  const scores = run.result.mean_of_last_10;
  const latest = (name) => run.rounds[name].filter(known).at(-1);
  const tiles = [
    [percent(scores ? scores.accuracy : latest("accuracy")), scores ? `accuracy, mean of the last ${run.num_tests} tests` : "accuracy, latest test"],
    [percent(scores ? scores.balanced_accuracy : latest("balanced_accuracy")), `balanced accuracy${basis(run)}`],
    [percent(scores ? scores.auc : latest("auc")), `AUC${basis(run)}`],
    [`${run.rounds.seconds.length} / ${run.num_rounds}`, "rounds"],
    [duration(run.seconds), "of training"],
    [bytes(sum(run.clients.bytes)), "sent by clients"],
    [run.guard ? "on" : "off", run.guard ? `guard: ${run.cuts.length} cuts` : "guard"],
    [run.precision, "precision of the encoder"],
    ...privacyTile(run),
  ].map(([value, label]) => el("div", { class: "tile" }, el("b", {}, value), el("span", {}, label)));
  const delivered = run.delivered ? [el("p", { class: "note" }, `Tests and model: ${run.delivered}.`)] : [];
  const shown = el("div", {}, el("div", { class: "tiles" }, ...tiles), ...delivered);
  if (view.runs.length === 1) return [shown];
  return [el("div", { class: "grid" }, comparison(view)), el("p", { class: "note" }, `The main run, ${run.name}:`), shown];
}

// Bounds are gray and dashed; other runs have colors and dashes in their order.
function runStyle(view, i) {
  const { bound } = view.runs[i], place = view.runs.slice(0, i).filter((r) => !r.bound).length;
  return bound ? { color: "var(--rest)", dash: DASHES[bound === "upper" ? 1 : 2] } : { color: COLORS[place % COLORS.length], dash: DASHES[place % DASHES.length] };
}

const finalAccuracy = (run) => run.result.mean_of_last_10?.accuracy ?? run.rounds.accuracy.filter(known).at(-1);

function comparison(view) {
  const rows = view.runs.map((run, i) => {
    const about = [run.bound && `${run.bound} bound`, run.finished || `unfinished: round ${run.rounds.seconds.length} of ${run.num_rounds}`].filter((word) => word && word !== true);
    return { name: run.name, value: finalAccuracy(run), color: runStyle(view, i).color, text: `${percent(finalAccuracy(run))}${about.length ? ` (${about.join(", ")})` : ""}` };
  });
  const counts = [...new Set(view.runs.filter((r) => r.finished).map((r) => r.num_tests))];
  const note = [`Accuracy on the test set, mean of the last ${counts.length === 1 ? counts[0] : "ten"} tests${counts.length > 1 ? ", or of all where there are fewer" : ""}.`];
  if (new Set(view.runs.map((r) => r.manifest.data_sha256)).size > 1) note.push("These runs were tested on different images or classes: the numbers do not rank them.");
  if (view.runs.some((r) => !r.finished)) note.push("Of unfinished runs, the latest test.");
  if (view.runs.some((r) => r.bound)) note.push("Gray bars are bounds: labeled clients only, or all clients labeled.", ...gapClosed(view.runs.filter((r) => r.finished)));
  return figure({
    title: "The runs compared", note: note.join(" "), wide: true,
    chart: barChart({ rows, high: 1 }), rows: () => [["run", "accuracy"], rows.map((r) => [r.name, r.text])],
  });
}

function gapClosed(runs) {
  const low = runs.find((r) => r.bound === "lower"), up = runs.find((r) => r.bound === "upper");
  const span = low && up ? finalAccuracy(up) - finalAccuracy(low) : 0;
  if (!(span > 0)) return [];
  return runs.filter((r) => !r.bound).map((r) => `${r.name} closes ${Math.round((100 * (finalAccuracy(r) - finalAccuracy(low))) / span)} % of the gap between the bounds.`);
}

function curveSection(view) {
  const one = view.runs.length === 1, run = view.runs[view.main];
  const series = one
    ? [["accuracy", "test accuracy"], ["balanced_accuracy", "balanced test accuracy"], ["validation", "held-out accuracy at labeled clients"]]
      .filter(([key]) => hasValues([run.rounds[key]])).map(([key, name], i) => ({ name, values: run.rounds[key], color: COLORS[i], dash: DASHES[i] }))
    : view.runs.map((r, i) => ({ name: r.name, values: r.rounds.accuracy, ...runStyle(view, i) }));
  const longest = Math.max(...view.runs.map((r) => r.rounds.seconds.length));
  if (!longest || !hasValues(series.map((s) => s.values))) return [];
  const xs = range(longest), rules = boundRules(view), begun = lastStage(run, longest);
  const [low] = fittedFrom(begun, series, rules), below = series.some((s) => s.values.some((v) => known(v) && v < low));
  const note = [low > 0 && `The axis begins at ${axisText(low, percent)}${below ? `, fitted to the rounds from ${begun + 1} on; earlier ones may lie below` : ""}.`, rules.length && "Lines across: the bounds, means of their last tests.", one && run.cuts.length && "Ticks below: rounds in which the guard cut something."];
  return [figure({
    title: one ? "Accuracy over rounds" : "Test accuracy over rounds", wide: true, legend: series, note: note.filter(Boolean).join(" "),
    chart: lineChart({ xs, series, fit: () => fittedFrom(begun, series, rules), rules, stages: one ? run.stages : [], ticksBelow: one ? [...new Set(run.cuts.map((c) => c.round))] : [] }),
    rows: () => [["round", ...series.map((s) => s.name)], xs.map((x) => [x, ...series.map((s) => percent(s.values[x - 1]))])],
  }), ...(one && run.privacy ? [epsilonFigure(run, xs)] : [])];
}

function epsilonFigure(run, xs) {
  const values = run.privacy.epsilons, text = (v) => (known(v) ? epsilonText(v) : "–");
  return figure({
    title: "ε given away over rounds", note: `At δ = ${run.privacy.delta.toExponential()}, of any one client; all rounds so far together.`, wide: true,
    chart: lineChart({ xs, series: [{ name: "ε", values, color: COLORS[0] }], low: 0, format: text, stages: run.stages }),
    rows: () => [["round", "ε"], xs.map((x) => [x, text(values[x - 1])])],
  });
}

const BOUNDS = { lower: "labels only", upper: "all labels" };

// Bounds that are known, from runs on this page or from folders beside the run's.
function boundRules(view) {
  return Object.entries(view.bounds).map(([kind, { scores }]) => ({ name: BOUNDS[kind], value: scores.accuracy, above: kind === "upper" })).filter((rule) => known(rule.value));
}

// Where the last stage begins, if it has begun, or the second half of a run of one stage.
function lastStage(run, rounds) {
  const { after } = run.stages.filter((stage) => stage.after < rounds - 1).at(-1) || { after: 0 };
  return after || (rounds > 9 ? Math.floor(rounds / 2) : 0);
}

// Rounds before anything is known would leave the left of a chart empty.
function sinceFirst(run, series, isThere) {
  const xs = range(run.rounds.seconds.length);
  const begun = Math.max(0, xs.findIndex((_, i) => series.some((s) => isThere(s.values[i]))));
  const cut = (list) => list && list.slice(begun);
  return {
    xs: xs.slice(begun), stages: run.stages.filter((_, i, all) => !all[i + 1] || all[i + 1].after > begun),
    series: series.map((s) => ({ ...s, values: cut(s.values), low: cut(s.low), high: cut(s.high) })),
  };
}

function contributionSection(run) {
  const { contribution } = run.clients, xs = range(run.rounds.seconds.length);
  if (!xs.length) return [];
  const lines = clientSeries(run, contribution), hidden = run.clients.hidden ? "Shares of rounds under masks are hidden from the server." : "";
  if (!lines.length && hidden) return [el("p", { class: "note" }, hidden)];
  const shown = lines.filter((s) => !s.faint), rest = lines.filter((s) => s.faint);
  const stack = shown.map((s) => ({ ...s, color: s.fill, area: true }));
  if (rest.length) stack.push({ name: `${rest.length} other clients`, color: "var(--rest)", area: true, values: xs.map((_, i) => sum(rest.map((s) => s.values[i]))) });
  const rows = clientRows(run, contribution, percent);
  return [
    figure({ title: "Share of each client in the global model", note: `Stacked; * marks clients with labels. ${hidden}`.trim(), chart: stackChart({ xs, series: stack, stages: run.stages }), legend: stack, rows }),
    ...unlabeledShares(run, lines),
  ];
}

// Without the labeled clients, whose large share would press these lines together.
function unlabeledShares(run, lines) {
  const unlabeled = lines.filter((s) => !s.labeled);
  if (!unlabeled.some((s) => s.values.some((v) => v > 0))) return [];
  const shown = sinceFirst(run, withCuts(run, unlabeled), (v) => v > 0);
  return [figure({
    title: "Shares of the clients without labels", note: ["A client has one color and dash in all charts.", cutNote(run)].filter(Boolean).join(" "),
    chart: lineChart({ ...shown, low: 0 }), legend: legendFor(unlabeled),
    rows: clientRows(run, run.clients.contribution, percent),
  })];
}

function diversitySection(run) {
  const { diversity } = run.clients;
  if (!diversity.some((row) => row && row.some((v) => v > 0))) return [];
  const names = classNames(run);
  return [figure({
    title: "Diversity of each pseudo-class", wide: names.length > 12, note: "Distance from the anchor in the last round; the farther, the more a client counts. Empty: no confident pseudo-label.",
    chart: heatMap({ rowNames: clientMarks(run), rowFills: clientFills(run), columnNames: names, values: diversity, format: (v) => v.toFixed(2), rowLabel: "client", columnLabel: "pseudo-class" }),
    rows: () => [["client", ...names], run.clients.ids.map((_, k) => [clientLabel(run, k), ...names.map((_, c) => plain((diversity[k] || [])[c]))])],
  })];
}

function pseudoLabelSection(run) {
  const { accepted, right, estimated, estimated_low, estimated_high, unlabeled } = run.clients;
  const xs = range(run.rounds.seconds.length);
  if (!hasValues(accepted)) return [];
  const lines = clientSeries(run, accepted);
  const figures = [figure({ title: "Accepted pseudo-labels", note: "Part of a client's unlabeled images whose pseudo-label is confident.", chart: lineChart({ ...sinceFirst(run, lines, known), low: 0, high: 1 }), legend: legendFor(lines), rows: clientRows(run, accepted, percent) })];
  // Over all clients, weighed by how many pseudo-labels each accepted.
  const overall = (values) => xs.map((_, i) => {
    const some = values.map((row, k) => [row[i], (accepted[k][i] || 0) * unlabeled[k]]).filter(([v, n]) => known(v) && n);
    return some.length ? sum(some.map(([v, n]) => v * n)) / sum(some.map(([, n]) => n)) : null;
  });
  const series = [
    { name: "estimate without ground truth", values: overall(estimated), low: overall(estimated_low), high: overall(estimated_high), color: COLORS[1] },
    { name: "truth (simulation only)", values: overall(right), color: COLORS[0], dash: "6 3" },
  ].filter((s) => hasValues([s.values]));
  if (series.length) figures.push(figure({
    title: "How many accepted pseudo-labels are right", legend: series, note: "All clients. The estimate is calibrated on images that labeled clients hold out; its band is the sampling error of those images, not a difference between sites.",
    chart: lineChart({ ...sinceFirst(run, series, known), fit: fitted }), rows: () => [["round", ...series.map((s) => s.name)], xs.map((x) => [x, ...series.map((s) => percent(s.values[x - 1]))])],
  }));
  const holders = run.clients.ids.map((_, k) => k).filter((k) => known(right[k].at(-1)) || run.clients.estimate[k]);
  if (holders.length) figures.push(estimatePerClient(run, holders));
  return figures;
}

function estimatePerClient(run, holders) {
  const rows = holders.map((k) => {
    const guess = run.clients.estimate[k], truth = run.clients.right[k].at(-1);
    const text = [guess && percent(guess.accuracy), known(truth) && `${guess ? "truth " : ""}${percent(truth)}`].filter(Boolean).join(", ");
    return { ...clientBar(run, k), value: guess?.accuracy ?? truth, low: guess?.low, high: guess?.high, mark: guess ? truth : null, text };
  });
  const guessed = rows.some((r) => known(r.low)), told = holders.some((k) => known(run.clients.right[k].at(-1)));
  const head = ["client", "estimate", "from", "to", ...(told ? ["truth"] : [])];
  return figure({
    title: "Pseudo-label accuracy by client, last round", wide: rows.length > 30, chart: barChart({ rows, high: 1 }),
    note: guessed ? `Bar and whisker: estimate with its 95 % interval.${told ? " Thick mark: truth, known in simulation only." : ""}` : "Truth, known in simulation only. For an estimate without it set evaluation.validation_fraction.",
    rows: () => [head, holders.map((k) => { const g = run.clients.estimate[k] || {}; return [clientLabel(run, k), percent(g.accuracy), percent(g.low), percent(g.high), percent(run.clients.right[k].at(-1))].slice(0, head.length); })],
  });
}

// What is not learned from: labels that are held out, and files that could not be used.
function apart(run) {
  const held = sum(run.clients.held_out), out = run.data?.left_out;
  return [held && `${whole(held)} more are held out to measure with.`, out && leftOut(out)].filter(Boolean);
}

const leftOut = (count) => `${whole(count)} ${count === 1 ? "file was" : "files were"} left out, see left_out.csv.`;

function dataSection(run) {
  const { ids, labeled, unlabeled, held_out, class_count } = run.clients, names = classNames(run);
  const rows = ids.map((_, k) => ({ ...clientBar(run, k), value: labeled[k] + unlabeled[k], text: `${whole(labeled[k] + unlabeled[k])}${labeled[k] ? ` (${whole(labeled[k])} labeled)` : ""}` }));
  const figures = [figure({ title: "Images of each client", wide: ids.length > 30, note: ["* marks clients with labels.", ...apart(run)].join(" "), chart: barChart({ rows, format: whole }), rows: () => [["client", "labeled", "unlabeled", "held out", "bytes sent"], ids.map((_, k) => [clientLabel(run, k), whole(labeled[k]), whole(unlabeled[k]), whole(held_out[k]), bytes(run.clients.bytes[k])])] })];
  if (hasValues(class_count)) figures.push(figure({
    title: "Classes of each client", note: run.clients.labeled_only ? "Labeled images only, those held out among them; of the others nobody knows the class." : "True classes, known in simulation only.", wide: names.length > 12,
    chart: heatMap({ rowNames: clientMarks(run), rowFills: clientFills(run), columnNames: names, values: class_count, format: whole, rowLabel: "client", columnLabel: "class" }),
    rows: () => [["client", ...names], ids.map((_, k) => [clientLabel(run, k), ...(class_count[k] || []).map(whole)])],
  }));
  if (sum(run.clients.bytes)) figures.push(figure({ title: "Bytes sent by each client", wide: ids.length > 30, note: "Tensors of its answers, all rounds: model and statistics.", chart: barChart({ rows: ids.map((_, k) => ({ ...clientBar(run, k), value: run.clients.bytes[k] })), format: bytes }), rows: () => [["client", "bytes"], ids.map((_, k) => [clientLabel(run, k), whole(run.clients.bytes[k])])] }));
  return figures;
}

function classSection(run) {
  const names = classNames(run), figures = [];
  const tested = run.evaluation.test?.classes;
  if (run.recall) figures.push(figure({ title: "Recall of each class", wide: names.length > 30, note: `Last test; the part of a class's images that is found${tested ? ", with 95 % intervals" : ""}.`, chart: barChart({ rows: names.map((name, c) => (tested && tested[c].recall ? barWithin(name, tested[c].recall) : { name, value: run.recall[c] })), high: 1 }), rows: () => [["class", "images", "recall"], names.map((name, c) => [name, tested ? whole(tested[c].num) : "–", tested ? within(tested[c].recall) : percent(run.recall[c])])] }));
  if (run.confusion) {
    const shares = run.confusion.map((row) => row.map((n) => (sum(row) ? n / sum(row) : 0)));
    figures.push(figure({ title: "Confusion on the test set", note: "Of the images of a class (row), the percentage taken for each class (column).", wide: names.length > 12, chart: heatMap({ rowNames: names, columnNames: names, values: shares, format: (v) => `${Math.round(100 * v)} %`, top: 1, rowLabel: "true", columnLabel: "predicted" }), rows: () => [["true \\ predicted", ...names], names.map((name, r) => [name, ...run.confusion[r].map(whole)])] }));
  }
  for (const [column, groups] of Object.entries(run.evaluation.subgroups || run.subgroups)) figures.push(subgroupFigure(column, groups.filter((g) => g.recall.length), names));
  return figures;
}

// A mean over the classes of each would rank subgroups that lack different ones.
function subgroupFigure(column, groups, names) {
  const titles = groups.map((g) => `${g.name ?? g.group} (${whole(g.num)})`);
  return figure({
    title: `Recall by ${column}`, note: "Percent, by class and subgroup (number of images); of few images, a number is uncertain. Empty: no image of the class.", wide: groups.length > 8,
    chart: heatMap({ rowNames: titles, columnNames: names, values: groups.map((g) => g.recall), format: (v) => `${Math.round(100 * v)} %`, top: 1, rowLabel: column, columnLabel: "recall of class", zeros: true }),
    rows: () => [[column, "images", ...names], groups.map((g) => [g.name ?? g.group, whole(g.num), ...g.recall.map(percent)])],
  });
}
