// Life: pausing, going on by connect and by traffic, when the time is over; and snapshots.
import assert from 'node:assert/strict'
import { Sandbox } from '@e2b/code-interpreter'
import { eventually, inSandbox } from './sandbox.mjs'

const states = async (id, state) => {
  const found = []
  const paginator = Sandbox.list({ query: { state, metadata: { peer: 'js-life' } } })
  while (paginator.hasNext) found.push(...(await paginator.nextItems()))
  return found.filter((item) => item.sandboxId === id).map((item) => item.state)
}

await inSandbox('life', async (box) => {
  await box.runCode('x = 41')
  assert.equal(await box.pause(), true)
  assert.equal(await box.pause(), false)
  assert.equal(await box.isRunning(), false)
  assert.equal((await box.getInfo()).state, 'paused')
  assert.deepEqual(await states(box.sandboxId, ['paused']), ['paused'])
  assert.deepEqual(await states(box.sandboxId, ['running']), [])
  const again = await Sandbox.connect(box.sandboxId, { timeoutMs: 90_000 })
  assert.equal((await again.runCode('x + 1')).text, '42')
  assert.deepEqual(await states(box.sandboxId, ['running', 'paused']), ['running'])
  assert.ok((await again.getInfo()).endAt.getTime() - Date.now() > 60_000)

  // When the time is over, and on by the next request.
  const sleepy = await Sandbox.create({ timeoutMs: 1000, lifecycle: { onTimeout: 'pause', autoResume: true } })
  assert.deepEqual((await sleepy.getInfo()).lifecycle, { onTimeout: 'pause', autoResume: true })
  await sleepy.files.write('kept', 'here')
  await eventually('paused', async () => (await sleepy.getInfo()).state === 'paused')
  assert.equal(await sleepy.files.read('kept'), 'here')
  assert.equal((await sleepy.getInfo()).state, 'running')
  assert.equal(await sleepy.kill(), true)

  // Snapshots.
  await box.files.write('/home/user/notes', 'first')
  const snapshot = await box.createSnapshot()
  await box.files.write('/home/user/notes', 'second')
  const copy = await Sandbox.create(snapshot.snapshotId, { timeoutMs: 60_000 })
  assert.equal(await copy.files.read('/home/user/notes'), 'first')
  assert.equal((await copy.runCode('1 + 1')).text, '2')
  await copy.kill()
  const named = await Sandbox.createSnapshot(box.sandboxId, { name: 'js-life' })
  assert.deepEqual(named.names, [named.snapshotId])
  const listed = await Sandbox.listSnapshots({ sandboxId: box.sandboxId, limit: 1 })
  const ids = []
  while (listed.hasNext) ids.push(...(await listed.nextItems()).map((item) => item.snapshotId))
  assert.deepEqual(ids, [named.snapshotId, snapshot.snapshotId])
  for (const id of ids) assert.equal(await Sandbox.deleteSnapshot(id), true)
  assert.equal(await Sandbox.deleteSnapshot(snapshot.snapshotId), false)
}, { metadata: { peer: 'js-life' } }, Sandbox)
