import type { PublicClient } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestSwap } from '../../test/support/swaps.ts'
import { isRefundable, isSigned } from '../chains/attested.ts'
import { createInputCheck, isOpSigned } from '../chains/evm/ways.ts'
import { countUnsigned } from '../store/signed.ts'
import { findSwaps } from '../store/swaps.ts'
import { type ChainCustody, termsOfOp } from '../swap/op-terms.ts'
import type { Swap } from '../swap/swap.ts'
import { evmWays } from '../ways/registry.ts'
import { createSignedCheck } from './checks.ts'

const key = (digit: string) => privateKeyToAccount(`0x${digit.repeat(64)}`)
const [wallet, attacker] = [key('1'), key('2')]
const address = (digit: string) => key(digit).address
const custodyOf = (chainId: number): ChainCustody => ({
  escrow: address(chainId === 31_337 ? '3' : '4'),
  vault: address(chainId === 31_337 ? '5' : '6'),
})

const database = useTestDatabase()

const swapOf = async (swapId: string): Promise<Swap> => {
  const [swap] = await findSwaps(database.pool, [swapId])
  if (!swap) throw new Error('Swap not found')
  return swap
}

/** Changes one column directly, without the checks of the code. */
function set(swapId: string, table: 'ops' | 'swaps', column: string, value: unknown) {
  const id = table === 'ops' ? '(select op_id from swaps where id = $1)' : '$1'
  return database.pool.query(`update ${table} set ${column} = $2 where id = ${id}`, [swapId, value])
}

let position = 0

/** A swap as its wallet signed it, from alpha to beta. */
async function signedSwap(): Promise<Swap> {
  const { pool } = database
  const { swapId } = await insertTestSwap(pool, await insertTestAccount(pool), wallet.address)
  position += 1
  const terms = [
    ['input_token', address('7')],
    ['output_token', address('8')],
    ['recipient', wallet.address],
    ['locker', address('9')],
    ['position', position],
    ['round', 1],
    ['op_deadline', 100],
    ['fill_deadline', 200],
    ['refund_deadline', 300],
  ] as const
  for (const [column, value] of terms) await set(swapId, 'ops', column, value)
  await set(swapId, 'swaps', 'input_token', address('7'))
  const { hash, deliveryHash } = termsOfOp(custodyOf, (await swapOf(swapId)).op)
  await set(swapId, 'ops', 'hash', hash)
  await set(swapId, 'ops', 'delivery_hash', deliveryHash)
  const signature = await wallet.signMessage({ message: { raw: hash } })
  await set(swapId, 'swaps', 'signature', signature)
  return swapOf(swapId)
}

const isInputSigned = createInputCheck(evmWays, {} as PublicClient, { escrow: address('5') as `0x${string}` })

function check(onUnsigned = (_: Swap) => {}, lock: 'none' | 'locked' = 'none') {
  const origin = {
    isSigned: (swap: Swap) => isOpSigned(evmWays, swap, { readLock: async () => lock, isInputSigned }),
  }
  const deps = { custodyOf, originOf: () => origin }
  return createSignedCheck({
    pool: database.pool,
    isSigned: (swap) => isSigned(deps, swap),
    isRefundable: (swap) => isRefundable(deps, swap),
    onUnsigned,
  })
}

test('a swap with the signed terms may be paid and refunded', async () => {
  const swap = await signedSwap()

  expect([await check().isPayable(swap), await check().isRefundable(swap)]).toEqual([true, true])
  expect(await countUnsigned(database.pool)).toBe(0)
})

test.each([
  ['ops', 'recipient', attacker.address],
  ['ops', 'recipient', 'no address'],
  ['ops', 'output_token', address('7')],
  ['ops', 'min_output', 979],
  ['ops', 'locker', attacker.address],
  ['ops', 'position', 999],
  ['ops', 'round', 2],
  ['ops', 'op_deadline', 101],
  ['ops', 'fill_deadline', 201],
  ['ops', 'refund_deadline', 301],
  ['ops', 'hash', `0x${'1'.repeat(64)}`],
  ['ops', 'delivery_hash', `0x${'1'.repeat(64)}`],
  ['swaps', 'origin_chain', 31_338],
  ['swaps', 'destination_chain', 31_337],
  ['swaps', 'wallet', attacker.address],
  ['swaps', 'input_token', address('8')],
  ['swaps', 'input_amount', 999],
  ['swaps', 'signature', `0x${'1'.repeat(130)}`],
  ['swaps', 'signature', ''],
] as const)(
  'a swap whose %s.%s differs from the signed one is neither paid nor refunded',
  async (table, column, value) => {
    const signed = await signedSwap()
    // The terms that were verified before are others.
    await check().isPayable(signed)
    await set(signed.id, table, column, value)
    const reported: string[] = []
    const changed = await swapOf(signed.id)

    const { isPayable, isRefundable } = check(({ id }) => reported.push(id))
    expect([await isPayable(changed), await isRefundable(changed)]).toEqual([false, false])
    expect((await swapOf(signed.id)).isUnsigned).toBe(true)
    expect(reported).toContain(signed.id)
  },
)

test('a swap whose row differs is reported once, and resumes when it matches the signature again', async () => {
  const { id } = await signedSwap()
  const reported: string[] = []
  const { isPayable } = check((swap) => reported.push(swap.id))
  await set(id, 'ops', 'min_output', 979)
  for (let time = 0; time < 2; time += 1) await isPayable(await swapOf(id))
  await set(id, 'ops', 'min_output', 980)

  expect(await isPayable(await swapOf(id))).toBe(true)
  expect((await swapOf(id)).isUnsigned).toBeUndefined()
  expect(reported).toEqual([id])
})

test('an op whose signature was lost with the database counts as signed if the escrow has locked it', async () => {
  const { id } = await signedSwap()
  await set(id, 'swaps', 'signature', '')

  expect(await check(undefined, 'locked').isPayable(await swapOf(id))).toBe(true)
})

test('an orphan is refunded if its input is locked, and is never paid', async () => {
  const { id } = await signedSwap()
  await set(id, 'ops', 'is_orphan', true)
  await set(id, 'ops', 'recipient', attacker.address)
  const { isPayable, isRefundable } = check(undefined, 'locked')

  expect(await isRefundable(await swapOf(id))).toBe(true)
  expect(await isPayable(await swapOf(id))).toBe(false)
})
