// TypeScript: compiled to JavaScript without looking at types, as all notebooks have it.

"use strict";

const {
  existsSync,
  fileURLToPath,
  join,
  loadLibrary,
  Module,
  process,
  readFileSync,
  resolve,
  SyntheticModule,
} = node;
const { syntaxError } = load("errors");
const { positionOf } = load("edits");
const { mapper } = load("sourcemap");
const stacks = load("stacks");
const cell = load("cell");
const modules = load("modules");

// npm's global packages first: who installs one there wants it.
const PLACES = ["/usr/local/lib/node_modules", "/usr/lib/node_modules", "/usr/share/nodejs"];

let ts;

exports.prepare = function prepare() {
  if (ts) return;
  const found = PLACES.map((place) => `${place}/typescript/lib/typescript.js`).find(existsSync);
  if (!found)
    throw new Error(`TypeScript (Debian: node-typescript) is not in ${PLACES.join(", ")}`);
  ts = loadLibrary(found);
};

function options(isModule) {
  const given = {
    target: ts.ScriptTarget.ES2022,
    module: isModule ? ts.ModuleKind.ESNext : ts.ModuleKind.CommonJS,
    sourceMap: true,
    isolatedModules: true,
    esModuleInterop: true,
  };
  // An import that this step does not use may be for later ones.
  if (isModule)
    given[ts.versionMajorMinor >= "5" ? "verbatimModuleSyntax" : "preserveValueImports"] = true;
  // Before 5.0 there are no others.
  if (ts.versionMajorMinor < "5") given.experimentalDecorators = true;
  return given;
}

// Enumerations and namespaces are made by adding to what has the name: here to nothing, as the
// declaration of an earlier step was another one.
function resetNames(file) {
  return file.statements
    .filter(
      (each) =>
        ts.isEnumDeclaration(each) || (ts.isModuleDeclaration(each) && ts.isIdentifier(each.name)),
    )
    .map(({ name }) => name.text);
}

function transpile(source, isModule, before = []) {
  return ts.transpileModule(source, {
    compilerOptions: options(isModule),
    fileName: "cell.ts",
    reportDiagnostics: true,
    transformers: { before },
  });
}

const faultOf = ({ diagnostics }) =>
  diagnostics.find(({ category }) => category === ts.DiagnosticCategory.Error);

const OPERATOR = "satisfies";

// To versions before 4.9 `satisfies` is unknown. To the compiled code it means what `as` means.
function withoutSatisfies(source, fault) {
  if (ts.versionMajorMinor >= "4.9" || !source.startsWith(OPERATOR, fault.start)) return undefined;
  return (
    source.slice(0, fault.start) +
    "as".padEnd(OPERATOR.length) +
    source.slice(fault.start + OPERATOR.length)
  );
}

function attempt(source, isModule) {
  let text = source;
  for (;;) {
    let file;
    const made = transpile(text, isModule, [() => (each) => (file = each)]);
    const fault = faultOf(made);
    const other = fault && withoutSatisfies(text, fault);
    if (!other) return { ...made, file, fault };
    text = other;
  }
}

const isExpression = ({ statements }) =>
  statements.length === 1 && ts.isExpressionStatement(statements[0]);

// `{a: 1}` is meant as an object, as in JavaScript.
function compileCell(source) {
  if (/^\s*\{/.test(source)) {
    const made = attempt(`(${source}\n)`, true);
    if (!made.fault && isExpression(made.file)) return { ...made, shift: 1 };
  }
  return { ...attempt(source, true), shift: 0 };
}

function toSyntaxError(fault, name, source) {
  const { line, column } = positionOf(source, fault.start ?? 0);
  const text = ts.flattenDiagnosticMessageText(fault.messageText, "\n");
  return syntaxError(text, name, source, line, column);
}

function compile(source, name) {
  exports.prepare();
  const { outputText, sourceMapText, file, fault, shift } = compileCell(source);
  if (fault) throw toSyntaxError(fault, name, source);
  const text = withoutLink(outputText);
  return {
    text,
    toSource: mapper(shift ? `(${source}\n)` : source, text, sourceMapText, shift),
    reset: resetNames(file),
  };
}

const withoutLink = (text) => text.replace(/\/\/# sourceMappingURL=.*\s*$/, "");

exports.makeCell = function makeCell(source, name) {
  const { text, toSource, reset } = compile(source, name);
  try {
    return cell.makeCell(text, name, { mayLack: true, reset, origin: { source, toSource } });
  } finally {
    const made = stacks.cell(name);
    if (made) {
      stacks.keep(name, {
        source,
        text: made.text || text,
        toSource: (offset) => toSource(made.toSource ? made.toSource(offset) : offset),
      });
    }
  }
};

// Files in TypeScript, which `require` reads.
function compileFile(module, filename) {
  exports.prepare();
  const source = readFileSync(filename, "utf8");
  const { outputText, sourceMapText, fault } = attempt(source, false);
  if (fault) throw toSyntaxError(fault, filename, source);
  const text = withoutLink(outputText);
  stacks.keep(filename, { source, text, toSource: mapper(source, text, sourceMapText, 0) });
  module._compile(text, filename);
}

function findFile(specifier, directory) {
  const path = specifier.startsWith("file:")
    ? fileURLToPath(specifier)
    : resolve(directory, specifier);
  const candidates = [
    path,
    `${path}.ts`,
    path.replace(/\.([mc]?)js$/, ".$1ts"),
    join(path, "index.ts"),
  ];
  return candidates.find((each) => /\.[mc]?ts$/.test(each) && existsSync(each));
}

// Node warns, once, that these are experimental; the code has not asked for them.
function makeModule(names, evaluate) {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return new SyntheticModule(names, evaluate);
  } finally {
    process.emitWarning = emitWarning;
  }
}

// For import of a file in TypeScript: a vm.Module with its exports. Undefined for other files.
async function importFile(specifier, directory, require) {
  const file = findFile(specifier, directory);
  if (!file) return undefined;
  const found = require(file);
  const values = new Map(Object.entries({ default: found, ...found }));
  const module = makeModule([...values.keys()], function () {
    for (const [name, value] of values) this.setExport(name, value);
  });
  await module.link(() => {});
  await module.evaluate();
  return module;
}

exports.install = function install() {
  for (const extension of [".ts", ".mts", ".cts"]) Module._extensions[extension] = compileFile;
  modules.setTypeScript(importFile);
};
