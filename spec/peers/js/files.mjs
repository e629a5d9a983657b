// Files: every way to write and read them, what is said about them, and what goes wrong.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import {
  AuthenticationError,
  FileNotFoundError,
  FileType,
  InvalidArgumentError,
  NotEnoughSpaceError,
  NotFoundError,
} from 'e2b'
import { failure, inSandbox } from './sandbox.mjs'

const everyByte = Uint8Array.from({ length: 256 }, (_, i) => i)
const text = 'grüße 🌍\r\n\tend'
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex')

async function gathered(stream) {
  const pieces = []
  for await (const piece of stream) pieces.push(piece)
  return Buffer.concat(pieces)
}

await inSandbox('files', async (box) => {
  const { files, commands } = box

  // Text, bytes, blobs, streams: in any way, out in every format.
  const written = await files.write('text', text)
  assert.deepEqual(written, { name: 'text', type: 'file', path: '/home/user/text', metadata: undefined })
  assert.equal(await files.read('text'), text)
  assert.equal(await files.read('/home/user/text'), text)
  await files.write('a/new/parent/bytes', everyByte.buffer)
  for (const options of [{}, { useOctetStream: true }, { gzip: true }]) {
    for (const [name, data] of [
      ['buffer', everyByte.buffer],
      ['blob', new Blob([everyByte])],
      ['stream', new Blob([everyByte]).stream()],
    ]) {
      const entry = await files.write(`a/${name}`, data, options)
      assert.equal(entry.path, `/home/user/a/${name}`)
      for (const gzip of [false, true]) {
        assert.deepEqual(await files.read(`a/${name}`, { format: 'bytes', gzip }), everyByte)
        const blob = await files.read(`a/${name}`, { format: 'blob', gzip })
        assert.deepEqual(new Uint8Array(await blob.arrayBuffer()), everyByte)
        const stream = await files.read(`a/${name}`, { format: 'stream', gzip })
        assert.deepEqual(await gathered(stream), Buffer.from(everyByte))
      }
    }
  }
  assert.equal((await commands.run('stat -c "%U %a" a/blob a/new/parent')).stdout, 'user 644\nuser 755\n')

  // Shorter over longer, and nothing at all.
  await files.write('text', 'short')
  assert.equal(await files.read('text'), 'short')
  for (const options of [{}, { useOctetStream: true }, { gzip: true }]) {
    await files.write('empty', '', options)
    assert.equal(await files.read('empty'), '')
    assert.equal((await files.read('empty', { format: 'bytes' })).length, 0)
    assert.equal((await gathered(await files.read('empty', { format: 'stream' }))).length, 0)
    assert.equal((await files.getInfo('empty')).size, 0)
  }

  // Several at once, in one request or in one each.
  for (const useOctetStream of [false, true]) {
    const many = await files.write(
      [...Array(20).keys()].map((i) => ({ path: `many/${useOctetStream}/${i % 4}/f${i}`, data: `${i}` })),
      { useOctetStream },
    )
    assert.deepEqual(many.map(({ name }) => name), [...Array(20).keys()].map((i) => `f${i}`))
    for (const { path, name } of many) assert.equal(`f${await files.read(path)}`, name)
  }
  assert.deepEqual(await files.write([]), [])

  // Names of all kinds.
  const names = [
    'two words', "it's", '"quoted"', 'new\nline', 'tab\t', 'grüße 🌍', '-rf',
    '%41+&?#', 'back\\slash', '*', 'a;b',
  ]
  for (const name of names) {
    for (const options of [{}, { useOctetStream: true }]) {
      const path = `names/${name}/${name}`
      assert.equal((await files.write(path, name, options)).path, `/home/user/${path}`)
      assert.equal(await files.read(path), name)
      assert.equal((await files.getInfo(path)).name, name)
      assert.deepEqual((await files.list(`names/${name}`)).map((entry) => entry.name), [name])
      await files.remove(`names/${name}`)
    }
    // Together they travel as the names of a form's files, in which no quote and no newline can be.
    const plain = name.replace(/["\n]/g, '')
    await files.write([{ path: `together/${plain}`, data: plain }, { path: 'together/other', data: '2' }])
    assert.equal(await files.read(`together/${plain}`), plain)
  }
  assert.deepEqual(await files.list('names'), [])

  // 5 MB, whole and in pieces.
  const big = randomBytes(5_000_000)
  await files.write('big', new Blob([big]))
  assert.equal((await commands.run('sha256sum < big')).stdout, `${sha256(big)}  -\n`)
  const source = new ReadableStream({
    start(controller) {
      for (let at = 0; at < big.length; at += 1_000_000) controller.enqueue(big.subarray(at, at + 1_000_000))
      controller.close()
    },
  })
  await files.write('streamed', source)
  assert.equal((await commands.run('cmp big streamed && echo same')).stdout, 'same\n')
  assert.equal(sha256(await gathered(await files.read('big', { format: 'stream' }))), sha256(big))
  assert.equal(sha256(await files.read('big', { format: 'bytes', gzip: true })), sha256(big))

  // What is said about entries.
  const metadata = { owner: 'me', 'x-note': 'a = "b"; c' }
  assert.deepEqual((await files.write('noted', 'x', { metadata })).metadata, metadata)
  assert.deepEqual((await files.getInfo('noted')).metadata, metadata)
  await files.write('noted', 'y', { metadata: { other: '1' }, useOctetStream: true })
  assert.deepEqual((await files.getInfo('noted')).metadata, { other: '1' })
  await files.write('noted', 'z')
  assert.equal((await files.getInfo('noted')).metadata, undefined)
  await commands.run('chmod 640 noted; ln -s noted link; ln -s nowhere dangling; mkfifo pipe')
  const info = await files.getInfo('noted')
  assert.equal(info.type, FileType.FILE)
  assert.equal(info.size, 1)
  assert.equal(info.mode, 0o640)
  assert.equal(info.permissions, '-rw-r-----')
  assert.equal(info.owner, 'user')
  assert.equal(info.group, 'user')
  assert.equal(info.symlinkTarget, undefined)
  assert.ok(Math.abs(Date.now() - info.modifiedTime) < 60_000)
  const link = await files.getInfo('link')
  assert.equal(link.symlinkTarget, '/home/user/noted')
  assert.equal(link.type, FileType.FILE)
  assert.equal(link.name, 'link')
  const directory = await files.getInfo('a')
  assert.equal(directory.type, FileType.DIR)
  assert.equal(directory.permissions, 'drwxr-xr-x')

  // Directories: made once, listed to a depth, renamed and removed with all below.
  assert.equal(await files.makeDir('d/e/f'), true)
  assert.equal(await files.makeDir('d/e/f'), false)
  await files.write('d/e/f/deep', 'x')
  await files.write('d/top', 'x')
  async function paths(depth) {
    return (await files.list('d', { depth })).map(({ path }) => path.slice('/home/user/d/'.length))
  }
  assert.deepEqual(await paths(), ['e', 'top'])
  assert.deepEqual(await paths(2), ['e', 'e/f', 'top'])
  assert.deepEqual(await paths(9), ['e', 'e/f', 'e/f/deep', 'top'])
  const renamed = await files.rename('d/e', 'moved')
  assert.equal(renamed.path, '/home/user/moved')
  assert.equal(renamed.type, FileType.DIR)
  assert.equal(await files.read('moved/f/deep'), 'x')
  assert.equal(await files.exists('moved'), true)
  await files.remove('moved')
  assert.equal(await files.exists('moved'), false)
  assert.equal(await files.exists('noted/not/a/directory'), false)
  await files.rename('d/top', 'text')
  assert.equal(await files.read('text'), 'x')

  // What goes wrong, by kind.
  await failure(files.read('not there'), FileNotFoundError)
  await failure(files.read('not there', { format: 'stream' }), FileNotFoundError)
  await failure(files.getInfo('not there'), NotFoundError)
  await failure(files.list('not there'), FileNotFoundError)
  await failure(files.rename('not there', 'x'), FileNotFoundError)
  await failure(files.read('d'), InvalidArgumentError)
  await failure(files.write('d', 'x'), InvalidArgumentError)
  await failure(files.list('text'), InvalidArgumentError)
  await failure(files.makeDir('text'), InvalidArgumentError)
  await failure(files.list('d', { depth: 0 }), InvalidArgumentError)
  await failure(files.write('x', 'x', { metadata: { 'not a token': 'x' } }), InvalidArgumentError)
  await failure(files.read('text', { user: 'nobody-like-this' }), AuthenticationError)
  await failure(files.getInfo('text', { user: 'nobody-like-this' }), AuthenticationError)
  assert.equal(await files.read('text', { user: 'user' }), 'x')
  await commands.run('fallocate -l $(( $(df --output=avail -B1 /tmp | tail -1) - 1000000 )) /tmp/filler')
  await failure(files.write('/tmp/more', new Blob([big])), NotEnoughSpaceError)
  await failure(files.write('/tmp/more', new Blob([big]).stream()), NotEnoughSpaceError)
  await commands.run('rm /tmp/filler')

  // Signed addresses, for those who have neither key nor token. The one that the SDK makes names the engine alone,
  // since E2B_SANDBOX_URL does; so the requests say which sandbox they mean, as the SDK's own do.
  const headers = { 'E2b-Sandbox-Id': box.sandboxId, 'E2b-Sandbox-Port': '49983' }
  for (const options of [{}, { useSignatureExpiration: 60 }, { user: 'user' }]) {
    const form = new FormData()
    form.append('file', new Blob([everyByte]), 'ignored')
    const upload = await fetch(await box.uploadUrl('by url/ö', options), { method: 'POST', body: form, headers })
    assert.equal(upload.status, 200, await upload.clone().text())
    assert.equal((await upload.json())[0].path, '/home/user/by url/ö')
    const download = await fetch(await box.downloadUrl('by url/ö', options), { headers })
    assert.equal(download.status, 200)
    assert.deepEqual(new Uint8Array(await download.arrayBuffer()), everyByte)
  }
  const status = async (url, options) => (await fetch(url, { headers, ...options })).status
  const url = await box.downloadUrl('text')
  assert.equal(await status(url.replace(/path=text/, 'path=noted')), 401)
  assert.equal(await status(url.replace(/signature=v1_./, 'signature=v1_!')), 401)
  assert.equal(await status(await box.downloadUrl('text', { useSignatureExpiration: -5 })), 401)
  assert.equal(await status(await box.uploadUrl('text')), 401)
  assert.equal(await status(url.replace(/\?.*/, '?path=text')), 401)
})
