// Terminals: a shell with its size, its signals, its characters, its end.
import assert from 'node:assert/strict'
import { CommandExitError, NotFoundError, SandboxError } from 'e2b'
import { eventually, failure, inSandbox } from './sandbox.mjs'

await inSandbox('terminals', async (box) => {
  const { pty } = box
  const bytes = (text) => new TextEncoder().encode(text)

  /** Opens one; its `text` is all that it has shown. */
  async function open(options = {}) {
    const decoder = new TextDecoder()
    const screen = { text: '' }
    const onData = (data) => (screen.text += decoder.decode(data, { stream: true }))
    screen.handle = await pty.create({ cols: 80, rows: 24, timeoutMs: 0, ...options, onData })
    screen.type = (text) => pty.sendInput(screen.handle.pid, bytes(text))
    screen.shows = (pattern) =>
      eventually(() => `${pattern} in ${JSON.stringify(screen.text)}`, () => pattern.test(screen.text))
    return screen
  }

  const shell = await open({ cwd: '/tmp', envs: { GREETING: 'it\'s me' } })
  await shell.type('echo "<$(tty) $PWD $TERM $LANG $GREETING>"\n')
  await shell.shows(/<\/dev\/pts\/\d+ \/tmp xterm-256color C\.UTF-8 it's me>/)
  await shell.type('echo "[$(stty size)]"\n')
  await shell.shows(/\[24 80\]/)
  await shell.type("trap 'echo changed to $(stty size)' WINCH; echo re\"\"ady\n")
  await shell.shows(/ready/)
  await pty.resize(shell.handle.pid, { cols: 132, rows: 50 })
  await shell.type('\n')
  await shell.shows(/changed to 50 132/)
  await shell.type('printf "<%s>\\n" "grüße 🌍"\n')
  await shell.shows(/<grüße 🌍>/)

  // Ctrl-C is for the foreground alone; the shell goes on.
  await shell.type('trap - WINCH; sh -c "echo be""gun; exec sleep 600"\n')
  await shell.shows(/begun/)
  await shell.type('\x03')
  await shell.type('echo code $?\n')
  await shell.shows(/code 130/)

  // It is listed, may be left and found again.
  const listed = (await box.commands.list()).find(({ pid }) => pid === shell.handle.pid)
  assert.deepEqual(listed.args, ['-i', '-l'])
  await shell.handle.disconnect()
  let found = ''
  const again = await pty.connect(shell.handle.pid, { onData: (data) => (found += Buffer.from(data)), timeoutMs: 0 })
  assert.equal(again.pid, shell.handle.pid)
  await shell.type('echo still $((40 + 2))\n')
  await eventually('the shell again', () => /still 42/.test(found))
  await failure(box.commands.sendStdin(shell.handle.pid, 'x'), SandboxError)

  // Its end: by itself, with a code; by a signal, with its children.
  await shell.type('exit 3\n')
  assert.equal((await failure(again.wait(), CommandExitError)).exitCode, 3)
  await failure(shell.type('x'), NotFoundError)
  await failure(pty.resize(shell.handle.pid, { cols: 1, rows: 1 }), NotFoundError)
  const quiet = await open()
  await quiet.type('exit\n')
  assert.equal((await quiet.handle.wait()).exitCode, 0)

  const doomed = await open()
  await doomed.type('sleep 600 & echo "<$!>"\n')
  await doomed.shows(/<\d+>/)
  const child = doomed.text.match(/<(\d+)>/)[1]
  assert.equal(await pty.kill(doomed.handle.pid), true)
  assert.equal((await failure(doomed.handle.wait(), CommandExitError)).exitCode, -1)
  await eventually('the end of its child', async () =>
    (await box.commands.run(`kill -0 ${child} 2>/dev/null || echo gone`)).stdout === 'gone\n')
  assert.equal(await pty.kill(doomed.handle.pid), false)

  // Much output, none of it lost.
  const busy = await open()
  await busy.type('stty -onlcr; PS1=; seq 1 100000; echo e""nd\n')
  await busy.shows(/\n99999\n100000\nend\n/)
  await busy.handle.kill()
})
