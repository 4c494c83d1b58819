// The pixel that is read: its place in the image as it was rendered, and its values on every side ------------

function fullSize({ level }) { return [level.width * level.factor, level.height * level.factor]; }

// Reads the pixel at a place given in shares of the image.
function setProbe(viewer, x, y) {
  if (!viewer.shown) return;
  const [width, height] = fullSize(viewer.shown);
  const whole = (share, size) => Math.max(0, Math.min(size - 1, Math.floor(share * size)));
  viewer.probe = { x: whole(x, width), y: whole(y, height) };
  viewer.look();
}

function moveProbe(viewer, dx, dy) {
  const [width, height] = fullSize(viewer.shown);
  const step = viewer.shown.level.factor;
  const from = viewer.probe ?? { x: width >> 1, y: height >> 1 };
  const [x, y] = [(from.x + dx * step + 0.5) / width, (from.y + dy * step + 0.5) / height];
  viewer.view.reveal(x, y);
  viewer.reading.ariaLive = "polite";
  setProbe(viewer, x, y);
}

// Values of one target at a pixel: linear where the page has them, and 8-bit codes.
function valuesAt({ level, images }, i, { x, y }) {
  const at = (image, factor) => {
    const column = Math.min(image.width - 1, Math.floor(x / factor));
    return 4 * (Math.min(image.height - 1, Math.floor(y / factor)) * image.width + column);
  };
  const codes = images.codes[i];
  const k = at(codes, level.factor);
  const half = images.half?.[i];
  const h = half ? at(half, level.linear.factor) : 0;
  return {
    codes: [...codes.data.slice(k, k + 3)],
    linear: half ? [...half.bits.slice(h, h + 3)].map(halfValue) : null,
  };
}

function readPixel(viewer) {
  const { shown, probe, reading } = viewer;
  if (!probe) return reading.replaceChildren("Point at a pixel to read it.");
  const { level } = shown;
  const line = (name, { codes, linear }) => element("span", { className: "value" },
    element("b", { textContent: name }),
    ...(linear ? [element("span", { className: "linear", textContent: linear.map(number).join(" ") })] : []),
    element("span", { className: "codes", textContent: `sRGB ${codes.join(" ")}` }));
  const parts = [element("span", { textContent: `pixel ${probe.x}, ${probe.y}` })];
  if (shown.map) {
    const { image, map } = shown.map;
    const at = 4 * (Math.min(image.height - 1, Math.floor(probe.y / map.factor)) * image.width +
      Math.min(image.width - 1, Math.floor(probe.x / map.factor)));
    const said = valueOfColour(map, [...image.data.slice(at, at + 3)]);
    parts.push(element("span", { className: "value" }, element("b", { textContent: said })));
  }
  if (viewer.mode === "side") {
    parts.push(...viewer.groups(level).map((group) =>
      line(group.map((i) => level.targets[i].target).join(" = "), valuesAt(shown, group[0], probe))));
  } else {
    const [i, j] = [viewer.a, viewer.b].map((side) => viewer.find(level, viewer.names[side]));
    const [a, b] = [i, j].map((k) => (k < 0 ? null : valuesAt(shown, k, probe)));
    if (a) parts.push(line(`A ${viewer.names[viewer.a]}`, a));
    if (b) parts.push(line(`B ${viewer.names[viewer.b]}`, b));
    if (a && b) {
      const minus = (of) => a[of] && a[of].map((v, c) => v - b[of][c]);
      parts.push(line("A − B", { codes: minus("codes"), linear: minus("linear") }));
    }
  }
  parts.push(element("span", { className: "how", textContent: precision(level) }));
  reading.replaceChildren(...parts);
}

// How exactly the page knows the values that it tells.
function precision(level) {
  const mean = (factor) => (factor > 1 ? `, means of ${factor}×${factor} pixels` : "");
  const codes = `8 bits${mean(level.factor)}`;
  return level.linear ? `linear values in 16-bit floats${mean(level.linear.factor)}; sRGB in ${codes}` : `sRGB in ${codes}`;
}
