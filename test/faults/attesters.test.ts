import { type Network, startNetwork } from '@geoswap/devnet'
import {
  attestationTypes,
  geoEscrowAbi,
  geoOpDomain,
  joinSignatures,
  readRefundableOp,
} from '@geoswap/protocol'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startLiar } from '../liar.ts'
import { createOperator, type Operator } from '../operator.ts'
import { createWorld, type LocalNetwork, outcomeOf, submitSwap, until, type World } from '../world.ts'

const USDC = 1_000_000n
const DEADLINES = { opLifeSeconds: 20, lockInclusionSeconds: 10, cutOffSeconds: 2, attemptLifeSeconds: 10 }

let network: Network
let world: World
let operator: Operator

beforeAll(async () => {
  const { PATH = '', HOME = '' } = process.env
  const serviceConfig = { deadlines: { ...DEADLINES, detectionSeconds: 5 } }
  network = await startNetwork({
    attesters: 3,
    threshold: 2,
    blockMs: 500,
    env: { PATH, HOME },
    serviceConfig,
  })
  world = createWorld(network.local as LocalNetwork)
  operator = createOperator(network.databaseUrl)
})
afterAll(() => network?.stop())
afterEach(() => {
  for (const name of ATTESTERS) signal(name, 'SIGCONT')
})

const ATTESTERS = ['attester', 'attester-2', 'attester-3']

/** A stopped process is one that takes for ever. */
function signal(name: string, what: 'SIGSTOP' | 'SIGCONT'): void {
  for (const pid of network.pids[name] ?? []) process.kill(pid, what)
}

const order = () => ({ from: world.alpha, sell: 'USDC', to: world.beta, buy: 'WETH', amount: 10n * USDC })

async function swap(): Promise<string> {
  const wallet = await world.walletWith(world.alpha, 'USDC', 10n * USDC)
  return (await submitSwap(world, wallet, order())).swapId
}

const stateOf = async (swapId: string) => {
  const [row] = await operator.query<{ state: string }>('select state from swaps where id = $1', [swapId])
  return row?.state
}
const untilClosed = (swapId: string) => until(async () => (await stateOf(swapId)) === 'closed', 90_000)

/** Swaps whose claim reached the threshold, by the members that signed it. */
async function signersOf(swapId: string): Promise<string[]> {
  const rows = await operator.query<{ signer: string }>(
    `select distinct g.signer from attestations a join attestation_signatures g on g.attestation_id = a.id
      where a.swap_ids @> array[$1] and g.signature is not null`,
    [swapId],
  )
  return rows.map(({ signer }) => signer)
}

test('each of three attesters signs with its own key, and two signatures close a swap', async () => {
  const swapId = await swap()

  await untilClosed(swapId)

  const members = network.keys.attesters.map(({ address }) => address)
  const signers = await signersOf(swapId)
  expect(signers.length).toBeGreaterThanOrEqual(2)
  expect(members).toEqual(expect.arrayContaining(signers))
})

test('with a slow attester swaps close without it, and its late signature changes nothing', async () => {
  signal('attester-2', 'SIGSTOP')
  const swapId = await swap()
  await untilClosed(swapId)
  signal('attester-2', 'SIGCONT')

  const [, slow] = network.keys.attesters
  expect(await signersOf(swapId)).not.toContain(slow?.address)
})

test('while two of three are slow an input waits in the escrow, and is claimed when one answers', async () => {
  for (const name of ['attester', 'attester-2']) signal(name, 'SIGSTOP')
  const swapId = await swap()
  await until(async () => (await signersOf(swapId)).length === 1)
  expect(await stateOf(swapId)).toBe('settled')

  signal('attester', 'SIGCONT')

  await untilClosed(swapId)
})

test('an attester that lies about everything delays and changes nothing', async () => {
  const [, liar] = network.keys.attesters
  if (!liar) throw new Error('No second attester')
  await network.dismiss('attester-2')
  const { chainId, contracts } = world.alpha
  const lying = startLiar({
    key: liar,
    others: network.keys.attesters.flatMap(({ address }) => (address === liar.address ? [] : address)),
    databaseUrl: network.databaseUrls.attesters[1] ?? '',
    escrowOf: (id) => (id === chainId ? contracts.escrow : undefined),
  })

  const swapIds = await Promise.all([swap(), swap(), swap()])
  const ends = await Promise.all(swapIds.map((swapId) => outcomeOf(world, swapId)))
  await Promise.all(swapIds.map(untilClosed))
  await lying.stop()

  expect(ends.map(({ status }) => status)).toEqual(['settled', 'settled', 'settled'])
})

test('a stolen key alone refunds nothing: the escrow asks for two', async () => {
  const [, stolen] = network.keys.attesters
  if (!stolen) throw new Error('No second attester')
  const { alpha } = world
  for (const name of ['attester', 'attester-3']) signal(name, 'SIGSTOP')
  const wallet = await world.walletWith(alpha, 'USDC', 10n * USDC)
  const { swapId, build } = await submitSwap(world, wallet, order())
  await outcomeOf(world, swapId)
  const op = readRefundableOp(build.operation)
  const validUntil = op.refundDeadline
  const signature = await privateKeyToAccount(stolen.privateKey).signTypedData({
    domain: geoOpDomain(op.origin),
    types: attestationTypes,
    primaryType: 'Refund',
    message: { op: op.hash, validUntil },
  })

  const refund = (signatures: Hex) => {
    const args = [op.locker, op.argument, validUntil, signatures] as const
    const call = {
      address: op.origin.escrow,
      abi: geoEscrowAbi,
      functionName: 'refundAttested',
      args,
    } as const
    return alpha.client.simulateContract({ ...call, account: wallet.address })
  }
  const one = joinSignatures([{ signer: stolen.address, signature }])
  for (const signatures of [one, `${one}${one.slice(2)}` as Hex])
    await expect(refund(signatures)).rejects.toThrow('NotAttested')
  for (const name of ['attester', 'attester-3']) signal(name, 'SIGCONT')

  await untilClosed(swapId)
})

test('with one attester down swaps close by the other two', async () => {
  await network.dismiss('attester-2')

  await untilClosed(await swap())
})
