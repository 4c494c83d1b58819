"use strict";
// Uses the page as a person would, through events of the document.
usePage(async ({ check, one, all, pause: wait, press }) => {
  // The browser's clock runs ahead while nothing is to be done, but not through the decoding of an image, which takes as long
  // as it takes beside all that the page decodes.
  const pixel = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
  const work = () => new Promise((resolve) => {
    const image = new Image();
    image.onload = image.onerror = resolve;
    image.src = pixel;
  });
  const until = async (holds) => {
    for (let i = 0; i < 5000 && !holds(); i++) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      await work();
    }
  };
  const pause = async () => {
    await wait();
    for (let i = 0; i < 5; i++) await work();
  };
  const viewer = one(".viewer");
  const key = async (name, more = {}, target = viewer) => {
    press(name, target, more);
    await pause();
  };
  const pointer = (type, target, x, y, more = {}) => target.dispatchEvent(
    new PointerEvent(type, { clientX: x, clientY: y, bubbles: true, pointerId: 1, isPrimary: true, ...more }));
  const frame = () => one(".frame", viewer);
  const middle = () => {
    const box = frame().getBoundingClientRect();
    return [box.left + box.width * 0.403, box.top + box.height * 0.403];
  };
  const transforms = () => all(".sheet", viewer).map((sheet) => sheet.style.transform);
  const equal = (values) => values.every((value) => value === values[0]);
  const picture = () => one("canvas", viewer).toDataURL();
  await pause();

  const height = document.documentElement.scrollHeight;
  check(`is at most 4,000 px tall before anything is opened: ${height}`, height <= 4000);
  check("opens one scene", all("details.scene[open]").length === 1);
  await until(() => all(".worst canvas").length === 3);
  check("shows the worst pair from near with its linear difference", all(".worst canvas").length === 3 &&
    /linear \|A − B\| × \d/.test(one(".worst").textContent));
  const strips = all(".bar, .reading, .keys", viewer);
  const isWhole = (strip) => strip.scrollHeight <= strip.clientHeight;
  check("shows the viewer's controls whole", strips.length === 3 && strips.every(isWhole));
  const bars = one("table.bars");
  const ratios = () => all(".ratio", bars).map((cell) => cell.textContent);
  check("shows every target's speed over the first", ratios().length === 3 && ratios()[0] === "1.00×");
  const baseline = one("select", bars);
  baseline.value = baseline.options[1].value;
  baseline.dispatchEvent(new Event("change"));
  check("shows speeds over another target", ratios()[1] === "1.00×" && ratios()[0] !== "1.00×");
  const metrics = one(".metrics");
  const metric = one("select", metrics);
  const visible = () => all(".metric", metrics).filter((table) => !table.hidden).map((table) => table.dataset.title);
  check("shows one metric at a time", visible().length === 1 && metric.options.length > 5);
  metric.value = 2;
  metric.dispatchEvent(new Event("change"));
  check("shows the metric that is picked", visible().join() === metric.options[2].textContent);
  for (const part of all("main details.part")) part.open = true;
  await pause();

  const table = one("#pairs table");
  const column = (title) => all("thead th", table).findIndex((th) => th.textContent === title);
  const cells = (title) => all("tbody tr", table).filter((row) => !row.hidden).map((row) => row.cells[column(title)]);
  const errors = () => cells("MSE 8-bit").map((cell) => Number(cell.dataset.v ?? cell.textContent));
  const before = cells("Scene").map((cell) => cell.textContent).join();
  const sort = (title) => one("button", all("thead th", table)[column(title)]).click();
  const rows = errors().length;
  sort("MSE 8-bit");
  check("sorts rising", errors().every((v, i, e) => i === 0 || e[i - 1] <= v) && errors()[0] < errors().at(-1));
  sort("MSE 8-bit");
  check("sorts falling", errors().every((v, i, e) => i === 0 || e[i - 1] >= v));
  check("tells how it sorts", all("thead th", table)[column("MSE 8-bit")].ariaSort === "descending");
  sort("MSE 8-bit");
  check("returns to the order of the study", cells("Scene").map((cell) => cell.textContent).join() === before);

  const filter = one("#pairs input[type=search]");
  filter.value = "cornell embree";
  filter.dispatchEvent(new Event("input"));
  const shown = all("tbody tr", table).filter((row) => row.offsetParent !== null);
  check("filters by words", shown.length > 0 && shown.length < rows &&
    shown.every((row) => /cornell/.test(row.textContent) && /embree/.test(row.textContent)));
  const menu = all("#pairs .filters select").find((select) => select.ariaLabel === "Verdict");
  menu.value = "identical";
  menu.dispatchEvent(new Event("change"));
  check("filters by verdict", all("tbody tr", table).every((row) => row.offsetParent === null));
  filter.value = menu.value = "";
  menu.dispatchEvent(new Event("change"));
  check("shows all rows again", errors().length === rows);
  filter.value = "cornell";
  filter.dispatchEvent(new Event("input"));
  const address = location.hash;
  check("keeps its filters in the address", /^#pairs&table=.*&rows=cornell$/.test(address));
  const part = one("#pairs details");
  part.open = false;
  location.hash = "#pairs";
  filter.value = "";
  filter.dispatchEvent(new Event("input"));
  location.hash = address;
  await pause();
  check("shows what an address asks for", part.open && filter.value === "cornell" && errors().length < rows);
  filter.value = "";
  filter.dispatchEvent(new Event("input"));
  check("shows all rows once more", errors().length === rows);

  check("shows identical films once, under all their targets", all(".frame", viewer).length === 2 &&
    one("figcaption b", viewer).textContent === "cpu-bvh = opencl@pocl");
  const row = all("tbody tr", table).find((r) => /cornell/.test(r.textContent) && /cpu-bvh : cpu-embree/.test(r.textContent) && r.cells[column("spp")].textContent === "8");
  one("button.look", row).click();
  await pause();
  check("a row leads to its images", /cpu-bvh/.test(one("figcaption", viewer).textContent) && document.activeElement === viewer);
  const a = picture();
  await key("f");
  const b = picture();
  check("flips to the other image", a !== b && /B: cpu-embree/.test(one("figcaption", viewer).textContent));
  await key("f");
  check("flips back", picture() === a);
  one(".frame", viewer).click();
  await pause();
  check("flips by a click", picture() === b);

  await key("s");
  await key("+");
  check("zooms all images at once", /scale\(1\.5\)/.test(transforms()[0]) && transforms().length === 2 && equal(transforms()));
  const zoomed = transforms()[0];
  await key("ArrowDown", { shiftKey: true });
  check("pans by key", transforms()[0] !== zoomed && equal(transforms()));
  const panned = transforms()[0];
  const [x, y] = middle();
  pointer("pointerdown", frame(), x, y, { buttons: 1 });
  pointer("pointermove", frame(), x - 40, y - 20, { buttons: 1 });
  pointer("pointerup", frame(), x - 40, y - 20);
  check("pans by dragging", transforms()[0] !== panned && equal(transforms()));
  frame().dispatchEvent(new WheelEvent("wheel", { clientX: x, clientY: y, deltaY: -400, bubbles: true, cancelable: true }));
  check("zooms by the wheel", Number(/scale\(([\d.]+)\)/.exec(transforms()[0])[1]) > 2);
  await key("0");
  check("shows the whole again", transforms()[0].startsWith("scale(1) "));

  pointer("pointermove", frame(), ...middle());
  const reading = () => one(".reading", viewer).textContent;
  check("reads the pixel under the pointer", reading().includes("pixel 64, 48"));
  const [place] = reading().match(/pixel \d+, \d+/);
  const [px, py] = place.match(/\d+/g).map(Number);
  const canvas = one("canvas", viewer);
  const codes = [...canvas.getContext("2d").getImageData(px, py, 1, 1).data].slice(0, 3).join(" ");
  check("reads the values that are shown", one(".codes", viewer).textContent === `sRGB ${codes}`);
  const value = Number(one(".linear", viewer).textContent.split(" ")[0]);
  const code = Number(codes.split(" ")[0]) / 255;
  const linear = code <= 0.04045 ? code / 12.92 : ((code + 0.055) / 1.055) ** 2.4;
  check("linear values agree with their codes", code === 1 ? value >= 0.99 : Math.abs(value - linear) < 0.01);
  check("reads every film", all(".value", viewer).length === 2);
  await key("l");
  check("moves the pixel by key", reading().includes(`pixel ${px + 1}, ${py}`));

  const dull = picture();
  await key(".");
  check("exposes from linear values", picture() !== dull && !/8-bit/.test(one("figcaption", viewer).textContent));
  await key(",");
  check("returns to no exposure", picture() === dull);

  await key("w");
  const right = () => getComputedStyle(one("canvas.right", viewer)).clipPath;
  const [wx, wy] = middle();
  pointer("pointermove", frame(), wx, wy);
  await pause();
  viewer.scrollIntoView({ block: "start", behavior: "instant" });
  scrollBy({ top: -200, behavior: "instant" });
  const strip = one(".reading", viewer).getBoundingClientRect();
  check("keeps the values in view where the viewer goes on below the window", strip.bottom <= innerHeight &&
    viewer.getBoundingClientRect().bottom > innerHeight && strip.top > frame().getBoundingClientRect().top);
  check("wipes at the pointer", all("canvas", viewer).length === 2 && /40(\.\d+)?%/.test(right()));
  const wiped = right();
  const line = all("label", viewer).find((label) => label.textContent.startsWith("Line"));
  one("input", line).value = 900;
  one("input", line).dispatchEvent(new Event("input"));
  check("wipes by its slider", right() !== wiped && /90/.test(right()));
  await key("2");
  const second = one("figcaption b", viewer).textContent;
  await key("1");
  const first = one("figcaption b", viewer).textContent;
  check("shows one target by its number", first === "A: cpu-bvh" && second.startsWith("A: ") && second !== first);
  await key(" ");
  check("flips by the space bar", one("figcaption b", viewer).textContent.startsWith("B: "));
  await key("f");

  await key("d");
  check("shows the difference", /px differ in 8 bits/.test(one("figcaption", viewer).textContent));
  await key("m");
  check("shows the FLIP map", /^FLIP/.test(one("figcaption", viewer).textContent) && all("canvas", viewer).length === 1);
  pointer("pointermove", frame(), ...middle());
  check("reads FLIP where the pointer is", /FLIP 0\.\d\d/.test(reading()));
  check("says what the ends of a map's colours are", one(".scale", viewer).textContent === "01");
  for (let i = 0; i < 3; i++) await key("m");
  pointer("pointermove", frame(), ...middle());
  check("reads p-values where the pointer is", /rejects, A brighter/.test(reading()));
  await key("m");
  await key("ArrowLeft");
  check("says where there is no map", /No FLIP map/.test(viewer.textContent));

  const mark = one(".plots .mark");
  pointer("pointerenter", mark, 0, 0);
  check("says a plot's value", !one(".tip").hidden && /\d/.test(one(".tip").textContent));
  await key("ArrowRight", {}, one(".plots figure"));
  check("steps through a plot by key", one(".ls-plot .here") !== mark);

  const sections = { speed: [2, "Times over rounds"], "equal-time": [1, "Error after equal time"],
    scaling: [1, "Thread scaling"], portability: [1, "Performance portability"], ports: [0, "Cost of ports"] };
  for (const [id, [plots, heading]] of Object.entries(sections)) {
    const section = one(`#${id}`);
    check(`shows ${heading} under ${id}`, section && all(".ls-plot", section).length === plots &&
      all("h3", section).some((h) => h.textContent === heading) && one(`nav a[href="#${id}"]`));
  }
  check("marks what a target's rounds say", all("#speed td").some((td) => td.textContent === "faster"));

  const ground = () => getComputedStyle(document.body).backgroundColor;
  const grounds = [ground()];
  for (let i = 0; i < 2; i++) {
    one(".theme").click();
    grounds.push(ground());
  }
  check("changes its theme", grounds[1] !== grounds[2]);
  check("is no wider than the window", document.documentElement.scrollWidth <= innerWidth);
});
