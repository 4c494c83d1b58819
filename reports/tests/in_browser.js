"use strict";
// The scripts that use the page share this: it runs the steps of one and hands on what they found, a line for each.
const intoPage = (text) => {
  const report = document.createElement("pre");
  report.id = "found";
  report.textContent = text;
  document.body.append(report);
};
const usePage = async (steps, handOn = intoPage) => {
  const found = [];
  const check = (what, holds) => found.push(`${holds ? "ok" : "FAILED:"} ${what}`);
  const one = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const pause = () => new Promise((resolve) => setTimeout(resolve, 250));
  const press = (name, target, more = {}) =>
    target.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true, ...more }));
  try {
    await steps({ check, one, all, pause, press });
  } catch (error) {
    check(`an exception: ${error.stack}`, false);
  }
  for (const message of raised) check(`the page raised: ${message}`, false);
  handOn(found.join("\n").replaceAll("<", "("));
};
