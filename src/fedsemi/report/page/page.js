// Put the sections together; a live page does so again after every round.

function render(view) {
  const run = view.runs[view.main];
  const many = view.runs.length > 1;
  document.querySelector("h1").textContent = many ? view.runs.map((r) => r.name).join(", ") : run.name;
  document.getElementById("subtitle").textContent = subtitle(view, run);
  document.getElementById("helped").textContent = run.helped || "";
  document.getElementById("sites").textContent = run.clients.sites.map((site, k) => site && `client ${run.clients.ids[k]} = ${site}`).filter(Boolean).join(", ");
  const about = many ? `: ${run.name}` : "";
  const sections = [
    ["Result", resultSection(view)],
    [`Alarms${about}`, alarms(run)],
    [`Guard${about}`, guardSection(run)],
    ["Curves", grid(curveSection(view))],
    ["What differs", differences(view)],
    [`Contributions${about}`, grid([...contributionSection(run), ...diversitySection(run)])],
    [`Pseudo-labels${about}`, grid(pseudoLabelSection(run))],
    [`Worth of each client${about}`, grid(valueSection(run))],
    [`Pictures${about}`, grid(pictureSection(view))],
    [`Data${about}`, [...labelGaps(run), ...grid(dataSection(run))]],
    [`The test in numbers${about}`, evaluationSection(run.evaluation)],
    [`Sites with labels${about}`, siteSection(run)],
    [`Classes and subgroups${about}`, grid([...classSection(run), ...subgroupTables(run.evaluation)])],
    [`Model card${about}`, modelCard(run)],
    [`Settings and hashes${about}`, settings(run)],
  ].filter(([, nodes]) => nodes.length);
  document.getElementById("content").replaceChildren(...sections.map(([title, nodes], i) => el("section", { "aria-labelledby": `s${i}` }, el("h2", { id: `s${i}` }, title), ...nodes)));
  document.getElementById("contents").replaceChildren(...sections.map(([title], i) => el("li", {}, el("a", { href: `#s${i}` }, title.split(":")[0]))));
}

function subtitle(view, run) {
  const data = run.data ? `${run.data.name}, ` : "";
  const few = run.clients.labeled.filter((n) => n > 0).length;
  const who = `${run.clients.ids.length} clients, ${few} with labels`;
  return `${run.methods.join(" → ")} on ${data}${who}${view.runs.length > 1 ? ` (main run: ${run.name})` : ""}`;
}

function differences(view) {
  const entries = Object.entries(view.differing);
  if (!entries.length) return [];
  const rows = entries.map(([key, values]) => [key, ...values.map(shown)]);
  const shownNow = table(["setting", ...view.runs.map((r) => r.name)], rows, "Settings that differ");
  const apart = view.cards_differ ? [el("div", { class: "alarm" }, el("b", {}, "These runs are under different cards: who has labels differs, so their scores are not to be compared."))] : [];
  return [...apart, rows.length > 8 ? el("details", {}, el("summary", {}, `All ${rows.length} settings that differ`), shownNow) : shownNow];
}

function alarms(run) {
  return run.alarms.map((a) => {
    const where = `Stage ${a.stage + 1}, round ${a.round}: `;
    return el("div", { class: "alarm" }, el("b", {}, where + a.what), el("div", {}, a.remedy));
  });
}

const labelGaps = (run) => run.label_gaps.map((line) => el("div", { class: "alarm" }, el("b", {}, line)));

const shown = (value) => (value === null || value === undefined ? "–" : typeof value === "object" ? JSON.stringify(value) : String(value));

const modelCard = (run) => (run.card.length ? [cardTable(run.card, "Model card")] : []);

function cardTable(rows, name) {
  const body = rows.map(([key, value]) => el("tr", {}, el("th", { scope: "row" }, key), el("td", { class: "text long" }, value)));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": name }, el("table", {}, el("tbody", {}, ...body)));
}

function settings(run) {
  const hashes = cardTable(Object.entries(run.manifest).filter(([, v]) => v !== "").map(([k, v]) => [k, Array.isArray(v) ? v.join(" ") : shown(v)]), "Hashes and versions");
  const details = el("details", {}, el("summary", {}, "All settings"), cardTable(Object.entries(run.settings).map(([k, v]) => [k, shown(v)]), "Settings"));
  return [hashes, details];
}

const view = JSON.parse(document.getElementById("data").textContent);
textures();
render(view);
if (view.live) followRun(view);
