"use strict";
// Looks at the techniques of a pyramid as a person would.
usePage(async ({ check, one, all, pause, press }) => {
  const techniques = one(".pyramid");
  techniques.closest("details").open = true;
  await pause();

  const copy = new OffscreenCanvas(8, 6).getContext("2d", { willReadFrequently: true });
  const near = () => {
    copy.drawImage(one(".near canvas", techniques), 0, 0);
    return [...copy.getImageData(7, 5, 1, 1).data].slice(0, 3).join();
  };
  const says = () => one(".near p", techniques).textContent;
  check("shows the technique with the greatest share from near", says().startsWith("s = 0, t = 3, 2 edges: 60.0 %") && near() === "80,80,80");
  all(".cell", techniques)[2].scrollIntoView({ block: "center", behavior: "instant" });
  const box = all(".cell", techniques)[2].getBoundingClientRect();
  const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
  check("has the cell of a technique over its part of the picture", document.elementFromPoint(x, y) === all(".cell", techniques)[2]);
  all(".cell", techniques)[2].dispatchEvent(new PointerEvent("pointerenter", { clientX: x, clientY: y }));
  check("shows the technique under the pointer", says().startsWith("s = 1, t = 2, 2 edges: 30.0 %") && near() === "120,120,120");
  one("input[value=unweighted]", techniques).click();
  check("shows it without its weight", near() === "240,240,240" && one("img.weighted", techniques).getClientRects().length === 0);
  const grid = one(".grid", techniques);
  grid.focus();
  check("takes the focus", document.activeElement === grid);
  press("ArrowLeft", grid);
  check("steps to the technique beside it by key", says().startsWith("s = 0, t = 3") && near() === "160,160,160");
  press("ArrowUp", grid);
  check("steps to a shorter path by key", says().startsWith("s = 0, t = 2, 1 edge") && all(".cell.here", techniques).length === 1);
  check("is no wider than the window", document.documentElement.scrollWidth <= innerWidth);
});
