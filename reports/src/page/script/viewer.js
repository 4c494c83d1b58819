// One scene's images: side by side, flipped in place, as a difference, or as a map ---------------------------

// Modes that show a map, each with its button and its caption.
const MAPS = {
  "map-flip": ["FLIP", "FLIP, 0 black to 1 pale yellow"],
  "map-flip-hdr": ["HDR-FLIP", "HDR-FLIP, 0 black to 1 pale yellow"],
  "map-difference": ["Linear |A − B|", "linear |A − B|"],
  "map-efficiency": ["Efficiency", "efficiency, 1 / (squared error against the reference × time): red where A wins, blue where B does, full colour at 32 times"],
  "map-p-value": ["p-values", "p-values: full colour where a tile rejects, red where A is brighter, blue where B is"],
};

class Viewer {
  constructor(root, scene) {
    this.root = root;
    this.scene = scene;
    this.level = scene.levels.length - 1;
    this.names = [...new Set(scene.levels.flatMap((r) => r.targets.map((t) => t.target)))];
    this.maps = data.maps.filter((m) => m.scene === scene.name);
    this.mapKinds = Object.keys(MAPS).filter((kind) => this.maps.some((m) => `map-${m.quantity}` === kind));
    [this.a, this.b] = this.startingPair();
    this.mode = "side";
    this.showsB = false;
    this.view = new View();
    this.probe = null;
    this.frames = [];
    this.decoded = new Map();
    buildControls(this);
    this.root.addEventListener("keydown", (event) => viewerKey(this, event));
    this.show();
  }

  // The first two targets that differ at the top level, else the first two.
  startingPair() {
    const top = this.scene.levels.at(-1).spp;
    const pair = data.differences.find((d) => d.scene === this.scene.name && d.spp === top && !d.identical);
    const found = pair ? [this.names.indexOf(pair.a), this.names.indexOf(pair.b)] : [-1];
    return found.includes(-1) ? [0, Math.min(1, this.names.length - 1)] : found;
  }

  // Shows a pair at a level, as a row of a table asks.
  select(a, b, spp) {
    [this.a, this.b] = [a, b].map((name) => Math.max(0, this.names.indexOf(name)));
    [this.aInput.value, this.bInput.value] = [this.a, this.b];
    if (this.mode === "side" && this.names.length > 1) this.mode = "flip";
    const level = this.scene.levels.findIndex((r) => r.spp === spp);
    this.setLevel(level < 0 ? this.level : level);
    const scene = this.root.closest("details");
    if (scene) scene.open = true;
    this.root.scrollIntoView({ block: "nearest" });
    this.root.focus({ preventScroll: true });
  }

  // Enlarges what lies around a pixel of the image as it was rendered, and reads the pixel.
  lookAt(level, x, y) {
    const [width, height] = fullSize({ level });
    this.view.reset();
    this.view.zoom(4, 0, 0, 4);
    this.view.reveal((x + 0.5) / width, (y + 0.5) / height);
    this.probe = { x, y };
    this.show();
  }

  setLevel(index) {
    this.level = Math.max(0, Math.min(this.scene.levels.length - 1, index));
    this.levelInput.value = this.level;
    this.show();
  }

  setMode(mode) { this.mode = mode; this.show(); }

  flip() { this.showsB = !this.showsB; this.show(); }

  // Pixels of a level: 8-bit codes of every target, and linear values where the page has them.
  images(level) {
    if (!this.decoded.has(level)) {
      const linear = level.linear ? decodeLinear(level.linear) : Promise.resolve(null);
      this.decoded.set(level, Promise.all([decode(level.targets), linear]).then(([codes, half]) => ({ codes, half })));
    }
    return this.decoded.get(level);
  }

  async show() {
    const level = this.scene.levels[this.level];
    updateControls(this, level);
    const turn = (this.turn = (this.turn ?? 0) + 1);
    try {
      const images = await this.images(level);
      const map = this.mode in MAPS ? this.findMap(level) : null;
      const picture = map ? await pixelsOf(data.pictures[map.picture]) : null;
      // A later request has overtaken this one.
      if (turn !== this.turn) return;
      this.shown = { level, images, map: map && { map, image: picture } };
      if (this.mode === "side") this.side(level, images);
      else if (this.mode === "flip") this.flipped(level, images);
      else if (this.mode === "wipe") this.wiped(level, images);
      else if (this.mode === "difference") this.differing(level, images);
      else this.mapped(level, map, picture);
      this.look();
    } catch (error) {
      this.say(error.message);
    }
  }

  find(level, name) { return level.targets.findIndex((t) => t.target === name); }

  say(textContent) { this.place([], element("p", { className: "keys", textContent })); }

