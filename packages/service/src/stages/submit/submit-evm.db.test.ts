import { afterAll, beforeAll, expect, test } from 'vitest'
import { insertTestAccount, startTestDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { openLimits } from '../../../test/support/limits.ts'
import { insertTestOp } from '../../../test/support/swaps.ts'
import type { Delegation } from '../../chains/chain.ts'
import { findSwaps } from '../../store/swaps.ts'
import type { SignedDelegation } from '../../swap/swap.ts'
import { submit } from './submit-evm.ts'

const SIGNATURE = `0x${'ab'.repeat(32)}${'01'.repeat(32)}1b`
const CONTRACT = '0xABCDEF'
const delegation: SignedDelegation = { chainId: 1, address: '0xd', nonce: 4, yParity: 0, r: '0x1', s: '0x2' }

let database: TestDatabase
beforeAll(async () => {
  database = await startTestDatabase()
  await database.pool.query(
    `insert into inventory (chain_id, token, held, reserved, at_block) values (31338, 'output', 1000000, 0, 1)`,
  )
})
afterAll(() => database.stop())

type Method = 'delegation' | 'authorization' | 'permit' | 'deposit'
type Seen = {
  method?: Method
  signature?: string | undefined
  delegation?: SignedDelegation
  state?: Delegation
  signer?: string
  isSigned?: boolean | Error | undefined
  hasNoWays?: boolean
  expiresInMs?: number
}

/** Submits an op of this method. The chain says that its wallet is in this state. */
async function send({ method = 'delegation', signer = 'wallet', ...seen }: Seen = {}) {
  const { pool } = database
  const accountId = await insertTestAccount(pool)
  const opId = await insertTestOp(pool, accountId)
  await pool.query('update ops set wallet_balance = 100000, method = $2 where id = $1', [opId, method])
  const isInputSigned = async () => {
    if (seen.isSigned instanceof Error) throw seen.isSigned
    return seen.isSigned ?? signer === 'wallet'
  }
  const deps = {
    pool,
    limits: openLimits,
    openOp: () => ({
      opId,
      expiresAt: Date.now() + (seen.expiresInMs ?? 60_000),
      ...(seen.delegation && { delegation: seen.delegation }),
    }),
    originOf: () => ({
      readDelegation: async () => seen.state,
      ...(!seen.hasNoWays && { ways: { isInputSigned } }),
    }),
    paidNow: () => undefined,
    within: (_ms: number, reading: Promise<unknown>) => reading,
  }
  const signature = 'signature' in seen ? seen.signature : SIGNATURE
  const request = { geoOpToken: 'token', ...(signature !== undefined && { signature }) }
  const caller = { accountId, keyId: 'key', rules: {} }
  const { swapId } = await submit(deps as never, caller, request)
  const [swap] = await findSwaps(pool, [swapId])
  return { signature: swap?.signature, delegation: swap?.delegation, state: swap?.state }
}

test.each<[string, Seen, string]>([
  ['the signature of the hash', {}, SIGNATURE],
  [
    'a signature without a delegation, whatever code the wallet has',
    { state: { kind: 'contract' } },
    SIGNATURE,
  ],
  ['an authorization of the token', { method: 'authorization' }, SIGNATURE],
  ['a permit', { method: 'permit' }, SIGNATURE],
  ['an authorization of a contract wallet', { method: 'authorization', signature: CONTRACT }, '0xabcdef'],
])('%s is stored in one form', async (_, seen, stored) => {
  expect(await send(seen)).toMatchObject({ signature: stored, state: 'accepted' })
})

test('a deposit needs no signature, and waits', async () => {
  expect(await send({ method: 'deposit', signature: undefined })).toMatchObject({
    signature: '',
    state: 'awaitingDeposit',
  })
})

test.each<[string, string, Seen]>([
  ['INVALID_REQUEST', 'a signature of a deposit', { method: 'deposit' }],
  ['INVALID_REQUEST', 'no signature', { signature: undefined }],
  ['INVALID_SIGNATURE', 'the signature of somebody else', { signer: 'other' }],
  ['INVALID_SIGNATURE', 'a text that is none', { signature: '0x12' }],
  ['INVALID_SIGNATURE', 'a permit of a contract wallet', { method: 'permit', signature: CONTRACT }],
  ['INVALID_SIGNATURE', 'half a byte', { method: 'authorization', signature: '0xabc' }],
  [
    'INVALID_SIGNATURE',
    'more than 1,024 bytes',
    { method: 'authorization', signature: `0x${'ab'.repeat(1_025)}` },
  ],
  ['INVALID_SIGNATURE', 'what the token refuses', { method: 'authorization', isSigned: false }],
  ['INVALID_SIGNATURE', 'a chain without other ways', { method: 'authorization', hasNoWays: true }],
  [
    'CHAIN_UNAVAILABLE',
    'while the token cannot be asked',
    { method: 'authorization', isSigned: new Error('silent') },
  ],
  ['OPERATION_EXPIRED', 'after the expiry, whoever signed', { expiresInMs: -1, signer: 'other' }],
])('%s answers %s', async (code, _, seen) => {
  await expect(send(seen)).rejects.toMatchObject({ code })
})

test('a signature of a contract wallet may have 1,024 bytes', async () => {
  const signature = `0x${'ab'.repeat(1_024)}`

  expect((await send({ method: 'authorization', signature })).signature).toBe(signature)
})

test.each<[string, Delegation | undefined]>([
  ['still fits', { kind: 'none', nonce: 4, pendingNonce: 4 }],
  ['was used already', { kind: 'ours', delegate: '0xd' }],
  ['is not needed', { kind: 'unneeded' }],
  ['cannot be checked in time', undefined],
])('a delegation that %s is stored with the swap', async (_, state) => {
  const stored = await send({ delegation, ...(state && { state }) })

  expect(stored.delegation).toEqual(delegation)
})

test.each<[string, string, Delegation]>([
  ['INVALID_AUTHORIZATION', 'its nonce is used', { kind: 'none', nonce: 5, pendingNonce: 5 }],
  [
    'INVALID_AUTHORIZATION',
    'an older one was replaced',
    { kind: 'older', delegate: '0xe', nonce: 5, pendingNonce: 5 },
  ],
  ['UNSUPPORTED_DELEGATION', 'the wallet has other code', { kind: 'foreign', delegate: '0xf' }],
  ['UNSUPPORTED_DELEGATION', 'the wallet is a contract', { kind: 'contract' }],
])('%s answers a delegation if %s', async (code, _, state) => {
  await expect(send({ delegation, state })).rejects.toMatchObject({ code })
})
