// The part of an image that is seen, shared by all frames of a viewer ----------------------------------------

class View {
  constructor() { this.reset(); }

  // `x` and `y` are the left and upper edge as shares of the image.
  reset() { [this.x, this.y, this.scale] = [0, 0, 1]; }

  // Zooms about a point of the frame, given in shares of the frame.
  zoom(factor, px, py, most) {
    const scale = Math.min(most, Math.max(1, this.scale * factor));
    this.x += px / this.scale - px / scale;
    this.y += py / this.scale - py / scale;
    this.scale = scale;
    this.clamp();
  }

  // Moves by shares of the frame.
  pan(dx, dy) {
    this.x += dx / this.scale;
    this.y += dy / this.scale;
    this.clamp();
  }

  clamp() {
    const most = 1 - 1 / this.scale;
    this.x = Math.min(most, Math.max(0, this.x));
    this.y = Math.min(most, Math.max(0, this.y));
  }

  // Brings a point, in shares of the image, into sight.
  reveal(x, y) {
    const span = 1 / this.scale;
    if (x < this.x || x > this.x + span) this.x = x - span / 2;
    if (y < this.y || y > this.y + span) this.y = y - span / 2;
    this.clamp();
  }

  apply(sheet) { sheet.style.transform = `scale(${this.scale}) translate(${-100 * this.x}%, ${-100 * this.y}%)`; }

  // Where in the image, in shares of it, the pointer is.
  under(event, frame) {
    const box = frame.getBoundingClientRect();
    return {
      x: this.x + (event.clientX - box.left) / box.width / this.scale,
      y: this.y + (event.clientY - box.top) / box.height / this.scale,
    };
  }
}
