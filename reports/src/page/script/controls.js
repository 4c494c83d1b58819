// Controls of a viewer: what is above and below its images, keys and pointer ----------------------------------

function buildControls(viewer) {
  const { scene, names, mapKinds } = viewer;
  const range = (min, max, step, value, input) =>
    element("input", { type: "range", min, max, step, value, oninput: input });
  const show = () => viewer.show();
  viewer.levelInput = range(0, scene.levels.length - 1, 1, viewer.level, () => viewer.setLevel(+viewer.levelInput.value));
  viewer.gainInput = range(0, 10, 1, 4, show);
  viewer.exposureInput = range(-10, 10, 0.5, 0, show);
  viewer.wipeInput = range(0, 1000, 10, 500, () => viewer.wipe(+viewer.wipeInput.value));
  [viewer.levelOutput, viewer.gainOutput, viewer.exposureOutput, viewer.zoomOutput, viewer.wipeOutput] =
    [0, 0, 0, 0, 0].map(() => element("output"));
  viewer.ringsInput = element("input", { type: "checkbox", checked: true, onchange: show });
  const select = (side) => {
    const options = names.map((name, i) => element("option", { value: i, textContent: name }));
    const made = element("select", { onchange: () => { viewer[side] = +made.value; viewer.show(); } }, ...options);
    made.value = viewer[side];
    return made;
  };
  [viewer.aInput, viewer.bInput] = [select("a"), select("b")];
  const modes = [["side", "Side by side"], ["flip", "Flip A/B"], ["wipe", "Wipe"], ["difference", "Difference"]];
  modes.push(...mapKinds.map((kind) => [kind, MAPS[kind][0]]));
  viewer.modeButtons = modes.map(([value, textContent]) =>
    element("button", { type: "button", textContent, value, onclick: () => viewer.setMode(value) }));
  const label = (text, ...inputs) => element("label", {}, text, ...inputs);
  viewer.levelLabel = label("Samples per pixel", viewer.levelInput, viewer.levelOutput);
  viewer.pairLabels = [label("A", viewer.aInput), label("B", viewer.bInput)];
  viewer.wipeLabel = label("Line", viewer.wipeInput, viewer.wipeOutput);
  viewer.gainLabel = label("Gain", viewer.gainInput, viewer.gainOutput);
  viewer.ringsLabel = label("", viewer.ringsInput, "ring single pixels");
  viewer.exposureLabel = label("Exposure", viewer.exposureInput, viewer.exposureOutput);
  const parts = [
    element("span", { className: "modes", role: "group", ariaLabel: "View" }, ...viewer.modeButtons),
    viewer.levelLabel,
    ...viewer.pairLabels, viewer.wipeLabel, viewer.exposureLabel, viewer.gainLabel, viewer.ringsLabel,
    label("Zoom", viewer.zoomOutput),
  ];
  if (names.length < 2) parts.splice(0, 1);
  viewer.stage = element("div", { className: "stage" });
  viewer.reading = element("div", { className: "reading", role: "status", ariaLive: "off" });
  viewer.root.replaceChildren(element("div", { className: "bar" }, ...parts), viewer.stage, viewer.reading, keyHints(viewer));
}

function keyHints(viewer) {
  const keys = element("p", { className: "keys" });
  const hint = (text, ...names) =>
    keys.append(element("span", {}, ...names.map((name) => element("kbd", { textContent: name })), text));
  if (viewer.scene.levels.length > 1) hint("samples", "←", "→");
  if (viewer.names.length > 1) {
    hint("side by side", "s");
    hint("flip", "f", "space");
    hint("wipe", "w");
    hint("one target", "1", "…", "9");
    hint("difference", "d");
    if (viewer.mapKinds.length) hint("maps", "m");
    hint("gain", "[", "]");
  }
  hint("exposure", ",", ".");
  hint("zoom", "+", "−", "0");
  hint("pan", "Shift ←↑↓→");
  hint("pixel", "h", "j", "k", "l");
  return keys;
}

function updateControls(viewer, level) {
  viewer.levelOutput.textContent = `${level.spp} spp`;
  viewer.levelInput.hidden = viewer.scene.levels.length < 2;
  viewer.levelLabel.hidden = level.spp === 0;
  viewer.levelInput.setAttribute("aria-valuetext", `${level.spp} samples per pixel`);
  const gain = 2 ** +viewer.gainInput.value;
  viewer.gainOutput.textContent = `${gain}×`;
  viewer.gainInput.setAttribute("aria-valuetext", `${gain} times`);
  viewer.exposureOutput.textContent = `${viewer.exposureInput.value.replace("-", "−")} EV`;
  viewer.exposureInput.setAttribute("aria-valuetext", `${viewer.exposureInput.value} stops`);
  for (const button of viewer.modeButtons) button.ariaPressed = String(button.value === viewer.mode);
  for (const label of viewer.pairLabels) label.hidden = viewer.mode === "side";
  viewer.gainLabel.hidden = viewer.ringsLabel.hidden = viewer.mode !== "difference";
  viewer.wipeLabel.hidden = viewer.mode !== "wipe";
  viewer.exposureLabel.hidden = !["side", "flip", "wipe"].includes(viewer.mode);
}

