// Plots: the value under the pointer, or step by step with the arrow keys ------------------------------------

const tip = element("div", { className: "tip", role: "status", hidden: true });
document.body.append(tip);

function showTip(mark) {
  document.querySelector(".ls-plot .here")?.classList.remove("here");
  mark.classList.add("here");
  tip.textContent = mark.dataset.says;
  tip.hidden = false;
  const [at, room] = [mark.getBoundingClientRect(), tip.getBoundingClientRect()];
  const left = Math.min(at.left + at.width / 2 + 12, document.documentElement.clientWidth - room.width - 4);
  const top = at.top - room.height - 6 > 0 ? at.top - room.height - 6 : at.bottom + 6;
  tip.style.left = `${Math.max(4, left) + scrollX}px`;
  tip.style.top = `${top + scrollY}px`;
}

function hideTip() {
  document.querySelector(".ls-plot .here")?.classList.remove("here");
  tip.hidden = true;
}

for (const figure of document.querySelectorAll(".plots figure")) {
  const marks = [...figure.querySelectorAll(".mark")];
  if (marks.length === 0) continue;
  let current = -1;
  marks.forEach((mark, i) => {
    // The browser's own tip would come late and lie over this one.
    const title = mark.querySelector("title");
    mark.dataset.says = title.textContent;
    title.remove();
    mark.addEventListener("pointerenter", () => { current = i; showTip(mark); });
    mark.addEventListener("pointerleave", hideTip);
  });
  figure.tabIndex = 0;
  figure.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") hideTip();
    if (!by || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    current = (current + by + marks.length) % marks.length;
    showTip(marks[current]);
  });
  figure.addEventListener("blur", hideTip);
}

// Where a window has room for one plot in a row, the further ones of a scene open on demand.
if (!matchMedia("(min-width: 1168px)").matches) {
  for (const part of document.querySelectorAll(".plots > details")) part.open = false;
}
