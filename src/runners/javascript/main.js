// The runner of JavaScript and TypeScript: keeps one process's state, runs the agent's steps in it.
//
//     node --experimental-vm-modules main.js FD [typescript]
//
// FD is an inherited stream socket to the agent; standard output and error are pipes that the agent
// reads. The option lets code of steps call import().
//
// The code has Node's main context for itself. All other files here, and the parsers, live in a
// context of their own ("realm"), with an Array, a Promise and a JSON that the code cannot reach by
// accident: it may change its own as it likes. Of Node they use what is taken here, before any code
// has run.

"use strict";

const vm = require("vm");
const fs = require("fs");
const path = require("path");
const Module = require("module");

const home = __dirname;
const realm = vm.createContext(Object.create(null), { name: "stepbox" });
const loaded = new Map();
const { compileFunction } = vm;
const { readFileSync } = fs;

function compileInRealm(filename, parameters) {
  return compileFunction(readFileSync(filename, "utf8"), parameters, {
    filename,
    parsingContext: realm,
  });
}

// One of our own files, which sets its `exports`.
function load(name) {
  let exports = loaded.get(name);
  if (exports === undefined) {
    exports = {};
    loaded.set(name, exports);
    compileInRealm(`${home}/${name}.js`, ["exports", "load", "node"])(exports, load, node);
  }
  return exports;
}

// A library in one file, as CommonJS has it.
function loadLibrary(filename) {
  const module = { exports: {} };
  compileInRealm(filename, ["exports", "module"])(module.exports, module);
  return module.exports;
}

// What is written in C. Node looks at no name of such a file when it is asked in this way.
function loadHost() {
  const module = { exports: {} };
  process.dlopen(module, `${home}/host.so`);
  return module.exports;
}

const url = require("url");
const util = require("util");

const node = {
  home,
  loadLibrary,
  host: loadHost(),
  global: globalThis,
  process,
  Module,
  Script: vm.Script,
  SyntheticModule: vm.SyntheticModule,
  VmModule: vm.Module,
  Writable: require("stream").Writable,
  Socket: require("net").Socket,
  timers: require("timers"),
  timersPromises: require("timers/promises"),
  promisify: util.promisify,
  inspect: util.inspect,
  isPromise: util.types.isPromise,
  isNativeError: util.types.isNativeError,
  isUint8Array: util.types.isUint8Array,
  isProxy: util.types.isProxy,
  existsSync: fs.existsSync,
  readFileSync,
  isAbsolute: path.isAbsolute,
  join: path.join,
  resolve: path.resolve,
  fileURLToPath: url.fileURLToPath,
  pathToFileURL: url.pathToFileURL,
  Promise,
  then: Promise.prototype.then,
  Error,
  SyntaxError,
  TypeError,
  errorToString: Error.prototype.toString,
  defineProperty: Object.defineProperty,
  ObjectPrototype: Object.prototype,
  bufferFrom: Buffer.from,
  setImmediate,
};

const [descriptor, variant] = process.argv.slice(2);
if (!/^[0-9]+$/.test(descriptor) || (variant !== undefined && variant !== "typescript")) {
  process.stderr.write("usage: node --experimental-vm-modules main.js FD [typescript]\n");
  process.exit(2);
}
load("runner").start(Number(descriptor), variant === "typescript");