  place(figures, ...instead) {
    this.stage.classList.toggle("single", this.mode !== "side");
    this.stage.style.setProperty("--columns", Math.min(figures.length, figures.length === 4 ? 2 : 3) || 1);
    this.frames = figures.map((figure) => figure.querySelector(".frame"));
    this.stage.replaceChildren(...figures, ...instead);
  }

  figure(image, caption) {
    const canvas = element("canvas", { width: image.width, height: image.height });
    canvas.getContext("2d").putImageData(image, 0, 0);
    const sheet = element("div", { className: "sheet" }, canvas, probeMark(image));
    const frame = element("div", { className: "frame" }, sheet);
    frame.style.setProperty("--shape", image.width / image.height);
    followPointer(this, frame);
    return element("figure", {}, frame, element("figcaption", {}, ...caption));
  }

  caption(level, name, ...more) {
    const parts = [element("b", { textContent: name }), ...more.map((textContent) => element("span", { textContent }))];
    if (level.factor > 1) parts.push(element("span", { textContent: `reduced 1:${level.factor}` }));
    return parts;
  }

  record(spp, a, b) {
    return data.differences.find((d) =>
      d.scene === this.scene.name && d.spp === spp && ((d.a === a && d.b === b) || (d.a === b && d.b === a)));
  }

  compared(spp, a, b, identical = "films identical") {
    const pair = this.record(spp, a, b);
    if (!pair) return [];
    if (pair.identical) return [identical];
    const figures = [`MSE ${number(pair.mse)}`, `SSIM ${similarity(pair.ssim)}`, `${pair.pixels.toLocaleString("en")} px differ`];
    return pair.verdict ? [pair.verdict, ...figures] : figures;
  }

  // An image as it is shown at the exposure chosen, and what to say of it.
  exposed(images, i) {
    const stops = +this.exposureInput.value;
    if (stops === 0) return [images.codes[i], []];
    const said = `${stops > 0 ? "+" : "−"}${Math.abs(stops)} EV`;
    const linear = images.half?.[i];
    return [expose(images.codes[i], linear, stops), [linear ? said : `${said}, of 8-bit values`]];
  }

  // Targets of a level whose films are identical, by the first of each group.
  groups(level) {
    const groups = [];
    level.targets.forEach((t, i) => {
      const same = groups.find((g) => this.record(level.spp, level.targets[g[0]].target, t.target)?.identical);
      if (same) same.push(i);
      else groups.push([i]);
    });
    return groups;
  }

  // An image for each group of identical films.
  side(level, images) {
    const first = level.targets[0].target;
    this.place(this.groups(level).map((group) => {
      const [image, said] = this.exposed(images, group[0]);
      const names = group.map((i) => level.targets[i].target);
      const more = group[0] === 0 ? [] : this.compared(level.spp, first, names[0]);
      if (names.length > 1) more.unshift("films identical");
      return this.figure(image, this.caption(level, names.join(" = "), ...more, ...said));
    }));
  }

  // A to the left of a line and B to the right of it.
  wiped(level, images) {
    const pair = this.pair(level);
    if (!pair) return;
    const [[a, said], [b]] = [this.exposed(images, pair.i), this.exposed(images, pair.j)];
    const figure = this.figure(a, this.caption(level, `${pair.a} | ${pair.b}`, ...this.compared(level.spp, pair.a, pair.b), ...said));
    const sheet = figure.querySelector(".sheet");
    const right = element("canvas", { className: "right", width: b.width, height: b.height });
    right.getContext("2d").putImageData(b, 0, 0);
    sheet.firstChild.after(right, element("div", { className: "line" }));
    this.place([figure]);
    this.wipe(+this.wipeInput.value);
  }

  // Moves the line of a wipe to a share of the width in thousandths.
  wipe(share) {
    this.wipeInput.value = share;
    this.stage.style.setProperty("--wipe", `${this.wipeInput.value / 10}%`);
    this.wipeOutput.textContent = `${Math.round(this.wipeInput.value / 10)} %`;
  }

  // Shows one target alone, as A of a flip.
  alone(index) {
    if (index >= this.names.length) return;
    this.a = this.aInput.value = index;
    this.showsB = false;
    this.setMode("flip");
  }

  // The chosen two, or nothing with a word about the one that is missing.
  pair(level) {
    const [a, b] = [this.names[this.a], this.names[this.b]];
    const [i, j] = [this.find(level, a), this.find(level, b)];
    if (i >= 0 && j >= 0) return { a, b, i, j };
    this.say(`No image of ${i < 0 ? a : b}${atSpp(level.spp)}.`);
    return null;
  }

