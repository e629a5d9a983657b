// Commands: in the foreground and in the background, with output as it comes, input, deadlines, and their end.
import assert from 'node:assert/strict'
import {
  AuthenticationError,
  CommandExitError,
  InvalidArgumentError,
  NotFoundError,
  SandboxError,
  SandboxNotFoundError,
  TimeoutError,
} from 'e2b'
import { eventually, failure, inSandbox, sleep } from './sandbox.mjs'

await inSandbox('commands', async (box) => {
  const { commands } = box
  async function isAlive(pid) {
    return (await commands.run(`kill -0 ${pid} 2>&1 && echo yes || true`)).stdout === 'yes\n'
  }

  // In the foreground: result, directory, environment, user.
  const plain = await commands.run('echo out; echo err >&2')
  assert.equal(plain.exitCode, 0)
  assert.equal(plain.stdout, 'out\n')
  assert.equal(plain.stderr, 'err\n')
  assert.equal(plain.error, undefined)
  assert.equal((await commands.run('')).exitCode, 0)
  assert.equal((await commands.run('pwd; id -un; echo $HOME $USER')).stdout, '/home/user\nuser\n/home/user user\n')
  assert.equal((await commands.run('id -un', { user: 'user' })).stdout, 'user\n')
  assert.equal((await commands.run('pwd', { cwd: '/tmp' })).stdout, '/tmp\n')
  await commands.run('mkdir -p below')
  assert.equal((await commands.run('pwd', { cwd: 'below' })).stdout, '/home/user/below\n')
  assert.equal((await commands.run('echo $OF_SANDBOX')).stdout, 'kept\n')
  const value = 'it\'s "quoted"\nand $HOME\ttwo lines 🌍'
  assert.equal((await commands.run('printf %s "$VALUE"', { envs: { VALUE: value } })).stdout, value)
  assert.equal((await commands.run('echo $OF_SANDBOX', { envs: { OF_SANDBOX: 'mine' } })).stdout, 'mine\n')

  // An exit code that is not 0, an end by a signal, a command that is not there.
  const seven = await failure(commands.run('echo partial; echo why >&2; exit 7'), CommandExitError)
  assert.equal(seven.exitCode, 7)
  assert.equal(seven.stdout, 'partial\n')
  assert.equal(seven.stderr, 'why\n')
  assert.equal(seven.error, 'exit status 7')
  const killed = await failure(commands.run('kill -TERM $$'), CommandExitError)
  assert.equal(killed.exitCode, -1)
  assert.equal(killed.error, 'signal: terminated')
  const missing = await failure(commands.run('no-such-command'), CommandExitError)
  assert.equal(missing.exitCode, 127)
  assert.match(missing.stderr, /no-such-command/)
  const nowhere = await failure(commands.run('true', { cwd: '/not/there' }), InvalidArgumentError)
  assert.match(nowhere.message, /\/not\/there/)
  await failure(commands.run('true', { user: 'nobody-like-this' }), AuthenticationError)

  // Output as it comes: characters cut in two, much of it, both streams.
  const seen = []
  const streamed = await commands.run(
    "echo one; sleep 0.1; echo two >&2; sleep 0.1; printf '\\xf0\\x9f'; sleep 0.1; printf '\\x8c\\x8d\\n'",
    { onStdout: (text) => seen.push(`out ${text}`), onStderr: (text) => seen.push(`err ${text}`) },
  )
  assert.deepEqual(seen, ['out one\n', 'err two\n', 'out 🌍\n'])
  assert.equal(streamed.stdout, 'one\n🌍\n')
  let count = 0
  const much = await commands.run('seq 1 500000', { onStdout: (text) => (count += text.length) })
  assert.equal(much.stdout.length, count)
  assert.ok(much.stdout.endsWith('\n499999\n500000\n'))
  assert.equal(count, 3_388_895)

  // In the background: listed, followed by another, killed with its children.
  const server = await commands.run('sleep 600 & echo $!; wait', { background: true, cwd: '/tmp', envs: { TAG: 'x' } })
  assert.ok(server.pid > 1)
  const child = await eventually('the pid of the child', () => server.stdout.trim())
  const listed = (await commands.list()).find((process) => process.pid === server.pid)
  assert.equal(listed.cmd, '/bin/bash')
  assert.deepEqual(listed.args, ['-l', '-c', 'sleep 600 & echo $!; wait'])
  assert.equal(listed.cwd, '/tmp')
  assert.deepEqual(listed.envs, { TAG: 'x' })
  assert.equal(server.exitCode, undefined)
  assert.ok(await isAlive(child))
  assert.equal(await server.kill(), true)
  const end = await failure(server.wait(), CommandExitError)
  assert.equal(end.exitCode, -1)
  assert.equal(end.error, 'signal: killed')
  await eventually('the end of the child', async () => !(await isAlive(child)))
  const isListed = async (wanted) => (await commands.list()).some(({ pid }) => pid === wanted)
  await eventually('the end of the entry', async () => !(await isListed(server.pid)))
  assert.equal(await commands.kill(server.pid), false)

  // Whoever disconnects leaves it running; another connects and sees what comes from then on.
  const ticking = await commands.run('while [ ! -e go ]; do sleep 0.05; done; echo late; exit 3', { background: true })
  await ticking.disconnect()
  const late = []
  const again = await commands.connect(ticking.pid, { onStdout: (text) => late.push(text) })
  assert.equal(again.pid, ticking.pid)
  await commands.run('touch go')
  assert.equal((await failure(again.wait(), CommandExitError)).exitCode, 3)
  assert.deepEqual(late, ['late\n'])
  await failure(commands.connect(999_999), NotFoundError)

  // Input: by the handle and by the pid, text and bytes, to its end. Without it, standard input is empty.
  assert.equal((await commands.run('cat; echo done')).stdout, 'done\n')
  const cat = await commands.run('cat', { background: true, stdin: true })
  await cat.sendStdin('text 🌍\n')
  await commands.sendStdin(cat.pid, new Uint8Array([0x62, 0x0a]))
  await eventually('the echo', () => cat.stdout === 'text 🌍\nb\n')
  await cat.closeStdin()
  assert.equal((await cat.wait()).stdout, 'text 🌍\nb\n')
  await failure(commands.sendStdin(cat.pid, 'x'), NotFoundError)
  const sorted = await commands.run('sort', { background: true, stdin: true })
  await commands.sendStdin(sorted.pid, 'b\na\n')
  await commands.closeStdin(sorted.pid)
  assert.equal((await sorted.wait()).stdout, 'a\nb\n')
  const deaf = await commands.run('sleep 600', { background: true })
  await failure(deaf.sendStdin('x'), SandboxError)
  await deaf.kill()

  // A deadline ends it and all that it started; so does one in the background.
  const pids = []
  const begun = Date.now()
  await failure(
    commands.run('sleep 600 & echo $!; echo $$; wait', { timeoutMs: 500, onStdout: (text) => pids.push(text) }),
    TimeoutError,
  )
  assert.ok(Date.now() - begun < 3000)
  const both = pids.join('').trim().split('\n')
  assert.equal(both.length, 2)
  for (const pid of both) await eventually(`the end of ${pid}`, async () => !(await isAlive(pid)))
  const bounded = await commands.run('sleep 600', { background: true, timeoutMs: 300 })
  await failure(bounded.wait(), TimeoutError)
  await eventually('the end of it', async () => !(await isAlive(bounded.pid)))

  // A child that keeps the pipes does not keep the command.
  const kept = await commands.run('sleep 600 & echo leader', { timeoutMs: 5000 })
  assert.equal(kept.stdout, 'leader\n')

  // Many at once.
  const many = await Promise.all([...Array(30).keys()].map((i) => commands.run(`sleep 0.05; echo ${i}`)))
  assert.deepEqual(many.map(({ stdout }) => stdout), [...Array(30).keys()].map((i) => `${i}\n`))

  // A sandbox that is killed ends its commands, and what comes after.
  const last = await commands.run('echo up; sleep 600', { background: true })
  await eventually('its output', () => last.stdout)
  const lost = failure(last.wait(), TimeoutError)
  await sleep(50)
  await box.kill()
  await lost
  await failure(commands.run('true'), SandboxNotFoundError)
}, { envs: { OF_SANDBOX: 'kept' } })
