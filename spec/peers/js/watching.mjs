// Watching directories: what changes, below too, with the entries.
import assert from 'node:assert/strict'
import { FilesystemEventType, NotFoundError, SandboxError } from 'e2b'
import { eventually, failure, inSandbox, sleep } from './sandbox.mjs'

await inSandbox('watching', async (box) => {
  const { files, commands } = box

  /** Watches; `has(type, name)` waits for such an event and returns it. */
  async function watch(path, options) {
    const events = []
    const handle = await files.watchDir(path, (event) => events.push(event), options)
    const has = (type, name) =>
      eventually(
        () => `${type} ${name} in ${JSON.stringify(events)}`,
        () => events.find((event) => event.type === type && event.name === name),
      )
    return { events, handle, has }
  }

  await files.makeDir('watched/below')
  await files.write('watched/old', 'x')
  const flat = await watch('watched')
  await files.write('watched/new', 'content')
  await flat.has(FilesystemEventType.CREATE, 'new')
  await flat.has(FilesystemEventType.WRITE, 'new')
  await commands.run('chmod 600 watched/old')
  await flat.has(FilesystemEventType.CHMOD, 'old')
  await files.rename('watched/old', 'watched/renamed')
  await flat.has(FilesystemEventType.RENAME, 'old')
  await flat.has(FilesystemEventType.CREATE, 'renamed')
  await files.remove('watched/renamed')
  await flat.has(FilesystemEventType.REMOVE, 'renamed')
  const odd = 'two words\n"quoted" 🌍'
  await files.write(`watched/${odd}`, '')
  await flat.has(FilesystemEventType.CREATE, odd)
  await files.write('watched/below/unseen', 'x')
  await files.write('watched/marker', '')
  await flat.has(FilesystemEventType.CREATE, 'marker')
  assert.ok(!flat.events.some(({ name }) => name.includes('unseen')))
  assert.ok(flat.events.every(({ entry }) => entry === undefined))

  // Recursive, into directories that come later, with entries.
  let exits = 0
  const deep = await watch('watched', { recursive: true, includeEntry: true, timeoutMs: 0, onExit: () => exits++ })
  await files.write('watched/below/seen', 'four')
  const event = await deep.has(FilesystemEventType.WRITE, 'below/seen')
  assert.equal(event.entry.path, '/home/user/watched/below/seen')
  assert.equal(event.entry.type, 'file')
  assert.equal(event.entry.owner, 'user')
  await files.makeDir('watched/later/and/deeper')
  await deep.has(FilesystemEventType.CREATE, 'later')
  await sleep(100)
  await files.write('watched/later/and/deeper/file', 'x')
  await deep.has(FilesystemEventType.CREATE, 'later/and/deeper/file')
  await files.remove('watched/below')
  const removed = await deep.has(FilesystemEventType.REMOVE, 'below/seen')
  assert.equal(removed.entry, undefined)

  // Stopped, it says no more.
  await deep.handle.stop()
  await eventually('its end', () => exits === 1)
  const count = deep.events.length
  await files.write('watched/after', 'x')
  await flat.has(FilesystemEventType.CREATE, 'after')
  assert.equal(deep.events.length, count)
  await flat.handle.stop()

  // A watch has its own deadline, which ends it with an error; what cannot be watched fails at once.
  let why
  await files.watchDir('watched', () => {}, { timeoutMs: 300, onExit: (error) => (why = error) })
  await eventually('the deadline', () => why instanceof Error)
  await failure(files.watchDir('not/there', () => {}), NotFoundError)
  await failure(files.watchDir('watched/new', () => {}), SandboxError)
})
