// The SDK's git: repositories inside the sandbox, one of them the others' remote.
import assert from 'node:assert/strict'
import { CommandExitError, GitUpstreamError } from 'e2b'
import { failure, inSandbox } from './sandbox.mjs'

await inSandbox('git', async (box) => {
  const { git, files } = box
  const remote = '/home/user/remote.git'
  await git.init(remote, { bare: true, initialBranch: 'main' })
  await git.configureUser("O'Brien \"Z\" Müller", 'user@example.com')
  assert.equal(await git.getConfig('user.name'), "O'Brien \"Z\" Müller")
  assert.equal(await git.getConfig('no.such'), undefined)

  await git.init('work', { initialBranch: 'main' })
  await git.remoteAdd('work', 'origin', remote)
  assert.equal(await git.remoteGet('work', 'origin'), remote)
  assert.equal(await git.remoteGet('work', 'other'), undefined)
  await files.write('work/README', 'one\n')
  const untracked = await git.status('work')
  assert.equal(untracked.hasUntracked, true)
  assert.equal(untracked.fileStatus[0].name, 'README')
  await git.add('work')
  assert.equal((await git.status('work')).stagedCount, 1)
  await git.commit('work', "first: it's \"done\"\n\nwith a body")
  assert.equal((await git.status('work')).isClean, true)
  assert.equal(
    (await box.commands.run('git log -1 --format="%an|%B"', { cwd: 'work' })).stdout.trim(),
    "O'Brien \"Z\" Müller|first: it's \"done\"\n\nwith a body",
  )
  await git.push('work', { remote: 'origin', branch: 'main' })

  await git.clone(remote, { path: 'clone' })
  assert.equal(await files.read('clone/README'), 'one\n')
  await git.createBranch('clone', 'topic')
  await files.write('clone/README', 'two\n')
  await failure(git.commit('clone', 'nothing staged'), CommandExitError)
  await git.add('clone', { files: ['README'] })
  await git.commit('clone', 'second', { authorName: 'Another', authorEmail: 'a@example.com' })
  const { branches, currentBranch } = await git.branches('clone')
  assert.deepEqual(branches.sort(), ['main', 'topic'])
  assert.equal(currentBranch, 'topic')
  await git.push('clone', { remote: 'origin', branch: 'topic' })
  await git.checkoutBranch('clone', 'main')
  assert.equal(await files.read('clone/README'), 'one\n')
  await git.deleteBranch('clone', 'topic', { force: true })

  await git.pull('work', { remote: 'origin', branch: 'topic' })
  assert.equal(await files.read('work/README'), 'two\n')
  assert.equal((await git.status('work')).ahead, 1)
  await files.write('work/README', 'three\n')
  await git.restore('work', { paths: ['README'] })
  assert.equal(await files.read('work/README'), 'two\n')
  await git.reset('work', { mode: 'hard', target: 'HEAD~1' })
  assert.equal(await files.read('work/README'), 'one\n')

  await git.init('alone')
  await failure(git.pull('alone'), GitUpstreamError)
  const missing = await failure(git.clone('/no/such/repository', { path: 'x' }), CommandExitError)
  assert.match(missing.stderr, /does not exist/)
})
