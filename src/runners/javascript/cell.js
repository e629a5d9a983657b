// The code of one step as scripts in Node's main context, ready to be started.

"use strict";

const { Script } = node;
const { parse } = load("parse");
const { META, rewrite } = load("rewrite");
const { offsetOf, positionOf } = load("edits");
const { syntaxError } = load("errors");
const { call, runScript } = load("enter");
const stacks = load("stacks");
const names = load("names");
const modules = load("modules");

const makeScript = (text, filename, options) =>
  new Script(text, { filename, importModuleDynamically: modules.importDynamically, ...options });

// V8's words for what is wrong, which people know, where it reads the code as we do.
function v8Fault(source, name) {
  const attempts = [
    [source, {}],
    [`(async()=>{\n${source}\n})`, { lineOffset: -1 }],
  ];
  for (const [text, options] of attempts) {
    try {
      return { script: makeScript(text, name, options), isWhole: text === source };
    } catch (error) {
      if (/\bawait\b|import|export/.test(error.message)) continue;
      const [, line, marks] = /^.*:(\d+)\n.*\n( *)\^/.exec(String(error.stack)) ?? [];
      return {
        message: error.message,
        place: line && { line: Number(line), column: marks.length + 1 },
      };
    }
  }
  return {};
}

// A script of code that only V8 can read (it may be newer than the parser), or the error.
function withoutParser(error, source, name, origin) {
  if (error.pos === undefined) throw error;
  const fault = v8Fault(source, name);
  if (fault.isWhole) return { main: fault.script, hasResult: true, names: [] };
  let written = source;
  let place = fault.place ?? positionOf(source, error.pos);
  if (origin) {
    written = origin.source;
    place = positionOf(written, origin.toSource(offsetOf(source, place.line, place.column)));
  }
  const message = fault.message ?? messageOf(error, source);
  throw syntaxError(message, name, written, place.line, place.column);
}

// In acorn's words, which are V8's but for the end of the code.
function messageOf({ message, pos }, source) {
  const isEnd = source.slice(pos).trim() === "" && message.startsWith("Unexpected token");
  return isEnd ? "Unexpected end of input" : message.replace(/ \(\d+:\d+\)$/, "");
}

function compile(source, name, origin) {
  let parsed;
  try {
    parsed = parse(source);
  } catch (error) {
    return withoutParser(error, source, name, origin);
  }
  const rewritten = rewrite(source, parsed);
  const { main, functions, offset } = rewritten.scripts();
  const isSame = main === source;
  stacks.keep(name, {
    source,
    text: isSame ? "" : main,
    toSource: isSame ? undefined : (at) => rewritten.edits.back(at - offset),
  });
  try {
    if (main.includes(names.GUARD)) names.guardName();
    return {
      ...rewritten,
      functions: functions && makeScript(functions, name),
      main: makeScript(main, name),
    };
  } catch (error) {
    // The parser lets pass what V8 does not.
    return withoutParser({ message: error.message, pos: 0 }, source, name, origin);
  }
}

// What the async function of a step is given. `ended` once an interrupt has ended the step: then
// its code goes on no more.
function makeStep(mayLack) {
  let got; // by the await that goes on
  const step = {
    ended: false,
    never: new node.Promise(() => {}),
    resumed(value) {
      got = value;
      return step.ended;
    },
    go: () => got,
    import: (specifier, wanted, attributes) =>
      modules.importNames(specifier, wanted, attributes, mayLack),
  };
  return step;
}

// {start(): starts the code; its value or promise, stop(): lets it go on no more, hasResult}.
// `origin` of a source that was compiled: {source, toSource(offset)}, for the places of errors.
exports.makeCell = function makeCell(source, name, { mayLack = false, reset = [], origin } = {}) {
  const compiled = compile(source, name, origin);
  const step = makeStep(mayLack);
  const start = () => {
    names.declare(compiled.names);
    for (const each of reset) node.global[each] = undefined;
    if (compiled.nextConstants) names.setConstants(compiled.nextConstants);
    if (compiled.functions) runScript(compiled.functions);
    const value = runScript(compiled.main);
    return compiled.isAsync ? call(() => value(step)) : value;
  };
  return {
    start,
    stop: () => (step.ended = true),
    hasResult: compiled.hasResult,
    isAsync: compiled.isAsync === true,
  };
};

exports.META = META;
