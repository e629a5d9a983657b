// What the sessions share: a sandbox for the length of a function, and waiting with an end.
import assert from 'node:assert/strict'
import { Sandbox } from 'e2b'

/**
 * Runs fn(box) in a fresh sandbox, kills it whatever happens, and says that all went well. Then the program ends:
 * after a call that failed, timers of the SDK's would keep it for a minute.
 */
export async function inSandbox(topic, fn, options = {}, Kind = Sandbox) {
  const box = await Kind.create({ timeoutMs: 60_000, ...options })
  try {
    await fn(box)
  } finally {
    await box.kill()
  }
  console.log(`${topic}: the official SDK is content`)
  process.exit()
}

/** The error that a call fails with. */
export async function failure(promise, kind) {
  const error = await promise.then(
    (value) => assert.fail(`no error, but ${JSON.stringify(value)}`),
    (reason) => reason,
  )
  assert.ok(error instanceof kind, `not a ${kind.name}: ${error?.stack ?? error}`)
  return error
}

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** Waits until fn() gives something, at most five seconds. what: for the message; text, or a function that makes it. */
export async function eventually(what, fn) {
  for (const end = Date.now() + 5000; ; await sleep(20)) {
    const value = await fn()
    if (value) return value
    assert.ok(Date.now() < end, `not within five seconds: ${typeof what === 'function' ? what() : what}`)
  }
}
