"use strict";

// The images of the study: side by side, flipped in place, or as a difference.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);

  // Small helpers ------------------------------------------------------------------------------------------

  function element(tag, properties = {}, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }

  function number(value) {
    if (typeof value === "string") return value === "inf" ? "∞" : value;
    if (value === 0) return "0";
    const size = Math.abs(value);
    return size >= 1e-3 && size < 1e5 ? String(Number(value.toPrecision(4))) : value.toExponential(2);
  }

  // Never rounded up to the 1 that means equal.
  function similarity(value) {
    if (typeof value === "string") return value;
    return value < 1 && value > 0.99999 ? "0.99999" : value.toFixed(5);
  }

  // Pixels of a PNG. Data URIs never taint a canvas, so this works from a file and without a network.
  function pixelsOf(uri) {
    return new Promise((resolve, reject) => {
      const image = new Image();
      image.onload = () => {
        const canvas = element("canvas", { width: image.naturalWidth, height: image.naturalHeight });
        const context = canvas.getContext("2d", { willReadFrequently: true });
        context.drawImage(image, 0, 0);
        resolve(context.getImageData(0, 0, canvas.width, canvas.height));
      };
      image.onerror = () => reject(new Error("an embedded image cannot be decoded"));
      image.src = uri;
    });
  }

  // Images are stored whole, or as what to add to another one modulo 256, or not at all when equal to it.
  async function decode(rung) {
    const stored = await Promise.all(rung.targets.map((t) => (t.uri ? pixelsOf(t.uri) : null)));
    const images = [];
    rung.targets.forEach((t, i) => {
      if (t.base === null) return images.push(stored[i]);
      const base = images[t.base];
      if (!stored[i]) return images.push(base);
      const sum = new ImageData(new Uint8ClampedArray(base.data), base.width, base.height);
      for (let k = 0; k < sum.data.length; k += 4) {
        for (let c = 0; c < 3; c++) sum.data[k + c] = (base.data[k + c] + stored[i].data[k + c]) & 255;
      }
      images.push(sum);
    });
    return images;
  }

  function difference(a, b, gain) {
    const image = new ImageData(a.width, a.height);
    const places = [];
    for (let k = 0; k < a.data.length; k += 4) {
      let differs = false;
      for (let c = 0; c < 3; c++) {
        const d = Math.abs(a.data[k + c] - b.data[k + c]);
        image.data[k + c] = d * gain;
        differs ||= d > 0;
      }
      image.data[k + 3] = 255;
      if (differs) places.push(k / 4);
    }
    return { image, places };
  }

  // One viewer ---------------------------------------------------------------------------------------------

  class Viewer {
    constructor(root, scene) {
      this.root = root;
      this.scene = scene;
      this.rung = scene.rungs.length - 1;
      this.names = [...new Set(scene.rungs.flatMap((r) => r.targets.map((t) => t.target)))];
      this.a = 0;
      this.b = Math.min(1, this.names.length - 1);
      this.mode = "side";
      this.showsB = false;
      this.decoded = new Map();
      this.build();
      this.show();
    }

    build() {
      const range = (max, value, input) =>
        element("input", { type: "range", min: 0, max, step: 1, value, oninput: input });
      this.rungInput = range(this.scene.rungs.length - 1, this.rung, () => this.setRung(+this.rungInput.value));
      this.rungOutput = element("output");
      this.gainInput = range(10, 4, () => this.show());
      this.gainOutput = element("output");
      this.ringsInput = element("input", { type: "checkbox", checked: true, onchange: () => this.show() });
      const select = (value, change) => {
        const options = this.names.map((name, i) => element("option", { value: i, textContent: name }));
        const made = element("select", { onchange: () => change(+made.value) }, ...options);
        made.value = value;
        return made;
      };
      this.aInput = select(this.a, (i) => { this.a = i; this.show(); });
      this.bInput = select(this.b, (i) => { this.b = i; this.show(); });
      const modes = [["side", "Side by side"], ["flip", "Flip A/B"], ["difference", "Difference"]];
      this.modeButtons = modes.map(([mode, textContent]) =>
        element("button", { type: "button", textContent, value: mode, onclick: () => this.setMode(mode) }));
      const label = (text, ...inputs) => element("label", {}, text, ...inputs);
      this.pairLabels = [label("A", this.aInput), label("B", this.bInput)];
      this.gainLabel = label("Gain", this.gainInput, this.gainOutput);
      this.ringsLabel = label("", this.ringsInput, "ring single pixels");
      const parts = [
        element("span", { className: "modes", role: "group", ariaLabel: "View" }, ...this.modeButtons),
        label("Samples per pixel", this.rungInput, this.rungOutput),
        ...this.pairLabels, this.gainLabel, this.ringsLabel,
      ];
      if (this.names.length < 2) parts.splice(0, 1);
      this.stage = element("div", { className: "stage" });
      const keys = element("p", { className: "keys" });
      const hint = (text, ...names) =>
        keys.append(element("span", {}, ...names.map((name) => element("kbd", { textContent: name })), text));
      hint("samples", "←", "→");
      if (this.names.length > 1) {
        hint("side by side", "s");
        hint("flip", "f");
        hint("difference", "d");
        hint("gain", "[", "]");
      }
      this.root.replaceChildren(element("div", { className: "bar" }, ...parts), this.stage, keys);
      this.root.addEventListener("keydown", (event) => this.key(event));
    }

    key(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const typing = event.target.matches("select, input[type=range]") && event.key.startsWith("Arrow");
      const pair = this.names.length > 1;
      const gain = (by) => { this.gainInput.value = +this.gainInput.value + by; this.setMode("difference"); };
      const actions = {
        ArrowLeft: () => this.setRung(this.rung - 1),
        ArrowRight: () => this.setRung(this.rung + 1),
        s: pair && (() => this.setMode("side")),
        f: pair && (() => (this.mode === "flip" ? this.flip() : this.setMode("flip"))),
        d: pair && (() => this.setMode("difference")),
        "[": pair && (() => gain(-1)),
        "]": pair && (() => gain(1)),
      };
      const action = Object.hasOwn(actions, event.key) && actions[event.key];
      if (typing || !action) return;
      event.preventDefault();
      action();
    }

    setRung(index) {
      this.rung = Math.max(0, Math.min(this.scene.rungs.length - 1, index));
      this.rungInput.value = this.rung;
      this.show();
    }

    setMode(mode) { this.mode = mode; this.show(); }

    flip() { this.showsB = !this.showsB; this.show(); }

    images(rung) {
      if (!this.decoded.has(rung)) this.decoded.set(rung, decode(rung));
      return this.decoded.get(rung);
    }

    async show() {
      const rung = this.scene.rungs[this.rung];
      this.rungOutput.textContent = `${rung.spp} spp`;
      this.rungInput.setAttribute("aria-valuetext", `${rung.spp} samples per pixel`);
      const gain = 2 ** +this.gainInput.value;
      this.gainOutput.textContent = `${gain}×`;
      this.gainInput.setAttribute("aria-valuetext", `${gain} times`);
      for (const button of this.modeButtons) button.ariaPressed = String(button.value === this.mode);
      for (const label of this.pairLabels) label.hidden = this.mode === "side";
      this.gainLabel.hidden = this.ringsLabel.hidden = this.mode !== "difference";
      for (const label of [...this.pairLabels, this.gainLabel, this.ringsLabel]) {
        label.style.display = label.hidden ? "none" : "";
      }
      const turn = (this.turn = (this.turn ?? 0) + 1);
      let images;
      try {
        images = await this.images(rung);
      } catch (error) {
        this.stage.replaceChildren(element("p", { className: "keys", textContent: error.message }));
        return;
      }
      // A later request has overtaken this one.
      if (turn !== this.turn) return;
      const draw = { side: this.side, flip: this.flipped, difference: this.differing }[this.mode];
      draw.call(this, rung, images, gain);
    }

    find(rung, name) { return rung.targets.findIndex((t) => t.target === name); }

    figure(image, caption) {
      const canvas = element("canvas", { width: image.width, height: image.height });
      canvas.getContext("2d").putImageData(image, 0, 0);
      const figure = element("figure", {}, element("div", { className: "frame" }, canvas), element("figcaption", {}, ...caption));
      requestAnimationFrame(() => canvas.classList.toggle("enlarged", canvas.clientWidth > image.width));
      return figure;
    }

    caption(rung, name, ...more) {
      const parts = [element("b", { textContent: name }), ...more.map((textContent) => element("span", { textContent }))];
      if (rung.factor > 1) parts.push(element("span", { textContent: `reduced 1:${rung.factor}` }));
      return parts;
    }

    compared(spp, a, b) {
      const pair = data.differences.find((d) =>
        d.scene === this.scene.name && d.spp === spp && ((d.a === a && d.b === b) || (d.a === b && d.b === a)));
      if (!pair) return [];
      if (pair.identical) return ["films identical"];
      return [`MSE ${number(pair.mse)}`, `SSIM ${similarity(pair.ssim)}`, `${pair.pixels.toLocaleString("en")} px differ`];
    }

    side(rung, images) {
      const first = rung.targets[0].target;
      const figures = rung.targets.map((t, i) => {
        const more = i === 0 ? [] : this.compared(rung.spp, first, t.target);
        return this.figure(images[i], this.caption(rung, t.target, ...more.map((m) => (m.startsWith("films") ? `film identical to ${first}` : m))));
      });
      const columns = Math.min(figures.length, figures.length === 4 ? 2 : 3);
      this.stage.classList.remove("single");
      this.stage.style.setProperty("--columns", columns);
      this.stage.replaceChildren(...figures);
    }

    pair(rung, images) {
      const [a, b] = [this.names[this.a], this.names[this.b]];
      const [i, j] = [this.find(rung, a), this.find(rung, b)];
      this.stage.style.setProperty("--columns", 1);
      this.stage.classList.add("single");
      if (i >= 0 && j >= 0) return { a, b, imageA: images[i], imageB: images[j] };
      const missing = i < 0 ? a : b;
      this.stage.replaceChildren(element("p", { className: "keys", textContent: `No image of ${missing} at ${rung.spp} spp.` }));
      return null;
    }

    flipped(rung, images) {
      const pair = this.pair(rung, images);
      if (!pair) return;
      const [name, image] = this.showsB ? [`B: ${pair.b}`, pair.imageB] : [`A: ${pair.a}`, pair.imageA];
      const figure = this.figure(image, this.caption(rung, name, ...this.compared(rung.spp, pair.a, pair.b)));
      figure.classList.add("flip");
      figure.title = "Click, or press f, to see the other";
      figure.onclick = () => this.flip();
      this.stage.replaceChildren(figure);
    }

    differing(rung, images, gain) {
      const pair = this.pair(rung, images);
      if (!pair) return;
      const { image, places } = difference(pair.imageA, pair.imageB, gain);
      const seen = places.length === 0 ? "no 8-bit value differs" : `${places.length.toLocaleString("en")} px differ in 8 bits`;
      const caption = this.caption(rung, `|A − B| × ${gain}`, `${pair.a} : ${pair.b}`, seen);
      const figure = this.figure(image, caption);
      if (this.ringsInput.checked && places.length <= 500) figure.querySelector(".frame").append(this.rings(image, places));
      this.stage.replaceChildren(figure);
    }

    // Few differing pixels would vanish when the image is shown smaller than it is.
    rings(image, places) {
      const make = (tag, attributes) => {
        const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
        for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
        return made;
      };
      const drawing = make("svg", { class: "rings", viewBox: `0 0 ${image.width} ${image.height}`, "aria-hidden": "true" });
      for (const place of places) {
        const [cx, cy] = [(place % image.width) + 0.5, Math.floor(place / image.width) + 0.5];
        drawing.append(make("circle", { cx, cy, r: Math.max(2, image.width / 90) }));
      }
      return drawing;
    }
  }

  for (const root of document.querySelectorAll(".viewer")) {
    new Viewer(root, data.scenes[+root.dataset.scene]);
  }
})();
