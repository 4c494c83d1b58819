// Techniques of bidirectional integrators: the one under the pointer, or step by step with the arrow keys -----------

class Techniques {
  constructor(figure) {
    this.figure = figure;
    this.grid = figure.querySelector(".grid");
    this.cells = [...figure.querySelectorAll(".cell")];
    this.canvas = element("canvas");
    this.words = element("p", { role: "status" });
    this.near = element("div", { className: "near" }, this.canvas, this.words);
    this.grid.after(this.near);
    for (const cell of this.cells) {
      // The browser's own tip would come late and lie over the cells.
      cell.dataset.says = cell.title;
      cell.removeAttribute("title");
      cell.addEventListener("pointerenter", () => this.show(cell));
    }
    this.grid.tabIndex = 0;
    this.grid.addEventListener("focus", () => this.show(this.current));
    this.grid.addEventListener("keydown", (event) => this.key(event));
    for (const choice of figure.querySelectorAll("input")) choice.addEventListener("change", () => this.show(this.current));
    const brightest = this.cells.reduce((most, cell) => (+cell.dataset.share > +most.dataset.share ? cell : most));
    for (const image of figure.querySelectorAll("img")) image.decode().then(() => this.show(this.current), () => {});
    this.show(brightest);
  }

  // Draws a cell of the picture that is chosen, from near, beside what it is.
  show(cell) {
    this.current?.classList.remove("here");
    this.current = cell;
    cell.classList.add("here");
    this.words.textContent = cell.dataset.says;
    const kind = this.figure.querySelector("input:checked").value;
    const image = this.figure.querySelector(`img.${kind}`);
    if (!image.naturalWidth) return;
    const [columns, rows] = [+this.grid.dataset.columns, +this.grid.dataset.rows];
    const [width, height] = [Math.round(image.naturalWidth / columns), Math.round(image.naturalHeight / rows)];
    Object.assign(this.canvas, { width, height, ariaLabel: `${kind}: ${cell.dataset.says}` });
    const [x, y] = [cell.dataset.column * width, cell.dataset.row * height];
    this.canvas.getContext("2d").drawImage(image, x, y, width, height, 0, 0, width, height);
  }

  // The nearest technique in the direction of a key.
  key(event) {
    const by = { ArrowRight: [1, 0], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowUp: [0, -1] }[event.key];
    if (!by || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const steps = (cell) => by[0] * (cell.dataset.column - this.current.dataset.column) + by[1] * (cell.dataset.row - this.current.dataset.row);
    const aside = (cell) => Math.abs(by[1] * (cell.dataset.column - this.current.dataset.column)) +
      Math.abs(by[0] * (cell.dataset.row - this.current.dataset.row));
    const there = this.cells.filter((cell) => steps(cell) > 0);
    there.sort((a, b) => steps(a) + 4 * aside(a) - steps(b) - 4 * aside(b));
    if (there.length) this.show(there[0]);
  }
}

for (const figure of document.querySelectorAll(".pyramid")) {
  if (figure.querySelector(".cell")) new Techniques(figure);
}
