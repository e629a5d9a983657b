// What values look like: results of steps, and display().
//
// A value may say what it looks like, in the ways of Deno's kernel (a method that is named
// Symbol.for("Jupyter.display") and returns contents by MIME type, or a promise of them) and of
// IJavascript (_toMime(), _toHtml(), _toSvg(), _toPng(), _toJpeg()), or by toHTML(). Bytes of a PNG
// or JPEG file are shown as the picture.

"use strict";

const { inspect, isProxy, isUint8Array, isPromise, bufferFrom } = node;
const { anyJson, jsonForm } = load("json");

const DISPLAY = Symbol.for("Jupyter.display");

// In the order in which the keys stand in a result.
const KEYS = new Map([
  ["text/plain", "text"],
  ["text/html", "html"],
  ["text/markdown", "markdown"],
  ["image/svg+xml", "svg"],
  ["image/png", "png"],
  ["image/jpeg", "jpeg"],
  ["application/pdf", "pdf"],
  ["text/latex", "latex"],
  ["application/json", "json"],
  ["application/javascript", "javascript"],
  ["e2b/data", "data"],
  ["e2b/chart", "chart"],
]);
const STRUCTURED = new Set(["application/json", "e2b/data", "e2b/chart"]);

const METHODS = [
  ["_toHtml", "text/html"],
  ["toHTML", "text/html"],
  ["_toSvg", "image/svg+xml"],
  ["_toPng", "image/png"],
  ["_toJpeg", "image/jpeg"],
];

const MAGIC = [
  ["image/png", [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ["image/jpeg", [0xff, 0xd8, 0xff]],
];

// Strings lose their quotes: the text of "a" is a.
function textOf(value) {
  return typeof value === "string"
    ? inspect(value, { maxStringLength: null }).slice(1, -1)
    : inspect(value);
}

const base64 = (bytes) =>
  bufferFrom(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");

function content(mime, value) {
  if (isUint8Array(value)) return base64(value);
  if (STRUCTURED.has(mime) || (!KEYS.has(mime) && typeof value === "object")) return anyJson(value);
  const text = String(value);
  return mime.startsWith("image/") && mime !== "image/svg+xml" ? text.replace(/\s/g, "") : text;
}

function fromMethods(value, bundle) {
  for (const [method, mime] of METHODS) {
    if (typeof value[method] === "function") bundle[mime] ??= value[method]();
  }
  if (typeof value._toMime === "function") Object.assign(bundle, value._toMime());
  for (const [mime, magic] of MAGIC) {
    if (isUint8Array(value) && magic.every((byte, i) => value[i] === byte)) bundle[mime] = value;
  }
}

// Contents by MIME type, or a promise of them.
exports.bundleOf = function bundleOf(value) {
  const isObject =
    ((typeof value === "object" && value !== null) || typeof value === "function") &&
    !isProxy(value);
  if (isObject && typeof value[DISPLAY] === "function") return value[DISPLAY]();
  const bundle = { "text/plain": textOf(value) };
  if (isObject) {
    fromMethods(value, bundle);
    bundle["application/json"] = jsonForm(value);
  }
  return bundle;
};

exports.resultEvent = function resultEvent(bundle, isMain) {
  const event = { type: "result" };
  const contents = new Map();
  for (const mime of Object.keys(Object(bundle))) {
    const value = bundle[mime];
    if (value !== undefined && value !== null) contents.set(mime, content(mime, value));
  }
  for (const [mime, key] of KEYS) {
    if (contents.has(mime)) event[key] = contents.get(mime);
    contents.delete(mime);
  }
  event.extra = Object.fromEntries(contents);
  event.is_main_result = isMain;
  return event;
};

// display(value), display(contents by MIME type, {raw: true}). `show` sends the event.
exports.makeDisplay = function makeDisplay(show) {
  return function display(value, options) {
    const bundle = options?.raw ? value : exports.bundleOf(value);
    if (isPromise(bundle))
      return node.reflectThen(bundle, (ready) => show(exports.resultEvent(ready, false)));
    show(exports.resultEvent(bundle, false));
    return undefined;
  };
};
