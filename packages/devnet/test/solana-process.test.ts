import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { createSolanaRpc } from '@solana/kit'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { projectRoot } from '../src/node-child.ts'
import { buildPrograms, programFile } from '../src/programs.ts'

const started: ChildProcess[] = []

beforeAll(buildPrograms)
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
})

function start(...args: string[]) {
  const child = spawn(process.execPath, [programFile('solana-chain'), ...args], {
    cwd: projectRoot,
    stdio: 'pipe',
  })
  started.push(child)
  return child
}

async function firstLine(stream: NodeJS.ReadableStream): Promise<string> {
  const [line] = (await once(createInterface(stream), 'line')) as [string]
  return line
}

test('the process reports its URL, makes slots by itself and stops on a signal', async () => {
  const child = start('--port', '0', '--slot-ms', '10', '--confirmed-lag', '2', '--finalized-lag', '5')
  const [, url = ''] = /^solana ready (http:\S+)$/.exec(await firstLine(child.stdout)) ?? []
  const rpc = createSolanaRpc(url)

  const first = await rpc.getSlot({ commitment: 'processed' }).send()
  await expect
    .poll(() => rpc.getSlot({ commitment: 'finalized' }).send(), { timeout: 10_000 })
    .toBeGreaterThan(first)
  child.kill('SIGTERM')

  expect(await once(child, 'exit')).toEqual([0, null])
})

test('a chain uses another port if its own is taken', async () => {
  const urlOf = async (...args: string[]) =>
    /(http:\S+)$/.exec(await firstLine(start(...args).stdout))?.[1] ?? ''
  const { port } = new URL(await urlOf('--port', '0'))

  const second = await urlOf('--port', port)

  expect(new URL(second).port).not.toBe(port)
  expect(await createSolanaRpc(second).getHealth().send()).toBe('ok')
})

test('a bad option ends the process with a message', async () => {
  const child = start('--port', '0', '--slot-ms', 'soon')

  const [message] = await Promise.all([firstLine(child.stderr), once(child, 'exit')])

  expect(message).toBe('--slot-ms must be a whole number, not soon')
})
