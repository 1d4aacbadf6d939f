import { AccountState, getTokenEncoder, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { expect, test } from 'vitest'
import type { Swap } from '../../model/swap.ts'
import { NATIVE_SOL } from './address.ts'
import { toBase64 } from './bytes.ts'
import { canRefund, findObstacle, readLocks } from './locks.ts'
import { NATIVE_TOKEN } from './mint.ts'
import type { SolanaParts } from './parts.ts'
import { SYSTEM_PROGRAM } from './token-layout.ts'

const answer = <Value>(value: Value) => ({ send: async () => value })

/** A node at this height, whose simulation of every transaction fails so. */
function nodeWith(err: unknown, height = 90n) {
  const rpc = {
    // With another blockhash it would land.
    simulateTransaction: (_wire: string, { replaceRecentBlockhash = false }) =>
      answer({ value: { err: replaceRecentBlockhash ? null : err, unitsConsumed: 1n } }),
    getBlockHeight: () => answer(height),
  }
  return { client: { rpc } } as unknown as SolanaParts
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
  const parts = {
    client: { rpc: { getMultipleAccounts: () => answer({ context: { slot: 1n }, value: [account] }) } },
    facts: { rent: async () => ({ emptyLamports: 10n }), tokenOf: async () => NATIVE_TOKEN },
  } as unknown as SolanaParts
  const op = { wallet: 'w', inputToken: NATIVE_SOL, inputAmount } as Swap['op']

  expect(await canRefund(parts, { op })).toBe(isPossible)
})

const address = 'SysvarRent111111111111111111111111111111111' as never
const tokens = (amount: bigint, owner: string = TOKEN_PROGRAM_ADDRESS) => {
  const data = getTokenEncoder().encode({
    ...{ mint: address, owner: address, amount, delegate: null, state: AccountState.Initialized },
    ...{ isNative: null, delegatedAmount: 0n, closeAuthority: null },
  })
  return { owner, lamports: 1n, executable: false, data: [toBase64(Uint8Array.from(data)), 'base64'] }
}

test('an input is locked if its account holds all of it, and otherwise its history decides', async () => {
  const accounts: Record<string, object | null> = {
    ...{ all: tokens(5n), more: tokens(6n), part: tokens(4n), foreign: tokens(5n, SYSTEM_PROGRAM) },
    ...{ missing: null, unread: null },
  }
  const fault = new Error('The node is silent')
  const rpc = {
    getMultipleAccounts: (addresses: string[]) =>
      answer({ context: { slot: 9n }, value: addresses.map((each) => accounts[each] ?? null) }),
    getSignaturesForAddress: (of: string) =>
      of === 'unread' ? { send: () => Promise.reject(fault) } : answer([]),
  }
  const parts = {
    client: { agreed: { rpc, nodes: [rpc] } },
    settings: { program: address },
    addresses: { inputOf: async ({ hash }: { hash: string }) => hash },
    findSigned: async () => new Map(),
  } as unknown as SolanaParts
  const ops = Object.keys(accounts).map((hash) => ({ hash, inputAmount: 5n }) as Swap['op'])
  const faults: unknown[] = []

  const states = await readLocks(parts, ops, { commitment: 'confirmed', number: 9n }, faults)

  expect(Object.fromEntries(states)).toEqual({
    ...{ all: 'locked', more: 'locked', part: 'none', foreign: 'none', missing: 'none' },
  })
  expect(faults).toEqual([fault])
})
