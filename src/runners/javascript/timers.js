// Callbacks of the code that Node's loop calls.
//
// An interrupt ends what the step has set going: its timers do not fire any more, and so what waits
// for them does not go on, either. Timers of earlier steps live on. And one that runs for ever is
// ended inside of Node's own functions around it, which do not stand being ended themselves.

"use strict";

const { timers, timersPromises, global, process, promisify, defineProperty, Promise } = node;

const { clearTimeout, clearInterval, clearImmediate } = timers;

let ofStep = new Map(); // timer: what ends it

let guard; // calls a function so that an interrupt ends it

const { apply } = Reflect;

const guarded = (callback, self, values) => guard(() => apply(callback, self, values));

exports.beginStep = () => (ofStep = new Map());

exports.endAll = function endAll() {
  for (const [timer, clear] of ofStep) clear(timer);
  ofStep = new Map();
};

function wrap(name, original, clear, isOnce) {
  const tracked = {
    // A method, so that it is no constructor, like the original.
    [name](callback, ...rest) {
      const timersOfStep = ofStep;
      if (typeof callback !== "function") return original(callback, ...rest);
      const timer = original(
        function (...values) {
          if (isOnce) timersOfStep.delete(timer);
          return guarded(callback, this, values);
        },
        ...rest);
      timersOfStep.set(timer, clear);
      return timer;
    },
  }[name];
  defineProperty(tracked, "length", { value: original.length, configurable: true });
  timers[name] = tracked;
  defineProperty(global, name, { value: tracked, writable: true, configurable: true, enumerable: true });
  return tracked;
}

// What timers/promises has: they are not made by the functions above.
function wrapPromise(name, start, valueAt) {
  const original = timersPromises[name];
  const tracked = {
    [name](...parameters) {
      const options = parameters[valueAt + 1];
      if (options !== undefined && (options === null || typeof options !== "object" || options.signal)) {
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

function wrapQueue(holder, name) {
  const original = holder[name];
  const guarding = {
    [name](callback, ...rest) {
      if (typeof callback !== "function") return original.call(this, callback, ...rest);
      return original.call(this, function (...values) {
        return guarded(callback, this, values);
      }, ...rest);
    },
  }[name];
  defineProperty(holder, name, { value: guarding, writable: true, configurable: true, enumerable: true });
}

exports.install = function install(run) {
  guard = run;
  wrapQueue(process, "nextTick");
  wrapQueue(global, "queueMicrotask");
  const setTimeout = wrap("setTimeout", timers.setTimeout, clearTimeout, true);
  const setImmediate = wrap("setImmediate", timers.setImmediate, clearImmediate, true);
  wrap("setInterval", timers.setInterval, clearInterval, false);
  const later = wrapPromise("setTimeout", (resolve, delay, value) => setTimeout(resolve, delay, value), 1);
  const soon = wrapPromise("setImmediate", (resolve, value) => setImmediate(resolve, value), 0);
  defineProperty(setTimeout, promisify.custom, { enumerable: true, get: () => later });
  defineProperty(setImmediate, promisify.custom, { enumerable: true, get: () => soon });
};
