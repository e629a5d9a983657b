// Servers in the sandbox, reached by the host name that the SDK gives for their port: HTTP and WebSockets.
import assert from 'node:assert/strict'
import { Agent, fetch, FormData, WebSocket } from 'undici'
import { eventually, inSandbox } from './sandbox.mjs'

// A server that answers GET with the path and the length of the body, and echoes one message over a WebSocket.
const server = `
import base64, hashlib, http.server
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(b"%d bytes to %s" % (len(body), self.headers["Host"].encode()))
    def answer(self, text):
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
    def do_GET(self):
        if self.headers.get("Upgrade") != "websocket":
            return self.answer(self.path.encode())
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
        self.end_headers()
        head = self.rfile.read(2)
        mask = self.rfile.read(4)
        body = bytes(b ^ mask[i % 4] for i, b in enumerate(self.rfile.read(head[1] & 127)))
        self.wfile.write(bytes([head[0], len(body)]) + body)
        self.wfile.write(bytes([0x88, 2, 3, 232]))
        self.close_connection = True
    def log_message(self, *args):
        pass
http.server.ThreadingHTTPServer(("127.0.0.1", 8000), Handler).serve_forever()
`

await inSandbox('ports', async (box) => {
  // The domain is not in any name service here: all its names are the engine's address.
  const { hostname, port } = new URL(process.env.E2B_SANDBOX_URL)
  const lookup = (name, options, callback) => callback(null, [{ address: hostname, family: 4 }])
  const dispatcher = new Agent({ connect: { lookup } })
  const request = (number, path, options) =>
    fetch(`http://${box.getHost(number)}:${port}${path}`, { dispatcher, ...options })

  assert.match(box.getHost(8000), new RegExp(`^8000-${box.sandboxId}\\.`))
  const closed = await request(8000, '/')
  assert.equal(closed.status, 502)
  assert.match((await closed.json()).message, /port is not open/)

  await box.files.write('server.py', server)
  const running = await box.commands.run('exec python3 server.py', { background: true, timeoutMs: 0 })
  await eventually('the server', async () => (await request(8000, '/')).status === 200)
  assert.equal(await (await request(8000, '/a/b?c=d')).text(), '/a/b?c=d')
  const body = Buffer.alloc(3_000_000, 'x')
  assert.equal(
    await (await request(8000, '/', { method: 'POST', body })).text(),
    `3000000 bytes to ${box.getHost(8000)}:${port}`,
  )

  // Signed addresses of files work by that name alone: nothing else says which sandbox is meant.
  const signed = async (url) => new URL(await url)
  const download = await signed(box.downloadUrl('server.py', { useSignatureExpiration: 60 }))
  assert.equal(await (await request(49983, download.pathname + download.search)).text(), server)
  const upload = await signed(box.uploadUrl('uploaded'))
  const form = new FormData()
  form.append('file', new Blob(['by name']), 'ignored')
  const { status } = await request(49983, upload.pathname + upload.search, { method: 'POST', body: form })
  assert.equal(status, 200)
  assert.equal(await box.files.read('uploaded'), 'by name')
  assert.equal((await request(49983, '/files?path=uploaded')).status, 401)

  const socket = new WebSocket(`ws://${box.getHost(8000)}:${port}/socket`, { dispatcher })
  const message = await new Promise((resolve, reject) => {
    socket.onopen = () => socket.send('over the wire 🌍')
    socket.onmessage = (event) => resolve(event.data)
    socket.onerror = (event) => reject(event.error ?? new Error('the WebSocket failed'))
  })
  assert.equal(message, 'over the wire 🌍')

  await running.kill()
  // A connection that was kept open ends with the server, and a request on it with an error.
  await eventually('the port to close', () => request(8000, '/').then(({ status }) => status === 502, () => false))
  await dispatcher.close()
})
