// One test of a model, without the run that it comes from.

const view = JSON.parse(document.getElementById("data").textContent);
document.querySelector("h1").textContent = view.title;
document.getElementById("subtitle").textContent = view.about;
const parts = [["The test", evaluationSection(view.evaluation)], ["Subgroups", grid(subgroupTables(view.evaluation))]].filter(([, nodes]) => nodes.length);
document.getElementById("content").append(...parts.map(([title, nodes]) => el("section", {}, el("h2", {}, title), ...nodes)));
