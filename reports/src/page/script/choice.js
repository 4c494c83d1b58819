// Subject of the page: everything, or one scene, one target, one level; in the address, for links to it ----------------

const CHOICES = { scene: "Scene", target: "Target", spp: "Level" };
const choice = { scene: "", target: "", spp: "" };
// Called after every change of the choice.
const choiceFollowers = [];

// The address in parts: what it leads to, and what it asks for.
function readAddress() {
  const [id, ...asked] = location.hash.slice(1).split("&");
  return { id, asked: new URLSearchParams(asked.join("&")) };
}

// Writes what the address leads to and the filters of one table, with the choice, without a step in the history.
function writeAddress(id, filters) {
  const chosen = Object.entries(choice).filter(([, value]) => value !== "");
  const asked = String(new URLSearchParams([...filters, ...chosen]));
  history.replaceState(null, "", id || asked ? `#${id}${asked && `&${asked}`}` : location.pathname + location.search);
}

// The targets of a name: of one, of a group of identical ones, or of a pair of either.
function targetsOf(name) { return name.split(/ = | : | and |, /); }

function isOfScene(scene) { return choice.scene === "" || scene === choice.scene; }
function isOfTargets(targets) { return choice.target === "" || targets.includes(choice.target); }
function isOfLevel(spp) { return choice.spp === "" || String(spp) === choice.spp; }

// Everything outside tables that is about some scenes or targets says so.
function showChosen() {
  for (const part of document.querySelectorAll("[data-of-scenes], [data-of-targets]")) {
    const [scenes, targets] = [part.dataset.ofScenes, part.dataset.ofTargets].map((list) => list && JSON.parse(list));
    const isOfAll = (!scenes || scenes.length === 0 || scenes.some(isOfScene)) && (!targets || isOfTargets(targets)) &&
      (!part.dataset.ofLevel || isOfLevel(part.dataset.ofLevel));
    part.hidden = !isOfAll;
  }
  // A cell of the matrix has its badge over all levels and one for each.
  for (const badge of document.querySelectorAll(".matrix [data-spp]")) badge.hidden = badge.dataset.spp !== choice.spp;
  for (const link of document.querySelectorAll("nav ul a")) {
    link.parentElement.hidden = document.getElementById(link.hash.slice(1))?.hidden ?? false;
  }
  for (const part of document.querySelectorAll("details.plots-part")) {
    const figures = [...part.querySelectorAll("figure")];
    tellShare(part, figures.filter((figure) => !figure.hidden).length, figures.length);
  }
  choiceFollowers.forEach((follow) => follow());
}

// How much of a part is shown, in its heading.
function tellShare(part, shown, all) {
  const detail = part?.querySelector(":scope > summary .detail");
  if (!detail) return;
  detail.dataset.all ??= detail.textContent;
  detail.textContent = shown === all ? detail.dataset.all : `${shown} of ${detail.dataset.all}`;
}

const choiceMenus = {};
const chosenButton = element("button", { type: "button", className: "chosen", hidden: true, title: "Show everything again" });

function choose(changes) {
  Object.assign(choice, changes);
  for (const [key, menu] of Object.entries(choiceMenus)) menu.value = choice[key];
  const words = [choice.scene, choice.target, choice.spp && `${choice.spp} spp`].filter(Boolean);
  chosenButton.hidden = words.length === 0;
  chosenButton.textContent = `${words.join(" · ")} ×`;
  showChosen();
}

function chooseAndTell(changes) {
  const { id, asked } = readAddress();
  choose(changes);
  writeAddress(id, [...asked].filter(([key]) => !Object.hasOwn(CHOICES, key)));
}

// Applies the choice in an address; an address without one, such as a link to a section, leaves the choice as it is.
function chooseByAddress() {
  const { asked } = readAddress();
  const keys = Object.keys(CHOICES);
  if (keys.some((key) => asked.has(key))) {
    choose(Object.fromEntries(keys.map((key) => {
      const value = asked.get(key) ?? "";
      return [key, data.choices[key].includes(value) ? value : ""];
    })));
  } else if (keys.some((key) => choice[key] !== "")) {
    const { id } = readAddress();
    writeAddress(id, asked);
  }
}

for (const place of document.querySelectorAll(".choice")) {
  for (const [key, title] of Object.entries(CHOICES)) {
    const values = data.choices[key];
    if (values.length < 2) continue;
    const option = (value, textContent) => element("option", { value, textContent });
    const options = values.map((value) => option(value, key === "spp" ? `${value} spp` : value));
    const menu = element("select", { ariaLabel: `Show ${title.toLowerCase()}`, onchange: () => chooseAndTell({ [key]: menu.value }) },
      option("", `${title}: all`), ...options);
    choiceMenus[key] = menu;
    place.append(menu);
  }
  place.hidden = place.children.length === 0;
}
chosenButton.onclick = () => chooseAndTell({ scene: "", target: "", spp: "" });
document.querySelector("nav").append(chosenButton);
