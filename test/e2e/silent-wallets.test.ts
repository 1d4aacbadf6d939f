import { concat, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect, inject, test } from 'vitest'
import { createCheckedClient } from '../checked-client.ts'
import { delegatedWallet, setCode } from '../instant-wallet.ts'
import { createOperator } from '../operator.ts'
import { buildBy, digestOf } from '../ways.ts'
import { createWorld, submitSwap, until } from '../world.ts'

const local = inject('local')
const operator = createOperator(inject('databaseUrl'))
const api = createCheckedClient({ ...local, apiKey: await operator.createKey() })
const world = { ...createWorld(local), api }
const { alpha, beta } = world
const INPUT = 10_000_000n
const order = { from: alpha, sell: 'USDC', to: beta, buy: 'USDC', amount: INPUT }

// Accepts every signature that begins with the hash.
const ACCEPTING = '0x60043560643514631626ba7e60e01b025f5260205ff3'

const stateOf = async (swapId: string) =>
  (await operator.query<{ state: string }>('select state from swaps where id = $1', [swapId]))[0]?.state

/** A contract wallet that accepts until its input is locked. */
async function swapOfContract(): Promise<{ swapId: string; address: Hex }> {
  const { address } = privateKeyToAccount(generatePrivateKey())
  await setCode(alpha, address, ACCEPTING)
  await world.fund(alpha, address, 'USDC', INPUT)
  const { build } = await buildBy(world, { address }, { order, method: 'authorization' })
  const signature = concat([digestOf(build), '0x00'])
  const { status, body } = await api.submit({ geoOpToken: build.geoOpToken, signature })
  if (status !== 200) throw new Error(`submit: ${status} ${body.code}`)
  return { swapId: body.swapId, address }
}

async function swapOfHonest(): Promise<string> {
  const wallet = await delegatedWallet(alpha)
  await world.fund(alpha, wallet.address, 'USDC', INPUT)
  return (await submitSwap(world, wallet, order)).swapId
}

test('wallets that go silent after their lock keep no claim back, neither their own nor that of others', async () => {
  // The code of a wallet that answers nothing, too little or with an invalid instruction, and one whose code is gone.
  const silences: Hex[] = ['0x00', '0x631626ba7e60e01b5f5260045ff3', '0xfe', '0x']
  const swaps = await Promise.all(silences.map(swapOfContract))
  await until(async () => {
    const states = await Promise.all(swaps.map(({ swapId }) => stateOf(swapId)))
    return states.every((state) => state !== 'accepted' && state !== 'locking')
  })
  for (const [index, { address }] of swaps.entries()) await setCode(alpha, address, silences[index] ?? '0x')
  const honest = await swapOfHonest()

  const ids = [...swaps.map(({ swapId }) => swapId), honest]
  const ended = async () => (await Promise.all(ids.map(stateOf))).every((state) => state === 'closed')
  await until(ended, 90_000)

  expect(await Promise.all(ids.map(stateOf))).toEqual(ids.map(() => 'closed'))
})
