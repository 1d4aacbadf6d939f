import type { Address } from '@solana/kit'
import { AccountState, getTokenEncoder, TOKEN_PROGRAM_ADDRESS, type TokenArgs } from '@solana-program/token'
import { expect, test } from 'vitest'
import { stub } from '../../../test/support/stub.ts'
import type { RawAccount } from './accounts.ts'
import { NATIVE_SOL } from './bytes.ts'
import type { SolanaClient } from './client.ts'
import { heldIn, holdingAccount, readSignatures } from './reads.ts'

const program = TOKEN_PROGRAM_ADDRESS
const mint = 'So11111111111111111111111111111111111111112' as Address
const owner = 'SysvarRent111111111111111111111111111111111' as Address
const other = 'SysvarC1ock11111111111111111111111111111111' as Address

function accountOf(change: Partial<TokenArgs> = {}): RawAccount {
  const data = getTokenEncoder().encode({
    ...{ mint, owner, amount: 5n, delegate: null, state: AccountState.Initialized, isNative: null },
    ...{ delegatedAmount: 0n, closeAuthority: null },
    ...change,
  })
  return { owner: program, data, lamports: 3n, executable: false }
}

const token = { mint, program, decimals: 6 }

test.each<[string, RawAccount | undefined, typeof token, bigint]>([
  ['of its owner', accountOf(), token, 5n],
  ['that is missing', undefined, token, 0n],
  ['that is frozen', accountOf({ state: AccountState.Frozen }), token, 0n],
  ['of another owner', accountOf({ owner: other }), token, 0n],
  ['of no token program', { ...accountOf(), owner: other }, token, 0n],
  ['of the native coin', accountOf(), { ...token, mint: NATIVE_SOL as Address }, 3n],
])('an account %s can pay its balance, or nothing', (_, account, of, balance) => {
  expect(heldIn(account, owner, of)).toBe(balance)
})

test('an owner holds the native coin itself, and a token in an account of it', async () => {
  expect(await holdingAccount(owner, { ...token, mint: NATIVE_SOL })).toBe(owner)
  expect(await holdingAccount(owner, token)).not.toBe(owner)
})

const status = (slot: bigint, confirmationStatus: string | null, err: object | null = null) => ({
  ...{ slot, confirmationStatus, err },
})

test('landed transactions are found by hash, failed ones included, in requests of 256', async () => {
  const statuses: Record<string, object> = {
    first: status(1n, 'finalized'),
    failed: status(2n, 'confirmed', { InstructionError: [0, 'Custom'] }),
    old: status(3n, null),
  }
  const sizes: number[] = []
  const getSignatureStatuses = (
    hashes: readonly string[],
    options: { searchTransactionHistory: boolean },
  ) => ({
    async send() {
      sizes.push(hashes.length)
      // Without a search nodes know the last minutes only.
      return { value: hashes.map((hash) => (options.searchTransactionHistory && statuses[hash]) || null) }
    },
  })
  const client = stub<SolanaClient>({ rpc: { getSignatureStatuses } })
  const unknown = Array.from({ length: 254 }, (_, index) => `unknown ${index}`)

  const found = await readSignatures(client, ['first', 'failed', ...unknown, 'old'])

  expect(sizes).toEqual([256, 1])
  expect([...found]).toEqual([
    ['first', { slot: 1n, failed: false, commitment: 'finalized' }],
    ['failed', { slot: 2n, failed: true, commitment: 'confirmed' }],
    ['old', { slot: 3n, failed: false, commitment: 'processed' }],
  ])
})