  flipped(level, images) {
    const pair = this.pair(level);
    if (!pair) return;
    const [image, said] = this.exposed(images, this.showsB ? pair.j : pair.i);
    const name = this.showsB ? `B: ${pair.b}` : `A: ${pair.a}`;
    const figure = this.figure(image, this.caption(level, name, ...this.compared(level.spp, pair.a, pair.b), ...said));
    figure.classList.add("flip");
    figure.title = "Click, or press f or space, to see the other";
    this.place([figure]);
  }

  differing(level, images) {
    const pair = this.pair(level);
    if (!pair) return;
    const gain = 2 ** +this.gainInput.value;
    const { image, places } = difference(images.codes[pair.i], images.codes[pair.j], gain);
    const seen = places.length === 0 ? "no 8-bit value differs" : `${places.length.toLocaleString("en")} px differ in 8 bits`;
    const figure = this.figure(image, this.caption(level, `|A − B| × ${gain}`, `${pair.a} : ${pair.b}`, seen));
    figure.lastChild.append(greyBar(255 / gain), element("span", { textContent: "of 255" }));
    if (this.ringsInput.checked && places.length <= 500) figure.querySelector(".sheet").append(rings(image, places));
    this.place([figure]);
  }

  findMap(level) {
    const pair = [this.names[this.a], this.names[this.b]];
    return this.maps.find((m) =>
      `map-${m.quantity}` === this.mode && m.spp === level.spp && m.a !== m.b && pair.includes(m.a) && pair.includes(m.b));
  }

  mapped(level, map, picture) {
    const [a, b] = [this.names[this.a], this.names[this.b]];
    if (map) {
      const [name, meaning] = MAPS[this.mode];
      const scale = map.quantity === "difference" ? [`× ${gainText(map.scale)}`] : [];
      const figure = this.figure(picture, this.caption(map, name, `A ${map.a} : B ${map.b}`, ...scale, meaning));
      figure.lastChild.append(barOfMap(map));
      return this.place([figure]);
    }
    const record = this.record(level.spp, a, b);
    const why = a === b ? "A and B are one target" : record?.identical ? "their films are identical" :
      record ? "the page holds none; look in images/" : "they were not compared";
    return this.say(`No ${MAPS[this.mode][0]} map of ${a} and ${b}${atSpp(level.spp)}: ${why}.`);
  }

  // Brings every frame to the part that is seen, and the mark to the pixel that is read.
  look() {
    const { level } = this.shown;
    const [width, height] = [level.width * level.factor, level.height * level.factor];
    for (const frame of this.frames) {
      const sheet = frame.firstChild;
      this.view.apply(sheet);
      frame.style.touchAction = this.view.scale > 1 ? "none" : "";
      for (const canvas of sheet.querySelectorAll("canvas")) {
        canvas.classList.toggle("enlarged", frame.clientWidth * this.view.scale > canvas.width);
      }
      const mark = sheet.querySelector(".probed");
      const seen = this.probe && frame.clientWidth * this.view.scale >= 4 * width;
      mark.style.display = seen ? "" : "none";
      if (!seen) continue;
      mark.setAttribute("viewBox", `0 0 ${width} ${height}`);
      for (const axis of ["x", "y"]) mark.firstChild.setAttribute(axis, this.probe[axis]);
    }
    this.zoomOutput.textContent = `${Number(this.view.scale.toPrecision(3))}×`;
    readPixel(this);
  }
}

function drawn(tag, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

// The frame around the pixel that is read, as thin at any zoom.
function probeMark(image) {
  const mark = drawn("svg", { class: "probed", viewBox: `0 0 ${image.width} ${image.height}`, preserveAspectRatio: "none", "aria-hidden": "true" });
  mark.append(drawn("rect", { width: 1, height: 1 }));
  return mark;
}

// Few differing pixels would vanish when the image is shown smaller than it is.
function rings(image, places) {
  const drawing = drawn("svg", { class: "rings", viewBox: `0 0 ${image.width} ${image.height}`, "aria-hidden": "true" });
  for (const place of places) {
    const [cx, cy] = [(place % image.width) + 0.5, Math.floor(place / image.width) + 0.5];
    drawing.append(drawn("circle", { cx, cy, r: Math.max(2, image.width / 90) }));
  }
  return drawing;
}

const viewers = new Map();
for (const root of document.querySelectorAll(".viewer")) {
  const scene = data.scenes[+root.dataset.scene];
  viewers.set(scene.name, new Viewer(root, scene));
}

// Rows of the table of pairs lead to their images.
for (const row of document.querySelectorAll("tr[data-pair]")) {
  const pair = data.differences[+row.dataset.pair];
  const viewer = viewers.get(pair.scene);
  if (!viewer) continue;
  const cell = row.cells[1];
  const button = element("button", { type: "button", className: "look", title: "See the images", textContent: cell.textContent,
    onclick: () => viewer.select(pair.a, pair.b, pair.spp) });
  cell.replaceChildren(button);
}
