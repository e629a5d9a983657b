// What a sandbox takes of its host, as the SDK reads it.
import assert from 'node:assert/strict'
import { inSandbox } from './sandbox.mjs'

await inSandbox('metrics', async (box) => {
  const before = (await box.getMetrics()).at(-1)
  assert.ok(before.memTotal > before.memUsed && before.memUsed > 0)
  assert.ok(before.cpuCount >= 1 && before.cpuUsedPct >= 0 && before.cpuUsedPct <= 100)
  assert.ok(Math.abs(Date.now() - before.timestamp.getTime()) < 60000)
  await box.files.write('big', 'x'.repeat(20 << 20))
  const after = (await box.getMetrics({ start: new Date(Date.now() - 60000), end: new Date(Date.now() + 60000) })).at(-1)
  assert.ok(after.diskUsed > before.diskUsed + (19 << 20))
  assert.equal(after.diskTotal, before.diskTotal)
})
