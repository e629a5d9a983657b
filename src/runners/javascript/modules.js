// import and require in the code of steps: relative names are files of the working directory,
// others are found from there up, then among Debian's packages and npm's global ones.
//
// A module is loaded once, as Node has it: a file that was changed is not read again by a later
// import (`import("./file.mjs?2")` is another module to Node, and `delete require.cache[path]` has
// require read it again).

"use strict";

const {
  Module,
  process,
  global,
  defineProperty,
  existsSync,
  isAbsolute,
  join,
  pathToFileURL,
  SyntaxError,
  VmModule,
} = node;

// Where packages stand directly, and below which folders they stand in node_modules.
const FOLDERS = ["/usr/share/nodejs", "/usr/local/lib/node_modules", "/usr/lib/node_modules"];
const ROOTS = ["/usr/local/lib", "/usr/lib"];
const FILE = "[cell].js"; // the file that the code would be in

const cwd = process.cwd;
const here = () => {
  try {
    return cwd();
  } catch {
    return "/"; // it was removed
  }
};

const importers = new Map();

// A function that imports as code of a file in the directory does.
function importer(directory) {
  let found = importers.get(directory);
  if (!found) {
    const filename = join(directory, FILE);
    const module = new Module(filename);
    module.filename = filename;
    module.paths = Module._nodeModulePaths(directory);
    module._compile(
      "module.exports = (specifier, options) => import(specifier, options);",
      filename,
    );
    found = module.exports;
    importers.set(directory, found);
  }
  return found;
}

const isBare = (specifier) => !/^(\.{0,2}\/|[a-z][a-z0-9+.-]+:|\.{1,2}$)/i.test(specifier);

function requireIn(directory) {
  return Module.createRequire(join(directory, FILE));
}

function options(attributes) {
  return attributes && Object.keys(attributes).length > 0
    ? { with: attributes, assert: attributes }
    : undefined;
}

// A vm.Module of a file that Node cannot read, in TypeScript's runner.
let importTypeScript = () => undefined;
exports.setTypeScript = (load) => (importTypeScript = load);

async function importModule(specifier, attributes) {
  specifier = String(specifier);
  const local =
    !isBare(specifier) && (await importTypeScript(specifier, here(), requireIn(here())));
  if (local) return local;
  const given = options(attributes);
  try {
    return await importer(here())(specifier, given);
  } catch (error) {
    if (error?.code !== "ERR_MODULE_NOT_FOUND" || !isBare(specifier)) throw error;
    for (const root of ROOTS) {
      try {
        return await importer(root)(specifier, given);
      } catch (other) {
        if (other?.code !== "ERR_MODULE_NOT_FOUND") throw other;
      }
    }
    let file;
    try {
      file = requireIn(here()).resolve(specifier);
    } catch {
      throw error;
    }
    return importer(here())(pathToFileURL(file).href, given);
  }
}

// For an import declaration: all names must be there (not in TypeScript: they may be types).
exports.importNames = async function importNames(specifier, names, attributes, mayLack) {
  const found = await importModule(specifier, attributes);
  const namespace = VmModule && found instanceof VmModule ? found.namespace : found;
  for (const name of mayLack ? [] : names) {
    if (!(name in namespace)) {
      throw new SyntaxError(
        `The requested module '${specifier}' does not provide an export named '${name}'`,
      );
    }
  }
  return namespace;
};

// For import() in scripts.
exports.importDynamically = (specifier, _script, attributes) => importModule(specifier, attributes);

function show(name, descriptor) {
  defineProperty(global, name, { configurable: true, enumerable: false, ...descriptor });
}

function makeModule() {
  const module = new Module(".");
  module.filename = join(here(), FILE);
  module.paths = Module._nodeModulePaths(here());
  module.loaded = true;
  return module;
}

function makeRequire(module) {
  let directory;
  let current;
  const now = () => {
    if (directory !== here()) {
      directory = here();
      current = requireIn(directory);
    }
    return current;
  };
  now();
  const require = (specifier) => now()(specifier);
  require.resolve = (specifier, given) => now().resolve(specifier, given);
  require.resolve.paths = (specifier) => now().resolve.paths(specifier);
  require.cache = current.cache;
  require.extensions = current.extensions;
  require.main = module;
  return require;
}

exports.install = function install(metaName) {
  const before = process.env.NODE_PATH;
  process.env.NODE_PATH = [before, ...FOLDERS].filter(Boolean).join(":");
  Module._initPaths();
  if (before === undefined) delete process.env.NODE_PATH;
  else process.env.NODE_PATH = before;
  // What the runner is made of is not the code's.
  for (const file of Object.keys(Module._cache)) delete Module._cache[file];
  process.mainModule = undefined;

  const module = makeModule();
  show("module", { value: module, writable: true });
  show("exports", { value: module.exports, writable: true });
  show("require", { value: makeRequire(module), writable: true });
  show("__filename", { get: () => join(here(), FILE) });
  show("__dirname", { get: here });
  show(metaName, {
    configurable: false,
    get: () => ({
      dirname: here(),
      filename: join(here(), FILE),
      url: pathToFileURL(join(here(), FILE)).href,
      resolve: (specifier) => {
        if (Module.isBuiltin?.(specifier))
          return specifier.startsWith("node:") ? specifier : `node:${specifier}`;
        const file =
          isAbsolute(specifier) && existsSync(specifier)
            ? specifier
            : requireIn(here()).resolve(specifier);
        return pathToFileURL(file).href;
      },
    }),
  });
  process.argv.splice(1, Infinity, join(here(), FILE));
  process.execArgv.length = 0; // child processes of the code do not take our options over
};
