"use strict";
// Looks at the page as it is laid out at this width, with every part open, in both themes.
// It stands in a frame of that width, since windows of a browser have a least width, and tells its parent what it found.
usePage(async ({ check: step, all, pause }) => {
  const check = (what, wrong) => step(wrong.length ? `${what}: ${wrong.slice(0, 5).join("; ")}` : what, wrong.length === 0);
  const named = (element) => `${element.tagName.toLowerCase()}.${element.getAttribute("class") ?? ""} "${
    (element.ariaLabel || element.textContent).trim().slice(0, 40)}"`;
  const isSeen = (element) => element.checkVisibility({ checkVisibilityCSS: true }) && element.getClientRects().length > 0;
  const channels = (colour) => colour.match(/[\d.]+/g).map(Number);

  // The relative luminance of WCAG 2.
  const luminance = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = channels(getComputedStyle(at).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const contrast = (element) => {
    const style = getComputedStyle(element);
    const [ink, paper] = [channels(element.closest("svg") ? style.fill : style.color), ground(element)].map(luminance);
    return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
  };

  // Elements with text of their own, and how large it is on the screen.
  const texts = () => all("body *").filter((element) => !element.closest("script, style, noscript, title") && isSeen(element) &&
    [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim() !== ""));
  const scale = ({ a, b }) => Math.hypot(a, b);
  const size = (element) => parseFloat(getComputedStyle(element).fontSize) * (element.getScreenCTM ? scale(element.getScreenCTM()) : 1);

  await pause();
  check(`opens at most 4,000 px tall from 1,000 px on: ${document.documentElement.scrollHeight}`,
    innerWidth >= 1000 && document.documentElement.scrollHeight > 4000 ? ["taller"] : []);
  for (const part of all("details")) {
    part.removeAttribute("name");
    part.open = true;
  }
  await pause();
  check(`the body is no wider than ${innerWidth} px`, document.documentElement.scrollWidth <= innerWidth ? [] :
    all("body *").filter((e) => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".table, .drawing, nav, .tip, .skip-link")).map(named));
  const tables = all(".table").filter(isSeen);
  check(`${tables.length} tables are within their columns`, innerWidth < 1000 ? [] :
    tables.filter((t) => t.scrollWidth > t.clientWidth + 1).map((t) => `${t.ariaLabel} ${t.scrollWidth} in ${t.clientWidth}`));
  check("no text is below 10 px", texts().filter((e) => size(e) < 9.95).map((e) => `${named(e)} ${size(e).toFixed(1)}`));

  // The subject of a row stays in view on a phone: names at the edge side by side, over what scrolls below them.
  const wide = tables.filter((t) => t.scrollWidth > t.clientWidth + 1 && t.querySelector("td.key"));
  for (const t of wide) {
    t.scrollLeft = t.scrollWidth;
    t.scrollTop = t.scrollHeight;
  }
  const keysOf = (row) => [...row.querySelectorAll(".key")];
  const lastRow = (t) => all("tbody tr:not([hidden])", t).at(-1);
  const near = (a, b) => Math.abs(a - b) <= 1;
  const isAtEdge = (t) => {
    const [edge, first, second] = [t, ...keysOf(lastRow(t))].map((element) => element.getBoundingClientRect());
    return near(first.left, edge.left) && (!second || near(second.left, first.right)) &&
      t.clientWidth - ((second ?? first).right - edge.left) >= 100;
  };
  const isOnTop = (cell) => {
    cell.scrollIntoView({ block: "center", inline: "nearest", behavior: "instant" });
    const box = cell.getBoundingClientRect();
    const colour = channels(getComputedStyle(cell).backgroundColor);
    return (colour[3] ?? 1) === 1 && cell.scrollWidth <= cell.clientWidth + 1 &&
      cell.contains(document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2));
  };
  const isNamed = (t) => isAtEdge(t) && [...keysOf(lastRow(t)), ...keysOf(t.querySelector("thead"))].every(isOnTop);
  check(`names stay in view in ${wide.length} tables that scroll sideways`, innerWidth > 700 ? [] :
    wide.length === 0 ? ["none scrolls"] : wide.filter((t) => !isNamed(t)).map((t) => t.ariaLabel));
  for (const t of wide) t.scrollLeft = t.scrollTop = 0;

  const links = all("nav a, nav button").filter(isSeen);
  const covered = [];
  for (const link of links) {
    link.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
    const box = link.getBoundingClientRect();
    for (const x of [box.left + 2, box.right - 2]) {
      if (!link.contains(document.elementFromPoint(x, box.top + box.height / 2))) covered.push(named(link));
    }
  }
  check(`nothing covers the ${links.length} parts of the navigation`, covered);

  // Controls for a pointer can be reached by keys, and none is under the navigation then.
  // Without an animation: a control is looked for as soon as it has the focus.
  document.documentElement.style.scrollBehavior = "auto";
  const controls = all("a[href], button, select, input, summary, [tabindex]").filter(isSeen);
  const unreached = [];
  const nav = document.querySelector("nav");
  for (const control of controls) {
    control.focus();
    const box = control.getBoundingClientRect();
    // One taller than the room below the navigation cannot stand clear of it: the middle of its part in that room is seen.
    const isTall = box.height >= innerHeight - nav.offsetHeight;
    const middle = (Math.max(box.top, nav.offsetHeight) + Math.min(box.bottom, innerHeight)) / 2;
    const [x, y] = [box.left + Math.min(box.width / 2, 8), isTall ? middle : box.top + Math.min(box.height / 2, 8)];
    const top = document.elementFromPoint(x, y);
    const isUnder = isTall ? !control.contains(top) : top && top.closest("nav") && !control.closest("nav");
    if (control.tabIndex < 0 || document.activeElement !== control || isUnder) unreached.push(named(control));
  }
  check(`a key reaches all of ${controls.length} controls`, unreached);

  const theme = document.querySelector(".theme");
  for (const name of ["light", "dark"]) {
    theme.click();
    await pause();
    check(`text stands out from its ground in ${name}`,
      texts().filter((e) => contrast(e) < 3).map((e) => `${named(e)} ${contrast(e).toFixed(1)}`));
  }
}, (text) => parent.postMessage(text, "*"));
