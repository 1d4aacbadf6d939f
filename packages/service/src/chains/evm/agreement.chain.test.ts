import { EVM_CHAINS, startChain } from '@geoswap/devnet'
import { afterAll, expect, test } from 'vitest'
import { startNodesBeside } from '../../../test/conformance/liar.ts'
import type { Heads } from '../chain.ts'
import { NoAgreementError } from '../nodes/agree.ts'
import { createEvmClients } from './client.ts'
import { createOutcomeReader } from './send.ts'

const [plan] = EVM_CHAINS
if (!plan) throw new Error('The local network has no EVM chain')
const node = await startChain({ name: plan.name, chainId: plan.chainId })
const beside = await startNodesBeside(node.rpcUrl, 'evm')
const [honest = '', second = '', liar = ''] = beside.urls
afterAll(async () => {
  await beside.stop()
  await node.stop()
})

const DEAD = 'http://127.0.0.1:9'

test('two nodes that agree outvote one that lies, in any order', async () => {
  const alone = createEvmClients({ urls: [honest] }).client
  for (const urls of [
    [liar, honest, second],
    [honest, second, liar],
  ]) {
    const { agreed } = createEvmClients({ urls })
    const block = await agreed.getBlock({ blockTag: 'latest' })
    expect(block.hash).toBe((await alone.getBlock({ blockNumber: block.number })).hash)
  }
})

test('nodes that agree about the newest block are asked for it once each', async () => {
  const called: string[] = []
  const watch = { called: (method: string) => void called.push(method), answered() {}, failed() {} }
  const { agreed } = createEvmClients({ urls: [honest, second], watches: [watch, watch] })
  const counts: number[] = []

  // A block that is mined between two answers costs another question.
  for (const blockTag of ['latest', 'latest', 'latest'] as const) {
    called.length = 0
    await agreed.getBlock({ blockTag })
    counts.push(called.length)
  }

  expect(Math.min(...counts)).toBe(2)
  expect(new Set(called)).toEqual(new Set(['eth_getBlockByNumber']))
})

test('a lying node is believed if it is asked alone, and never if another has to agree', async () => {
  const { client, agreed } = createEvmClients({ urls: [liar, honest] })
  const blockNumber = await createEvmClients({ urls: [honest] }).client.getBlockNumber()

  expect((await client.getBlock({ blockNumber })).hash).toBe(`0x${'66'.repeat(32)}`)
  await expect(agreed.getBlock({ blockNumber })).rejects.toSatisfy(isDisagreement)
})

test('a dead node stops reads that need both nodes, and none if two others are left', async () => {
  await expect(
    createEvmClients({ urls: [honest, DEAD] }).agreed.getBlock({ blockTag: 'latest' }),
  ).rejects.toThrow()
  const { agreed } = createEvmClients({ urls: [DEAD, honest, second] })
  expect((await agreed.getBlock({ blockTag: 'latest' })).hash).toMatch(/^0x/)
})

test('a key skips no nonce because one node, even the first, reports it as used', async () => {
  const clients = createEvmClients({ urls: [liar, honest, second] })
  const { number } = await clients.agreed.getBlock({ blockTag: 'latest' })
  const heads = { head: { number }, hard: { number, hash: '0xaa' } } as Heads

  const { nextNonce } = await createOutcomeReader(clients)(
    '0x00000000000000000000000000000000000000aa',
    [],
    heads,
  )

  expect(nextNonce).toBe(0)
})

function isDisagreement(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof NoAgreementError) return true
  return false
}