// How far a frame may be enlarged: until one pixel of its image is about 40 wide.
function mostZoom(viewer) {
  const frame = viewer.frames[0];
  return frame ? Math.max(8, 40 * viewer.shown.level.width / Math.max(1, frame.clientWidth)) : 8;
}

function viewerKey(viewer, event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input[type=search]")) return;
  const arrow = event.key.startsWith("Arrow");
  if (arrow && event.target.matches("select, input[type=range]")) return;
  const pair = viewer.names.length > 1;
  const flip = () => (viewer.mode === "flip" ? viewer.flip() : viewer.setMode("flip"));
  if (event.key === " " && event.target.matches("button, input, select")) return;
  const step = (input, by) => { input.value = +input.value + by; };
  const gain = (by) => { step(viewer.gainInput, by); viewer.setMode("difference"); };
  const exposure = (by) => { step(viewer.exposureInput, by); viewer.show(); };
  const zoom = (factor) => { viewer.view.zoom(factor, 0.5, 0.5, mostZoom(viewer)); viewer.look(); };
  const pan = (dx, dy) => { viewer.view.pan(dx, dy); viewer.look(); };
  const nextMap = () => {
    const kinds = viewer.mapKinds;
    viewer.setMode(kinds[(kinds.indexOf(viewer.mode) + 1) % kinds.length]);
  };
  const plain = {
    ArrowLeft: () => viewer.setLevel(viewer.level - 1),
    ArrowRight: () => viewer.setLevel(viewer.level + 1),
    s: pair && (() => viewer.setMode("side")),
    f: pair && flip,
    " ": pair && flip,
    w: pair && (() => viewer.setMode("wipe")),
    d: pair && (() => viewer.setMode("difference")),
    m: pair && viewer.mapKinds.length > 0 && nextMap,
    "[": pair && (() => gain(-1)),
    "]": pair && (() => gain(1)),
    ",": () => exposure(-0.5),
    ".": () => exposure(0.5),
    "+": () => zoom(1.5),
    "=": () => zoom(1.5),
    "-": () => zoom(1 / 1.5),
    "0": () => { viewer.view.reset(); viewer.look(); },
    h: () => moveProbe(viewer, -1, 0),
    j: () => moveProbe(viewer, 0, 1),
    k: () => moveProbe(viewer, 0, -1),
    l: () => moveProbe(viewer, 1, 0),
  };
  for (let i = 1; i <= 9; i++) plain[i] = pair && (() => viewer.alone(i - 1));
  const shifted = {
    ArrowLeft: () => pan(-0.2, 0), ArrowRight: () => pan(0.2, 0), ArrowUp: () => pan(0, -0.2), ArrowDown: () => pan(0, 0.2),
  };
  const actions = event.shiftKey && arrow ? shifted : plain;
  const action = Object.hasOwn(actions, event.key) && actions[event.key];
  if (!action || !viewer.shown) return;
  event.preventDefault();
  action();
}

// Reads the pixel under the pointer, drags the image, zooms with the wheel once the viewer has the focus.
function followPointer(viewer, frame) {
  let drag = null;
  frame.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    drag = { x: event.clientX, y: event.clientY, moved: false };
  });
  frame.addEventListener("pointermove", (event) => {
    if (drag && (event.buttons & 1) && viewer.view.scale > 1) {
      const box = frame.getBoundingClientRect();
      const [dx, dy] = [drag.x - event.clientX, drag.y - event.clientY];
      if (drag.moved || Math.hypot(dx, dy) > 3) {
        viewer.view.pan(dx / box.width, dy / box.height);
        drag = { x: event.clientX, y: event.clientY, moved: true };
      }
    }
    const at = viewer.view.under(event, frame);
    viewer.reading.ariaLive = "off";
    if (viewer.mode === "wipe" && !(event.buttons & 1)) viewer.wipe(1000 * at.x);
    setProbe(viewer, at.x, at.y);
  });
  frame.addEventListener("click", () => {
    if (viewer.mode === "flip" && !drag?.moved) viewer.flip();
    drag = null;
  });
  frame.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !viewer.root.contains(document.activeElement)) return;
    event.preventDefault();
    const box = frame.getBoundingClientRect();
    const [px, py] = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
    viewer.view.zoom(1.002 ** -event.deltaY, px, py, mostZoom(viewer));
    viewer.look();
  }, { passive: false });
}
