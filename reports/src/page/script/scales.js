// Scales of maps: values from colours, and colour bars with the numbers at their ends ---------------------------

// The place of a colour on the way through these, 0 to 1, and its squared distance from there.
function placeOf(colour, stops) {
  let best = { place: 0, distance: Infinity };
  for (let i = 0; i + 1 < stops.length; i++) {
    const way = stops[i].map((from, c) => stops[i + 1][c] - from);
    const length = way.reduce((sum, d) => sum + d * d, 0);
    const along = way.reduce((sum, d, c) => sum + d * (colour[c] - stops[i][c]), 0) / length;
    const share = Math.min(1, Math.max(0, along));
    const distance = way.reduce((sum, d, c) => sum + (colour[c] - stops[i][c] - share * d) ** 2, 0);
    if (distance < best.distance) best = { place: (i + share) / (stops.length - 1), distance };
  }
  return best;
}

// A colour between those of a scale, as CSS has it.
function shade(stops, place) {
  const at = place * (stops.length - 1);
  const i = Math.min(stops.length - 2, Math.floor(at));
  return `rgb(${stops[i].map((from, c) => Math.round(from + (at - i) * (stops[i + 1][c] - from))).join(" ")})`;
}

// In words, the value that a map's colour stands for. Colours have 8 bits, so it is rounded.
function valueOfColour(map, colour) {
  const { scales } = data;
  if (map.quantity.startsWith("flip")) return `${MAPS[`map-${map.quantity}`][0]} ${placeOf(colour, scales.flip).place.toFixed(2)}`;
  if (map.quantity === "difference") {
    return `linear |A − B| ${colour.map((code) => number(Number((decodeSrgb(code / 255) / map.scale).toPrecision(2)))).join(" ")}`;
  }
  if (map.quantity === "efficiency") {
    const ratio = scales.full ** (2 * placeOf(colour, scales.efficiency).place - 1);
    return `efficiency of B over that of A ${number(Number(ratio.toPrecision(2)))}`;
  }
  const { place, distance } = placeOf(colour, scales.p);
  // Outlines and tiles too small to be tested have colours of their own.
  if (distance > 500) return colour[0] < 100 ? "the edge of a tile that decides" : "too few pixels to be tested";
  const brighter = place < 0.5 ? "A brighter" : "B brighter";
  const share = Math.abs(2 * place - 1);
  const least = map.threshold === null ? "rejects" : `p < ${number(map.threshold)}, rejects`;
  if (share > (1 + scales.almost) / 2) return `${least}, ${brighter}`;
  if (map.threshold === null) return `does not reject, ${brighter}`;
  const p = map.threshold ** (share / scales.almost);
  return p > 0.99 ? "p = 1" : `p ≈ ${number(Number(p.toPrecision(2)))}, ${brighter}`;
}

// A colour bar with what its ends, and its middle where it has one, stand for.
function colourBar(colours, ends) {
  const bar = element("span", { className: "colours" });
  bar.style.background = `linear-gradient(to right, ${colours.join(", ")})`;
  const [low, ...others] = ends.map((textContent) => element("span", { textContent }));
  return element("span", { className: "scale" }, low, bar, ...others);
}

function barOfMap(map) {
  const { scales } = data;
  const all = (stops) => stops.map((_, i) => shade(stops, i / (stops.length - 1)));
  if (map.quantity.startsWith("flip")) return colourBar(all(scales.flip), ["0", "1"]);
  if (map.quantity === "difference") return greyBar(1 / map.scale);
  if (map.quantity === "efficiency") {
    return colourBar(all(scales.efficiency), [`A ${scales.full}×`, `B ${scales.full}×`]);
  }
  const least = map.threshold === null ? "rejects" : `p < ${number(map.threshold)}`;
  const near = scales.almost / 2;
  const colours = [[0, 0, 8], [0.5 - near, 8, 8], [0.5, 50, 50], [0.5 + near, 92, 92], [1, 92, 100]];
  const stops = colours.flatMap(([place, from, to]) => [`${shade(scales.p, place)} ${from}%`, `${shade(scales.p, place)} ${to}%`]);
  return colourBar(stops, [`A brighter, ${least}`, `B brighter, ${least}; p = 1 between`]);
}

// From no difference to one that is white. Steps of the bar are those of 8-bit codes, as in the picture.
function greyBar(most) { return colourBar(["#000", "#fff"], ["0", number(most)]); }
