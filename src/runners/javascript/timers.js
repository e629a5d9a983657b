// Callbacks of the code that Node's loop calls.
//
// An interrupt ends what the step has set going: its timers do not fire any more, and so what waits
// for them does not go on, either. Timers of earlier steps live on. And one that runs for ever is
// ended inside of Node's own functions around it, which do not stand being ended themselves.

"use strict";

const { timers, timersPromises, global, process, promisify, defineProperty, Promise } = node;

const { clearTimeout, clearInterval, clearImmediate } = timers;

let ofStep = { ended: false, timers: new Map() }; // timer: what ends it
let depth = 0; // of calls of the code

let guard; // calls a function so that an interrupt ends it

const { apply } = Reflect;

// Calls a function of the code.
const guarded = (callback, self, values) =>
  exports.inCode(() => guard(() => apply(callback, self, values)));

exports.inCode = function inCode(work) {
  depth++;
  try {
    return work();
  } finally {
    depth--;
  }
};

exports.beginStep = () => (ofStep = { ended: false, timers: new Map() });

exports.endAll = function endAll() {
  ofStep.ended = true;
  for (const [timer, clear] of ofStep.timers) clear(timer);
  exports.beginStep();
};

function wrap(name, original, clear, isOnce) {
  const tracked = {
    // A method, so that it is no constructor, like the original.
    [name](callback, ...rest) {
      const step = ofStep;
      if (typeof callback !== "function") return original(callback, ...rest);
      const timer = original(
        function (...values) {
          if (isOnce) step.timers.delete(timer);
          return guarded(callback, this, values);
        },
        ...rest,
      );
      step.timers.set(timer, clear);
      return timer;
    },
  }[name];
  defineProperty(tracked, "length", { value: original.length, configurable: true });
  timers[name] = tracked;
  defineProperty(global, name, {
    value: tracked,
    writable: true,
    configurable: true,
    enumerable: true,
  });
  return tracked;
}

// What timers/promises has: they are not made by the functions above.
function wrapPromise(name, start, valueAt) {
  const original = timersPromises[name];
  const tracked = {
    [name](...parameters) {
      const options = parameters[valueAt + 1];
      if (
        options !== undefined &&
        (options === null || typeof options !== "object" || options.signal)
      ) {
        return original(...parameters); // it checks them, or ends by the signal
      }
      return new Promise((resolve) => {
        const timer = start(resolve, ...parameters);
        if (options?.ref === false) timer.unref();
      });
    },
  }[name];
  timersPromises[name] = tracked;
  return tracked;
}

// What the code queues goes with the step as well: it may queue itself, for ever.
function wrapQueue(holder, name) {
  const original = holder[name];
  const guarding = {
    [name](callback, ...rest) {
      if (typeof callback !== "function") return apply(original, this, [callback, ...rest]);
      const step = depth > 0 ? ofStep : undefined; // Node queues things, too
      return apply(original, this, [
        function (...values) {
          return step?.ended ? undefined : guarded(callback, this, values);
        },
        ...rest,
      ]);
    },
  }[name];
  defineProperty(holder, name, {
    value: guarding,
    writable: true,
    configurable: true,
    enumerable: true,
  });
}

exports.install = function install(run) {
  guard = run;
  wrapQueue(process, "nextTick");
  wrapQueue(global, "queueMicrotask");
  const setTimeout = wrap("setTimeout", timers.setTimeout, clearTimeout, true);
  const setImmediate = wrap("setImmediate", timers.setImmediate, clearImmediate, true);
  wrap("setInterval", timers.setInterval, clearInterval, false);
  const later = wrapPromise(
    "setTimeout",
    (resolve, delay, value) => setTimeout(resolve, delay, value),
    1,
  );
  const soon = wrapPromise("setImmediate", (resolve, value) => setImmediate(resolve, value), 0);
  defineProperty(setTimeout, promisify.custom, { enumerable: true, get: () => later });
  defineProperty(setImmediate, promisify.custom, { enumerable: true, get: () => soon });
};
