// Small helpers -------------------------------------------------------------------------------------------

const data = JSON.parse(document.getElementById("data").textContent);

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

function number(value) {
  if (typeof value === "string") return value === "inf" ? "∞" : value;
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e-3 && size < 1e5 ? String(Number(value.toPrecision(4))) : value.toExponential(2);
  return text.replaceAll("-", "−");
}

// Where a comparison stands; nothing where the samples per pixel are not known, which records give as 0.
function atSpp(spp) { return spp > 0 ? ` at ${spp} spp` : ""; }

// A name that may go on in another line behind @ and +.
function breakable(name) { return name.replace(/[@+]/g, "$&\u200b"); }

// A gain, which is a power of two, in full.
function gainText(gain) { return gain >= 1 && gain < 2 ** 40 ? gain.toLocaleString("en") : number(gain); }

// Never rounded up to the 1 that means equal.
function similarity(value) {
  if (typeof value === "string") return value;
  return value < 1 && value > 0.99999 ? "0.99999" : value.toFixed(5);
}
