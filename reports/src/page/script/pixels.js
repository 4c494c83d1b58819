// Pixels: from the PNGs inside the page to values, and from values to colours -----------------------------

// Pixels of a PNG. Data URIs never taint a canvas, so this works from a file and without a network.
function pixelsOf(uri) {
  return new Promise((resolve, reject) => {
    const image = new Image();
    image.onload = () => {
      const canvas = element("canvas", { width: image.naturalWidth, height: image.naturalHeight });
      const context = canvas.getContext("2d", { willReadFrequently: true });
      context.drawImage(image, 0, 0);
      resolve(context.getImageData(0, 0, canvas.width, canvas.height));
    };
    image.onerror = () => reject(new Error("an embedded image cannot be decoded"));
    image.src = uri;
  });
}

// Images are stored whole, or as what to add to another one modulo 256, or not at all when equal to it.
async function decode(stored) {
  const given = await Promise.all(stored.map((t) => (t.uri ? pixelsOf(t.uri) : null)));
  const images = [];
  stored.forEach((t, i) => {
    if (t.base === null) return images.push(given[i]);
    const base = images[t.base];
    if (!given[i]) return images.push(base);
    const sum = new ImageData(new Uint8ClampedArray(base.data), base.width, base.height);
    for (let k = 0; k < sum.data.length; k += 4) {
      for (let c = 0; c < 3; c++) sum.data[k + c] = (base.data[k + c] + given[i].data[k + c]) & 255;
    }
    images.push(sum);
  });
  return images;
}

// Linear values as the bits of 16-bit floats, by target; high and low bytes are images of their own.
async function decodeLinear(linear) {
  const [high, low] = await Promise.all([decode(linear.high), decode(linear.low)]);
  return high.map((image, i) => {
    const bits = new Uint16Array(image.data.length);
    for (let k = 0; k < bits.length; k++) bits[k] = (image.data[k] << 8) | low[i].data[k];
    return { bits, width: image.width, height: image.height };
  });
}

// The value of a 16-bit float (IEEE 754 binary16).
function halfValue(bits) {
  const [sign, exponent, fraction] = [bits & 0x8000 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

// The transfer function of sRGB (IEC 61966-2-1), values 0 to 1.
function encodeSrgb(value) {
  const v = Math.min(1, Math.max(0, value || 0));
  return v <= 0.0031308 ? 12.92 * v : 1.055 * v ** (1 / 2.4) - 0.055;
}

function decodeSrgb(value) { return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4; }

// An image brightened by `stops`: from linear values where there are any, else from its 8-bit codes.
function expose(codes, linear, stops) {
  const gain = 2 ** stops;
  const image = linear ? new ImageData(linear.width, linear.height) : new ImageData(codes.width, codes.height);
  const source = linear ? linear.bits : codes.data;
  const table = new Uint8ClampedArray(linear ? 65536 : 256);
  for (let i = 0; i < table.length; i++) {
    table[i] = 255 * encodeSrgb(gain * (linear ? halfValue(i) : decodeSrgb(i / 255)));
  }
  for (let k = 0; k < source.length; k++) image.data[k] = k % 4 === 3 ? 255 : table[source[k]];
  return image;
}

// |A − B| of 8-bit codes, brightened, and the pixels in which they differ.
function difference(a, b, gain) {
  const image = new ImageData(a.width, a.height);
  const places = [];
  for (let k = 0; k < a.data.length; k += 4) {
    let differs = false;
    for (let c = 0; c < 3; c++) {
      const d = Math.abs(a.data[k + c] - b.data[k + c]);
      image.data[k + c] = d * gain;
      differs ||= d > 0;
    }
    image.data[k + 3] = 255;
    if (differs) places.push(k / 4);
  }
  return { image, places };
}

// The part of all values that differ which a gain by quantile leaves unclipped.
const CLEAR = 0.95;

// The least 8-bit difference that this part of the values that differ does not exceed, and the power of two that brings
// it near white: one outlier does not turn the rest black.
function robustGain(a, b) {
  const counts = new Array(256).fill(0);
  for (let k = 0; k < a.data.length; k++) counts[Math.abs(a.data[k] - b.data[k])]++;
  counts[0] = 0;
  let left = CLEAR * counts.reduce((sum, count) => sum + count, 0);
  const quantile = Math.max(1, counts.findIndex((count) => count > 0 && (left -= count) <= 0));
  return { quantile, gain: 2 ** Math.max(0, Math.floor(Math.log2(255 / quantile))) };
}
