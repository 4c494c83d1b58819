// The worst pair on the first screen: the tile that differs most at four times its size, and its worst pixels ----

const CROP = { width: 48, height: 36, enlarged: 4, tile: 8, listed: 5 };

// Differences of a pair in 8 bits: their sum over each tile's channels, each counting up to `most` so that one outlier does
// not make a tile the worst, and the pixels that differ most.
function worstPlaces(a, b, most) {
  const tiles = new Map();
  const pixels = [];
  for (let k = 0; k < a.data.length; k += 4) {
    const [x, y] = [(k / 4) % a.width, Math.floor(k / 4 / a.width)];
    let [sum, clipped] = [0, 0];
    for (let c = 0; c < 3; c++) {
      const d = Math.abs(a.data[k + c] - b.data[k + c]);
      sum += d;
      clipped += Math.min(d, most);
    }
    if (sum === 0) continue;
    pixels.push({ x, y, sum });
    const key = Math.floor(y / CROP.tile) * a.width + Math.floor(x / CROP.tile);
    tiles.set(key, (tiles.get(key) ?? 0) + clipped);
  }
  pixels.sort((p, q) => q.sum - p.sum);
  if (pixels.length === 0) return null;
  const [key] = [...tiles].reduce((worst, tile) => (tile[1] > worst[1] ? tile : worst));
  const tile = { x: (key % a.width) * CROP.tile, y: Math.floor(key / a.width) * CROP.tile };
  return { tile, pixels: pixels.slice(0, CROP.listed) };
}

// The part of an image around a tile, enlarged, with the tile outlined.
function crop(image, tile, name) {
  const [width, height] = [Math.min(CROP.width, image.width), Math.min(CROP.height, image.height)];
  const begin = (at, size, whole) => Math.max(0, Math.min(whole - size, Math.round(at + CROP.tile / 2 - size / 2)));
  const [x, y] = [begin(tile.x, width, image.width), begin(tile.y, height, image.height)];
  const canvas = element("canvas", { width, height, className: "enlarged" });
  canvas.getContext("2d").putImageData(image, -x, -y);
  const frame = element("div", { className: "crop" }, canvas);
  frame.style.aspectRatio = `${width} / ${height}`;
  const outline = element("div", { className: "tile" });
  Object.assign(outline.style, {
    left: `${(100 * (tile.x - x)) / width}%`, top: `${(100 * (tile.y - y)) / height}%`,
    width: `${(100 * CROP.tile) / width}%`, height: `${(100 * CROP.tile) / height}%`,
  });
  frame.append(outline);
  return element("figure", {}, frame, element("figcaption", { textContent: breakable(name) }));
}

async function showWorst(root, pair, viewer) {
  const level = viewer.scene.levels.find((l) => l.spp === pair.spp);
  const [i, j] = level ? [viewer.find(level, pair.a), viewer.find(level, pair.b)] : [-1, -1];
  if (i < 0 || j < 0) return;
  const { codes } = await viewer.images(level);
  const { quantile, gain } = robustGain(codes[i], codes[j]);
  const sides = [pair.a, pair.b];
  const map = data.maps.find((m) => m.quantity === "difference" && m.scene === pair.scene && m.spp === pair.spp &&
    m.factor === level.factor && m.a !== m.b && sides.includes(m.a) && sides.includes(m.b));
  // Linear values differ where 8-bit ones do not yet.
  const picture = map && await pixelsOf(data.pictures[map.picture]);
  const inCodes = worstPlaces(codes[i], codes[j], quantile);
  const places = picture ? worstPlaces(picture, new ImageData(picture.width, picture.height), 255) : inCodes;
  if (!places) return root.append(element("p", { className: "note", textContent: "No 8-bit value differs: the images look the same." }));
  const seen = picture ?? difference(codes[i], codes[j], gain).image;
  const name = picture ? `linear |A − B| × ${gainText(map.scale)}` : gain > 1 ? `|A − B| × ${gain}` : "|A − B|";
  const said = picture ? "Gain: half of the values that differ are darker than middle grey." :
    `Gain: ${100 * CLEAR} % of the values that differ do so by at most ${quantile} of 255.`;
  const link = (x, y, textContent) => element("a", { href: `#${root.dataset.scene}`, textContent, onclick: (event) => {
    event.preventDefault();
    viewer.select(pair.a, pair.b, pair.spp);
    viewer.lookAt(level, x * level.factor, y * level.factor);
  } });
  const images = element("div", { className: "crops" }, ...[
    [codes[i], pair.a], [codes[j], pair.b], [seen, name],
  ].map(([image, name]) => crop(image, places.tile, name)));
  const pixels = (inCodes ?? places).pixels.flatMap(({ x, y }, n) => [n ? ", " : "", link(x, y, `${x * level.factor}, ${y * level.factor}`)]);
  root.append(images, element("p", { className: "note" },
    `${said} Pixels that differ most: `, ...pixels));
}

for (const root of document.querySelectorAll(".worst[data-pair]")) {
  const pair = data.differences[+root.dataset.pair];
  const viewer = viewers.get(pair.scene);
  if (viewer) showWorst(root, pair, viewer).catch((error) => root.append(element("p", { textContent: error.message })));
}
