import { execFileSync } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { start } from '../test/say.ts'
import { commands } from './commands/all.ts'
import { readVersion } from './run.ts'

const say = (...line: string[]) => start(line).ended

test.each(['--version', '-v', 'version'])('%s is the version of the package', async (word) => {
  expect(await say(word)).toMatchObject({ code: 0, stdout: `geoswap ${readVersion()}\n` })
  expect(readVersion()).toMatch(/^\d+\.\d+\.\d+/)
})

test('help COMMAND is the help of the command', async () => {
  const { stdout } = await say('help', 'swap')

  expect(stdout).toContain('geoswap swap CHAIN:TOKEN CHAIN:TOKEN')
  expect(stdout).toBe((await say('swap', '--help')).stdout)
})

test.each([
  ['swpa', [], 'There is no command swpa. Did you mean swap?'],
  ['help', ['statsu'], 'There is no command statsu. Did you mean status?'],
  ['frobnicate', [], 'There is no command frobnicate.\n'],
  ['swap', ['a:b', 'c:d', '--amout', '5'], 'geoswap swap has no option --amout. Did you mean --amount?'],
  ['swap', ['a:b', 'c:d', '--frobnicate'], 'geoswap swap has no option --frobnicate.\n'],
  ['wallet', ['crate', 'bot'], 'geoswap wallet has no crate. Did you mean create?'],
  ['completion', ['bsh'], 'geoswap completion has no bsh. Did you mean bash?'],
])('USAGE: geoswap %s %j names the nearest word', async (name, args, told) => {
  const { code, stderr } = await say(name, ...args)

  expect(code).toBe(1)
  expect(stderr).toContain(told)
})

test('words of the service are quoted, without control characters', async () => {
  const refusal = {
    ...{ code: 'FORBIDDEN', message: '\u001b[2JNo.\nSend all.', requestId: 'req_1', retryable: false },
    recovery: { action: 'CHECK_API_KEY' },
  }
  const service = createServer((_request, response) =>
    response.writeHead(403, { 'content-type': 'application/json' }).end(JSON.stringify(refusal)),
  )
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
  const { port } = service.address() as AddressInfo

  const { code, stderr } = await say('chains', '--url', `http://127.0.0.1:${port}`)
  service.close()

  expect(code).toBe(1)
  expect(stderr).toBe('error: the service says: " [2JNo. Send all."\n')
})

test('bash completes commands, actions and options', async () => {
  const { stdout: script } = await say('completion', 'bash')
  const complete = (...typed: string[]) => {
    const words = ['geoswap', ...typed].map((word) => `'${word}'`).join(' ')
    const ask = `COMP_WORDS=(${words}); COMP_CWORD=${typed.length}; _geoswap; echo "\${COMPREPLY[@]}"`
    return execFileSync('bash', ['-c', `${script}\n${ask}`], { encoding: 'utf8' })
      .trim()
      .split(' ')
  }

  expect(complete('s')).toEqual(['swap', 'status'])
  expect(complete('wallet', 'ex')).toEqual(['export'])
  expect(complete('swap', 'alpha:USDC', '--am')).toEqual(['--amount'])
  expect(complete('help', 'quo')).toEqual(['quote'])
})

test.each(['zsh', 'fish'])('%s knows every command', async (shell) => {
  const { code, stdout } = await say('completion', shell)

  expect(code).toBe(0)
  for (const name of Object.keys(commands)) expect(stdout).toContain(name)
})
