// The official JavaScript SDK, timed: says its version, then answers each line "COUNT REQUEST [BYTES]" with the
// seconds that one took. Requests: command, upload, download. It works in the sandbox that SANDBOX_ID names.
import { createInterface } from 'node:readline'
import { readFileSync } from 'node:fs'
import { Sandbox } from 'e2b'

const PIECE = 1_000_000
const LARGE = 16_000_000 // from here on in pieces, so that memory is not what is measured

const box = await Sandbox.connect(process.env.SANDBOX_ID)
const path = 'transferred'

function pieces(bytes) {
  const piece = Buffer.alloc(PIECE, 'x')
  return new ReadableStream({
    pull(controller) {
      if (bytes <= 0) return controller.close()
      controller.enqueue(bytes < PIECE ? piece.subarray(0, bytes) : piece)
      bytes -= PIECE
    },
  })
}

const requests = {
  async command() {
    await box.commands.run('true')
  },
  async upload(bytes) {
    await box.files.write(path, bytes < LARGE ? 'x'.repeat(bytes) : pieces(bytes), { requestTimeoutMs: 0 })
  },
  async download(bytes) {
    let count = 0
    if (bytes < LARGE) count = (await box.files.read(path, { format: 'bytes' })).length
    else for await (const piece of await box.files.read(path, { format: 'stream' })) count += piece.length
    if (count !== bytes) throw new Error(`${count} bytes instead of ${bytes}`)
  },
}

console.log(JSON.parse(readFileSync('node_modules/e2b/package.json')).version)
for await (const line of createInterface({ input: process.stdin })) {
  const [count, request, bytes] = line.split(' ')
  try {
    const start = performance.now()
    for (let i = 0; i < Number(count); i++) await requests[request](Number(bytes))
    console.log((performance.now() - start) / 1000 / Number(count))
  } catch (error) {
    console.log(String(error).replaceAll('\n', ' '))
  }
}
process.exit()
