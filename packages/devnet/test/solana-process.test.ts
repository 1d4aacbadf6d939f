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

test('a taken port and a bad option end the process with a message', async () => {
  const [, url = ''] = /(http:\S+)$/.exec(await firstLine(start('--port', '0').stdout)) ?? []
  const { port } = new URL(url)
  const second = start('--port', port)
  const third = start('--port', '0', '--slot-ms', 'soon')

  const [taken, bad] = await Promise.all([
    ...[firstLine(second.stderr), firstLine(third.stderr)],
    ...[once(second, 'exit'), once(third, 'exit')],
  ])

  expect(taken).toBe(`Port ${port} is taken: choose another with --port`)
  expect(bad).toBe('--slot-ms must be a whole number, not soon')
})
