// Theme: as the system has it, light or dark -----------------------------------------------------------------

// The rules for dark pages stand in media queries, here and in every plot; choosing a theme rewrites their conditions.
const darkRules = [...document.styleSheets]
  .flatMap((sheet) => [...sheet.cssRules])
  .filter((rule) => rule instanceof CSSMediaRule && /prefers-color-scheme:\s*dark/.test(rule.media.mediaText));
const themes = [
  ["System", "(prefers-color-scheme: dark)", "light dark"],
  ["Light", "not all", "light"],
  ["Dark", "screen", "dark"],
];
const themeButton = element("button", { type: "button", className: "theme" });
let theme = 0;

function setTheme(index) {
  const [name, media, scheme] = themes[(theme = index % themes.length)];
  for (const rule of darkRules) rule.media.mediaText = media;
  document.documentElement.style.colorScheme = scheme;
  themeButton.textContent = `Theme: ${name.toLowerCase()}`;
}

themeButton.onclick = () => setTheme(theme + 1);
document.querySelector("nav").append(themeButton);
setTheme(0);
