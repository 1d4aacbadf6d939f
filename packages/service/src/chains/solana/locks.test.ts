import { TERMS_BYTES, tags } from '@geoswap/solana-escrow'
import { AccountRole, type Address } from '@solana/kit'
import { expect, test } from 'vitest'
import { addressOf, rpcOf, solanaNode, tokensOf } from '../../../test/support/solana-node.ts'
import { stub } from '../../../test/support/stub.ts'
import type { Swap } from '../../swap/swap.ts'
import type { LockRef } from '../chain.ts'
import { NATIVE_TOKEN, SYSTEM_PROGRAM } from './accounts.ts'
import { NATIVE_SOL } from './bytes.ts'
import { inputInstructions } from './input.ts'
import { canRefund, findObstacle, readLocks } from './locks.ts'
import { budgetInstructions } from './message.ts'
import type { SolanaParts } from './parts.ts'

const answer = <Value>(value: Value) => ({ send: async () => value })

/** A node at this height, whose simulation of every transaction fails so. */
function nodeWith(err: unknown, height = 90n) {
  const rpc = rpcOf({
    // With another blockhash it would land.
    simulateTransaction: (_wire: string, { replaceRecentBlockhash = false }) =>
      answer({ value: { err: replaceRecentBlockhash ? null : err, unitsConsumed: 1n } }),
    getBlockHeight: () => answer(height),
  })
  return stub<SolanaParts>({ client: { rpc } })
}

const swapUntil = (lastValid?: bigint) =>
  ({ op: { walletBlock: 1n }, signature: '', ...(lastValid !== undefined && { lastValid }) }) as Swap

test.each<[string, unknown, bigint | undefined, string | undefined]>([
  ['would land', null, 90n, undefined],
  ['was used before', 'AlreadyProcessed', 90n, 'INPUT_UNAVAILABLE'],
  ['expired', 'BlockhashNotFound', 89n, 'OPERATION_EXPIRED'],
  ['has no last height', 'BlockhashNotFound', undefined, 'OPERATION_EXPIRED'],
])('an input whose transaction %s has this obstacle', async (_, err, lastValid, obstacle) => {
  expect(await findObstacle(nodeWith(err), swapUntil(lastValid))).toBe(obstacle)
})

test.each<[string, unknown, string]>([
  ['does not know a blockhash that is still valid', 'BlockhashNotFound', 'does not know a valid blockhash'],
  ['fails for another reason', 'AccountInUse', 'cannot be taken now'],
])('a node that %s decides nothing', async (_, err, message) => {
  await expect(findObstacle(nodeWith(err), swapUntil(90n))).rejects.toThrow(message)
})

test.each<[string, bigint, boolean]>([
  ['with it reaches the rent minimum', 5n, true],
  ['with it stays below the rent minimum', 4n, false],
])('a wallet that %s can be refunded, or not', async (_, inputAmount, isPossible) => {
  const account = { owner: SYSTEM_PROGRAM, lamports: 5n, executable: false, data: ['', 'base64'] }
  const parts = stub<SolanaParts>({
    client: {
      rpc: rpcOf({ getMultipleAccounts: () => answer({ context: { slot: 1n }, value: [account] }) }),
    },
    facts: { rent: async () => ({ emptyLamports: 10n }), tokenOf: async () => NATIVE_TOKEN },
  })
  const op = { wallet: 'w', inputToken: NATIVE_SOL, inputAmount } as Swap['op']

  expect(await canRefund(parts, { op })).toBe(isPossible)
})

const [program, vault, attester, wallet, locker] = [11, 12, 13, 14, 15].map(addressOf) as [
  ...[Address, Address, Address, Address, Address],
]
const settings = { program, vault, attester }
const at = { commitment: 'confirmed', number: 9n } as const

/** An op of its own whose input's account has the same name. */
const opOf = (name: string) =>
  stub<LockRef & { name: string }>({
    ...{ hash: `0x${Buffer.from(name.padEnd(32)).toString('hex')}`, name, wallet, locker },
    ...{ inputToken: NATIVE_SOL, inputAmount: 5n, refundDeadline: 1_000 },
  })

