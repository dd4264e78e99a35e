// Names and colors of clients, the same in all charts and in all runs of a federation.

const star = (run, k) => (run.clients.labeled[k] ? "*" : "");
const siteOf = (run, k) => (run.clients.sites[k] ? ` (${shorten(run.clients.sites[k], 24)})` : "");
const clientShort = (run, k) => `client ${run.clients.ids[k]} ${star(run, k)}`.trimEnd();
const clientName = (run, k) => `client ${run.clients.ids[k]}${siteOf(run, k)} ${star(run, k)}`.trimEnd();
const clientLabel = (run, k) => `${run.clients.ids[k]}${siteOf(run, k)}`;
const clientMarks = (run) => run.clients.ids.map((id, k) => `${id}${star(run, k)}${siteOf(run, k)}`);

// A client's color follows from its number, never from how much it counts. Seven colors
// times four dashes (in areas: textures) tell 28 clients apart.
const MANY = COLORS.length * DASHES.length, TOLD = 12;
const styleOf = (id) => ({ color: COLORS[id % COLORS.length], dash: DASHES[Math.floor(id / COLORS.length) % DASHES.length], fill: fillOf(id) });
const clientStyle = (run, k) => styleOf(run.clients.ids[k]);
// For bars: the name, and a shorter one for where there is no room.
const clientBar = (run, k) => ({ name: clientName(run, k), short: clientShort(run, k), color: clientStyle(run, k).fill });
const clientFills = (run) => run.clients.ids.map(fillOf);

function fillOf(id) {
  const turn = Math.floor(id / COLORS.length) % DASHES.length;
  return turn ? `url(#texture-${id % COLORS.length}-${turn})` : COLORS[id % COLORS.length];
}

// Stripes, crossed stripes and dots in the color of the panel, for the second to fourth
// client of a color; all charts of the page refer to them.
function textures() {
  const place = draw("svg", { width: 0, height: 0, class: "textures", "aria-hidden": "true" });
  const over = { stroke: "var(--panel)", "stroke-width": 2, fill: "none" };
  const marks = [
    () => draw("path", { d: "M-2 2L2 -2M0 8L8 0M6 10L10 6", ...over }),
    () => draw("path", { d: "M0 0L8 8M8 0L0 8", ...over, "stroke-width": 1.6 }),
    () => draw("circle", { cx: 4, cy: 4, r: 2, fill: "var(--panel)" }),
  ];
  COLORS.forEach((color, c) => marks.forEach((mark, i) => {
    const one = draw("pattern", { id: `texture-${c}-${i + 1}`, width: 8, height: 8, patternUnits: "userSpaceOnUse" });
    one.append(draw("rect", { width: 8, height: 8, fill: color }), mark());
    place.append(one);
  }));
  document.body.append(place);
}

// Of more clients than styles, those that contribute most are drawn thick and are named;
// of two that look alike, the one that contributes more.
function clientSeries(run, values) {
  const total = run.clients.contribution.map((row) => sum(row)), look = (k) => run.clients.ids[k] % MANY;
  const most = total.map((_, k) => k).sort((a, b) => total[b] - total[a] || a - b);
  const apart = most.filter((k, place) => !most.slice(0, place).some((other) => look(other) === look(k)));
  const told = new Set(total.length > MANY ? apart.slice(0, TOLD) : most);
  const drawn = total.map((_, k) => ({
    ...clientStyle(run, k), id: run.clients.ids[k], name: clientName(run, k), values: values[k],
    faint: !told.has(k), labeled: run.clients.labeled[k] > 0,
  }));
  return drawn.filter((s) => hasValues([s.values]));
}

const legendFor = (series) => {
  const bright = series.filter((s) => !s.faint);
  const rest = series.length - bright.length;
  return rest ? [...bright, { name: `${rest} other clients, thin`, color: "var(--rest)" }] : bright;
};

function clientRows(run, values, format) {
  const ids = run.clients.ids.map((_, k) => clientName(run, k));
  return () => [["round", ...ids], range(run.rounds.seconds.length).map((r) => [r, ...values.map((row) => format(row[r - 1]))])];
}
