// Steps: code with state and callbacks, in contexts, past its deadline; and sandboxes by their id, listed,
// lengthened, killed.
import assert from 'node:assert/strict'
import { Sandbox } from '@e2b/code-interpreter'
import { inSandbox } from './sandbox.mjs'

await inSandbox('steps', async (box) => {
  assert.match(box.sandboxId, /^i[a-z0-9]{19}$/)
  assert.equal(await box.isRunning(), true)

  // State from step to step, results, environment.
  await box.runCode('x = 20 + 1')
  const value = await box.runCode('x * 2')
  assert.equal(value.text, '42')
  assert.equal(value.results[0].isMainResult, true)
  assert.equal(typeof value.executionCount, 'number')
  assert.equal((await box.runCode('import os; os.environ["GREETING"]')).text, 'hi')
  assert.equal((await box.runCode('os.environ["ONLY"]', { envs: { ONLY: "it's" } })).text, "it's")

  // Callbacks, in order.
  const seen = []
  const streamed = await box.runCode('import sys\nprint("one")\nprint("two", file=sys.stderr)\ndisplay(3)\n1/0', {
    onStdout: (message) => seen.push('out ' + message.line),
    onStderr: (message) => seen.push('err ' + message.line),
    onResult: (result) => seen.push('result ' + result.text),
    onError: (error) => seen.push('error ' + error.name),
  })
  assert.deepEqual(seen, ['out one\n', 'err two\n', 'result 3', 'error ZeroDivisionError'])
  assert.equal(streamed.error.value, 'division by zero')
  assert.deepEqual(streamed.logs.stdout, ['one\n'])

  const chart = await box.runCode('import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()')
  assert.ok(Buffer.from(chart.results[0].png, 'base64').subarray(1, 4).equals(Buffer.from('PNG')))

  // Contexts of their own.
  const context = await box.createCodeContext({ cwd: '/tmp' })
  assert.equal((await box.runCode('import os; os.getcwd()', { context })).text, '/tmp')
  assert.equal((await box.runCode('"x" in globals()', { context })).text, 'False')
  assert.ok((await box.listCodeContexts()).some((c) => c.id === context.id))
  await box.restartCodeContext(context)
  await box.removeCodeContext(context)

  // A step past its deadline fails, and the state survives.
  await assert.rejects(box.runCode('while True: pass', { timeoutMs: 500 }))
  assert.equal((await box.runCode('x')).text, '21')

  // By id, from another object; listed; lengthened; killed.
  const again = await Sandbox.connect(box.sandboxId)
  assert.equal((await again.runCode('x')).text, '21')
  await again.setTimeout(120_000)
  const info = await Sandbox.getInfo(box.sandboxId)
  assert.equal(info.metadata.peer, 'js')
  assert.ok(info.endAt - Date.now() > 100_000)
  const pages = Sandbox.list({ query: { metadata: { peer: 'js' } } })
  assert.ok((await pages.nextItems()).some((s) => s.sandboxId === box.sandboxId))
  assert.equal(await again.kill(), true)
  assert.equal(await Sandbox.kill(box.sandboxId), false)
  assert.equal(await box.isRunning(), false)
  await assert.rejects(box.runCode('1'))
  await assert.rejects(Sandbox.create({ apiKey: 'e2b_00' }))
}, { metadata: { peer: 'js' }, envs: { GREETING: 'hi' } }, Sandbox)
