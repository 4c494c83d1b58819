// Parts that open on demand, tables of metrics, the baseline of speeds, commands to copy -------------------------------

// A viewer that was made in a closed scene has no size yet.
for (const scene of document.querySelectorAll("details.scene")) {
  scene.addEventListener("toggle", () => {
    if (!scene.open) return;
    const root = scene.querySelector(".viewer");
    if (root) viewers.get(data.scenes[+root.dataset.scene].name).show();
  });
}

// A link to a part opens it.
function openTarget() {
  const { id } = readAddress();
  const target = id && document.getElementById(decodeURIComponent(id));
  const part = target && target.querySelector("details");
  if (part) part.open = true;
}
addEventListener("hashchange", openTarget);
openTarget();

// Tables of one metric each are shown one at a time.
for (const root of document.querySelectorAll(".metrics")) {
  const tables = [...root.children];
  const show = (index) => tables.forEach((table, i) => { table.hidden = i !== index; });
  const options = tables.map((table, i) => element("option", { value: i, textContent: table.dataset.title }));
  const input = element("select", { ariaLabel: "Metric", onchange: () => show(+input.value) }, ...options);
  root.prepend(element("div", { className: "filters" }, input));
  show(0);
}

// Speeds over another target.
for (const table of document.querySelectorAll("table.bars")) {
  const rows = [...table.tBodies[0].rows];
  const place = table.querySelector(".baseline");
  const input = element("select", { ariaLabel: "Baseline" }, ...rows.map((row) =>
    element("option", { value: row.dataset.target, textContent: row.dataset.target })));
  // Rate and length of a bar: the mean over all scenes, or those of the chosen one.
  const bar = (row) => JSON.parse(row.dataset.bars)[choice.scene];
  const update = () => {
    const base = bar(rows.find((row) => row.dataset.target === input.value)).rate;
    for (const row of rows) {
      const { rate, length } = bar(row);
      row.hidden = !isOfTargets([row.dataset.target]);
      row.querySelector(".samples").textContent = (rate * 1e-6).toFixed(2);
      row.querySelector(".track div").style.width = `${100 * length}%`;
      row.querySelector(".ratio").textContent = `${(rate / base).toFixed(2)}×`;
    }
  };
  input.onchange = update;
  choiceFollowers.push(update);
  place.replaceChildren(input);
}

// Viewers show the chosen level.
choiceFollowers.push(() => {
  for (const viewer of viewers.values()) {
    const level = viewer.scene.levels.findIndex((level) => choice.spp !== "" && isOfLevel(level.spp));
    if (level >= 0) viewer.setLevel(level);
  }
});
choiceFollowers.push(() => {
  const scene = choice.scene !== "" && document.querySelector("section:not([hidden]) > details.scene");
  if (scene) scene.open = true;
});

// The subject of the page is chosen once the parts below exist.
addEventListener("hashchange", chooseByAddress);
chooseByAddress();

for (const root of document.querySelectorAll(".command")) {
  const button = element("button", { type: "button", textContent: "Copy", onclick: async () => {
    await navigator.clipboard.writeText(root.textContent.replace(/Cop(y|ied)$/, ""));
    button.textContent = "Copied";
  } });
  root.append(button);
}
