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
const { call } = load("enter");
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

// Runs the function so that an interrupt ends it. Calls one of the others with how that went.
function guarded(step, work, go) {
  let result;
  try {
    result = timers.inCode(() => interrupts.run(work, INTERRUPTED));
  } catch (error) {
    finish(step, () => errorEvent(error));
    return;
  }
  if (result === INTERRUPTED) interrupted();
  else go(result);
}

// Calls `go` with the value, or with what the promise comes to.
function settled(step, value, go) {
  if (!isPromise(value)) go(value);
  else
    node.reflectThen(
      value,
      (each) => go(each),
      (error) => finish(step, () => errorEvent(error)),
    );
}

function step({ code, env }) {
  count++;
  const step = { name: stacks.cellName(count), leave: () => {}, hasTold: false };
  current = step;
  timers.beginStep();
  interrupts.begin();
  channel.beginStep({ type: "number_of_executions", execution_count: count });
  try {
    step.leave = environ.enter(env ?? {});
  } catch (error) {
    finish(step, () => errorEvent(error));
    return;
  }
  guarded(
    step,
    () => {
      step.cell = makeCell(code, step.name);
      return step.cell.start();
    },
    (value) => settled(step, value, (result) => show(step, result)),
  );
}

// One turn of the loop more, so that what the code has left to do at once belongs to the step:
// promises that are settled, and errors that nobody took.
function show(step, value) {
  if (current !== step) return;
  setImmediate(() => {
    if (current !== step) return;
    if (!step.cell.hasResult || value === undefined) {
      finish(step);
      return;
    }
    guarded(
      step,
      () => call(() => bundleOf(value)),
      (bundle) =>
        settled(step, bundle, (ready) =>
          guarded(
            step,
            () => call(() => resultEvent(ready, true)),
            (event) => finish(step, () => event),
          ),
        ),
    );
  });
}

// Ends the step, with the event that the function makes, if there is one.
function finish(step, makeEvent) {
  if (current !== step) return;
  const event = makeEvent && made(makeEvent);
  if (event === INTERRUPTED) interrupted();
  else end(event);
}

// To show an error is to run code of the step, too (its getters).
function made(makeEvent) {
  try {
    return interrupts.run(makeEvent, INTERRUPTED);
  } catch (error) {
    return { type: "error", name: "Error", value: String(error), traceback: "" };
  }
}

function end(event) {
  const { leave } = current;
  interrupts.end();
  if (event) channel.sendEvent(event);
  current = null;
  leave();
  channel.endStep({ type: "end" });
}

// The code of the step goes on no more, as far as that can be had: not after its awaits, nor by its
// timers.
function interrupted() {
  if (current === null) return;
  current.cell?.stop();
  timers.endAll();
  streams.renew();
  end({ type: "error", name: "KeyboardInterrupt", value: "", traceback: "" });
}

// What would be the end of a program: an error that nobody takes, in a callback or of a promise.
// The runner lives on. The step that runs has an error, the first time; after that, and between
// steps (where it goes nowhere), it is output.
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
  const { removeAllListeners } = process;
  const take = (name) => {
    // Listeners of the code take the place of ours, as they do that of Node's own.
    const listener = (thrown) => {
      if (process.listenerCount(name) === 1) unhandled(thrown);
    };
    process.on(name, listener);
    return () => {
      if (!process.listeners(name).includes(listener)) process.on(name, listener);
    };
  };
  const takeAgain = ["uncaughtException", "unhandledRejection"].map(take);
  process.removeAllListeners = function (...names) {
    apply(removeAllListeners, this, names);
    for (const take of takeAgain) take();
    return this;
  };
}

function takeExit() {
  process.reallyExit = (code) => {
    if (channel.isInStep()) channel.endStep({ type: "end", exit: true });
    apply(reallyExit, process, [code]);
  };
}

// Node's own listener puts a handler of SIGINT in place when code listens for it; ours must stay.
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
    value: makeDisplay((event) => channel.sendEvent(event)),
    writable: true,
    configurable: true,
    enumerable: false,
  });
  inspect("", {});
  const leave = () => apply(reallyExit, process, [0]);
  channel.open(
    descriptor,
    (message) => {
      if (message.type === "run" && current === null) step(message);
    },
    leave,
  );
  interrupts.watch(onInterrupt);
  prepareLanguage(isTypeScript);
  channel.send({ type: "ready" });
};