async function lockOf({ hash: opHash, inputAmount: amount, refundDeadline }: LockRef) {
  const terms = { wallet, token: NATIVE_TOKEN, amount, feePayer: locker, refundDeadline }
  const budget = budgetInstructions({ units: 1, microLamportsPerUnit: 1n })
  const taking = await inputInstructions(settings, { opHash, ...terms })
  return { slot: 6n, signers: [locker, wallet], instructions: [...budget, ...taking] }
}

type Signed = Partial<Record<'input' | 'exit', Readonly<Record<string, readonly string[]>>>>

/** A node with these accounts, histories and transactions, and our record, all by the names of ops. */
function partsOf(state: Parameters<typeof solanaNode>[0], signed: Signed = {}) {
  const { calls, ...agreed } = solanaNode(state)
  const parts = stub<SolanaParts>({
    client: { agreed },
    settings,
    addresses: { inputOf: async ({ hash }) => Buffer.from(hash.slice(2), 'hex').toString().trim() },
    findSigned: async (step: 'input' | 'exit') =>
      new Map(Object.entries(signed[step] ?? {}).map(([name, txHashes]) => [opOf(name).hash, txHashes])),
  })
  return { calls, parts }
}

const holding = (amount: bigint) => tokensOf(vault, vault, amount)

test('an input is locked if its account holds it and its transaction landed, on record or not', async () => {
  const names = ['recorded', 'searched', 'more', 'part', 'foreign', 'missing', 'unread']
  const { parts } = partsOf(
    {
      confirmed: {
        ...{ recorded: holding(5n), searched: holding(5n), more: holding(6n), part: holding(4n) },
        foreign: { ...holding(5n), owner: SYSTEM_PROGRAM },
      },
      landed: {
        ...{ one: await lockOf(opOf('recorded')), two: await lockOf(opOf('searched')) },
        three: await lockOf(opOf('more')),
      },
      histories: { searched: ['two'], more: ['three'], part: [], foreign: [], missing: [] },
    },
    { input: { recorded: ['one'] } },
  )
  const faults: unknown[] = []

  const states = await readLocks(parts, names.map(opOf), at, faults)

  expect(names.map((name) => states.get(opOf(name).hash))).toEqual([
    ...['locked', 'locked', 'locked', 'none', 'none', 'none'],
    undefined,
  ])
  expect(faults).toEqual([new Error('No history of unread')])
})

test('tokens that a stranger sends to the account of an input that never came lock nothing', async () => {
  const gift = { slot: 8n, instructions: [] }
  const { parts } = partsOf(
    { confirmed: { filled: holding(5n) }, landed: { gift }, histories: { filled: ['gift'] } },
    { input: { filled: ['failed'] } },
  )

  const states = await readLocks(parts, [opOf('filled')], at)

  expect([...states.values()]).toEqual(['none'])
})

test('an input that was claimed is claimed, whatever its account holds again', async () => {
  const op = opOf('again')
  const accounts = Array.from({ length: 8 }, (_, index) => (index === 1 ? op.name : vault))
  const claim = {
    programAddress: program,
    accounts: accounts.map((address) => ({ address: address as Address, role: AccountRole.WRITABLE })),
    data: new Uint8Array(2 + TERMS_BYTES).with(0, tags.claim),
  }
  const { parts } = partsOf(
    {
      confirmed: { again: holding(5n) },
      landed: { lock: await lockOf(op), claim: { slot: 7n, instructions: [claim] } },
    },
    { input: { again: ['lock'] }, exit: { again: ['lost', 'claim'] } },
  )

  const states = await readLocks(parts, [op], at)

  expect([...states.values()]).toEqual(['claimed'])
})

test('a history that strangers made long is read on from where the last reading ended', async () => {
  const spam = Array.from({ length: 250 }, (_, index) => `spam ${index}`)
  const empty = { slot: 8n, instructions: [] }
  const { parts } = partsOf({
    confirmed: { busy: holding(5n) },
    landed: { ...Object.fromEntries(spam.map((name) => [name, empty])), lock: await lockOf(opOf('busy')) },
    histories: { busy: [...spam, 'lock'] },
  })
  const read = async () => {
    const faults: unknown[] = []
    const states = await readLocks(parts, [opOf('busy')], at, faults)
    return faults.length > 0 ? (faults[0] as Error).name : [...states.values()][0]
  }

  expect([await read(), await read(), await read()]).toEqual([
    ...['UnreadHistoryError', 'UnreadHistoryError'],
    'locked',
  ])
})
