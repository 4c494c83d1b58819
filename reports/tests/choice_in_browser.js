"use strict";
// Opens the page by a link that says what it is about, changes that as a person would.
usePage(async ({ check, one, all, pause }) => {
  const menuOf = (name) => one(`.choice select[aria-label="Show ${name}"]`);
  const chosen = () => ["scene", "target", "level"].map((name) => menuOf(name).value).join();
  const pick = (name, value) => {
    menuOf(name).value = value;
    menuOf(name).dispatchEvent(new Event("change"));
  };
  const isShown = (element) => element.checkVisibility();
  const rowsOf = (title) => all("main .table table").flatMap((table) => {
    const at = all("thead th", table).findIndex((th) => th.textContent === title);
    return at < 0 ? [] : all("tbody tr", table).filter((row) => !row.hidden).map((row) => row.cells[at].textContent);
  });
  const isOf = (title, holds) => { const rows = rowsOf(title); return rows.length > 0 && rows.every(holds); };
  const visibleRows = () => all("main tbody tr").filter((row) => !row.hidden).length;
  const address = "#pairs&scene=cornell&target=cpu-embree&spp=4";
  await pause();
  for (const part of all("main details.part")) part.open = true;
  const steps = history.length;
  const button = one(".chosen");
  check("opens as its address says", location.hash === address && chosen() === "cornell,cpu-embree,4" &&
    !button.hidden && button.textContent === "cornell · cpu-embree · 4 spp ×");
  const isOfAll = () => isOf("Scene", (text) => text === "cornell") && isOf("Pair", (text) => /cpu-embree/.test(text)) &&
    isOf("Target", (text) => /cpu-embree/.test(text)) && isOf("spp", (text) => text === "4");
  check("shows rows of one scene, one target and one level", isOfAll());
  check("shows the column of one level", all("main thead th").filter((th) => !th.hidden && / spp$/.test(th.textContent))
    .every((th) => th.textContent === "4 spp"));
  const badges = all(".matrix [data-spp]").filter((badge) => badge.textContent && isShown(badge.firstElementChild));
  check("shows the verdict of one scene, one pair and one level", badges.length === 1 && badges[0].dataset.spp === "4" &&
    all(".matrix tbody tr").filter(isShown).length === 1 && all(".matrix thead th").filter(isShown).length === 2);
  const plots = all("main figure[data-of-scenes]").filter(isShown);
  check("shows plots of one scene", plots.length > 0 && plots.every((plot) => /cornell/.test(plot.textContent)));
  const part = one("#pairs details.part");
  const [shown, count] = (/^(\d+) of (\d+)/.exec(one("summary .detail", part).textContent) ?? []).slice(1).map(Number);
  check("says in a heading how much of its part is shown", count === all("tbody tr", part).length &&
    shown === all("tbody tr", part).filter((row) => !row.hidden).length && shown < count);
  const links = all("nav ul a");
  check("leads to sections that are shown alone", links.some((link) => !isShown(link)) &&
    links.every((link) => isShown(link) === !document.getElementById(link.hash.slice(1)).hidden));
  const open = () => all("details.scene[open]").filter(isShown);
  check("shows images at that level", open().length === 1 && one(".viewer output", open()[0]).textContent === "4 spp");

  const bars = one("table.bars");
  for (const row of bars.tBodies[0].rows) {
    row.dataset.bars = JSON.stringify({ "": { rate: 1e6, length: 1 }, cornell: { rate: 2e6, length: 1 }, weekend: { rate: 3e6, length: 1 } });
  }
  const rates = () => all(".samples", bars).filter(isShown).map((cell) => cell.textContent).join();
  pick("scene", "weekend");
  check("shows one target's speed on the scene that is picked", rates() === "3.00");
  check("opens the scene that is picked", open().length === 1 && open()[0].open && chosen().startsWith("weekend,") &&
    /weekend/.test(one("summary", open()[0]).textContent));
  check("puts what is picked into the address", location.hash === address.replace("cornell", "weekend"));

  const filter = one("#pairs input[type=search]");
  filter.value = "cpu";
  filter.dispatchEvent(new Event("input"));
  const parts = () => new URLSearchParams(location.hash.split("&").slice(1).join("&"));
  check("keeps it beside the filter of a table", parts().get("rows") === "cpu" && parts().get("scene") === "weekend" &&
    parts().get("target") === "cpu-embree" && parts().get("spp") === "4");
  pick("target", "cpu");
  check("keeps the filter of a table beside it", parts().get("rows") === "cpu" && parts().get("target") === "cpu");
  check("takes no step in the history", history.length === steps);
  filter.value = "";
  filter.dispatchEvent(new Event("input"));

  location.hash = "#speed";
  await pause();
  check("stays with it at a link to a section", location.hash === "#speed&scene=weekend&target=cpu&spp=4");
  location.hash = "#pairs&spp=1&scene=weekend";
  await pause();
  check("is about what a link says", isOf("Scene", (text) => text === "weekend") && isOf("spp", (text) => text === "1") &&
    button.textContent === "weekend · 1 spp ×" && chosen() === "weekend,,1");
  button.click();
  const everything = visibleRows();
  check("shows everything again", everything > 50 && location.hash === "#pairs" && chosen() === ",," && button.hidden &&
    all(".matrix tbody tr").filter(isShown).length === 2 && links.every(isShown) && !/ of /.test(one("summary .detail", part).textContent));
  location.hash = "#&scene=nowhere&target=opencl&spp=3";
  await pause();
  check("passes over what the study does not have", chosen() === ",," && button.hidden && visibleRows() === everything);

  // `cpu` is a target of the group `cpu = opencl@pocl`, and `cpu-embree` another that begins alike.
  pick("target", "cpu");
  const names = rowsOf("Target");
  check("shows a target and the groups that it is of", names.includes("cpu = opencl@pocl") &&
    names.every((name) => name.split(" = ").includes("cpu")));
});
