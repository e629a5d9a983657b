// The life of a runner: one step after the other, until the agent goes or the code exits.

"use strict";

const { process, global, then, isPromise, setImmediate, defineProperty, inspect } = node;
const channel = load("channel");
const streams = load("streams");
const environ = load("environ");
const timers = load("timers");
const stacks = load("stacks");
const stdin = load("stdin");
const modules = load("modules");
const { META } = load("rewrite");
const { errorEvent } = load("errors");
const { bundleOf, makeDisplay, resultEvent } = load("results");
const parser = load("parse");

const interrupts = node.host;
const INTERRUPTED = Symbol("interrupted");
const { apply } = Reflect;
const { reallyExit } = process;

node.reflectThen = (promise, ...handlers) => apply(then, promise, handlers);

let makeCell;
let count = 0;
let current = null; // the step that runs: {cell, leave, hasTold}

const tellError = (thrown) => channel.sendEvent(errorEvent(thrown));

// Runs the function so that an interrupt ends it. Calls one of the others with how that went.
function guarded(step, work, go) {
  let result;
  try {
    result = interrupts.run(work, INTERRUPTED);
  } catch (error) {
    finish(step, () => tellError(error));
    return;
  }
  if (result === INTERRUPTED) interrupted();
  else go(result);
}

// Calls `go` with the value, or with what the promise comes to.
function settled(step, value, go) {
  if (!isPromise(value)) go(value);
  else node.reflectThen(value, (each) => go(each), (error) => finish(step, () => tellError(error)));
}

function step({ code, env }) {
  streams.repair();
  count++;
  const step = { name: stacks.cellName(count), leave: () => {}, hasTold: false };
  current = step;
  timers.beginStep();
  interrupts.begin();
  channel.beginStep({ type: "number_of_executions", execution_count: count });
  try {
    step.leave = environ.enter(env ?? {});
  } catch (error) {
    finish(step, () => tellError(error));
    return;
  }
  guarded(step, () => {
    step.cell = makeCell(code, step.name);
    return step.cell.start();
  }, (value) => settled(step, value, (result) => show(step, result)));
}

// One turn of the loop more, so that what the code has left to do at once belongs to the step: promises that
// are settled, and errors that nobody took.
function show(step, value) {
  if (current !== step) return;
  setImmediate(() => {
    if (current !== step) return;
    if (!step.cell.hasResult || value === undefined) {
      finish(step);
      return;
    }
    guarded(step, () => bundleOf(value), (bundle) => settled(step, bundle, (ready) =>
      guarded(step, () => resultEvent(ready, true), (event) => finish(step, () => channel.sendEvent(event)))));
  });
}

function finish(step, tell) {
  if (current !== step) return;
  if (tell) guardedTell(tell);
  if (current !== step) return;
  interrupts.end();
  current = null;
  step.leave();
  channel.endStep({ type: "end" });
}

// To show an error is to run code of the step, too (its getters).
function guardedTell(tell) {
  let result;
  try {
    result = interrupts.run(tell, INTERRUPTED);
  } catch (error) {
    channel.sendEvent({ type: "error", name: "Error", value: String(error), traceback: "" });
  }
  if (result === INTERRUPTED) interrupted();
}

// The code of the step goes on no more, as far as that can be had: not from its awaits, nor from timers.
function interrupted() {
  const step = current;
  if (step === null) return;
  step.cell?.stop();
  timers.endAll();
  interrupts.end();
  channel.sendEvent({ type: "error", name: "KeyboardInterrupt", value: "", traceback: "" });
  current = null;
  step.leave();
  channel.endStep({ type: "end" });
}

// What would be the end of a program: an error that nobody takes, in a callback or of a promise.
// The runner lives on. The step that runs has an error, the first time; after that, and between steps
// (where it goes nowhere), it is output.
function unhandled(thrown) {
  const event = errorEvent(thrown);
  if (current !== null && !current.hasTold) {
    current.hasTold = true;
    channel.sendEvent(event);
  } else {
    streams.writeError(`Uncaught ${event.traceback}\n`);
  }
}

function takeUnhandled() {
  const on = (name, listener) => {
    // Listeners of the code take the place of ours, as they do that of Node's own.
    const ours = (thrown) => {
      if (process.listenerCount(name) === 1) listener(thrown);
    };
    process.on(name, ours);
    process.on("removeListener", () => {
      if (!process.listeners(name).includes(ours)) process.on(name, ours);
    });
  };
  on("uncaughtException", unhandled);
  on("unhandledRejection", unhandled);
}

function takeExit() {
  process.reallyExit = (code) => {
    if (channel.isInStep()) channel.endStep({ type: "end", exit: true });
    apply(reallyExit, process, [code]);
  };
}

// Node's own listener puts the handler of SIGINT in place when code listens for the signal; ours must stay.
function keepSignal() {
  for (const name of ["newListener", "removeListener"]) {
    for (const listener of process.listeners(name)) {
      if (!/^(start|stop)ListeningIfSignal$/.test(listener.name)) continue;
      process.removeListener(name, listener);
      process.on(name, (type, ...rest) => {
        if (type !== "SIGINT") apply(listener, process, [type, ...rest]);
      });
    }
  }
}

function onInterrupt() {
  if (process.listenerCount("SIGINT") > 0) process.emit("SIGINT", "SIGINT");
  interrupted();
}

// The compiler takes longer to load than all the rest, and is not needed before there is code.
function prepareLanguage(isTypeScript) {
  const language = load(isTypeScript ? "typescript" : "cell");
  makeCell = language.makeCell;
  parser.prepare();
  if (isTypeScript) {
    language.install();
    setImmediate(language.prepare);
  }
}

exports.start = function start(descriptor, isTypeScript) {
  streams.install();
  stdin.install();
  timers.install((callback) => {
    const result = interrupts.run(callback, INTERRUPTED);
    if (result === INTERRUPTED) interrupted();
    return result;
  });
  stacks.install();
  modules.install(META);
  keepSignal();
  takeUnhandled();
  takeExit();
  defineProperty(global, "display", {
    value: makeDisplay((event) => channel.sendEvent(event)), writable: true, configurable: true, enumerable: false,
  });
  inspect("", {});
  const leave = () => apply(reallyExit, process, [0]);
  channel.open(descriptor, (message) => {
    if (message.type === "run" && current === null) step(message);
  }, leave);
  interrupts.watch(onInterrupt);
  prepareLanguage(isTypeScript);
  channel.send({ type: "ready" });
};
