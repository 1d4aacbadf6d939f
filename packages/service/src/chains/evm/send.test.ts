import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { stub } from '../../../test/support/stub.ts'
import type { Block, Heads, Sent } from '../chain.ts'
import type { EvmClients } from './client.ts'
import { createOutcomeReader, isSignedFor, sign } from './send.ts'

const blockAt = (number: bigint): Block => ({ number, height: number, hash: `0x${number}`, seconds: 0 })
const headsAt = (head: bigint, hard: bigint, settle = head): Heads => ({
  head: blockAt(head),
  // Of the block at settle depth only the number is known.
  settle: { ...blockAt(head), number: settle },
  hard: blockAt(hard),
})
const sent = [0, 1, 2].map((nonce) => ({ nonce, replacement: 0 }) as Sent)

/** A key whose nonce is a tenth of the block's number. */
function createReader() {
  const asked: (bigint | undefined)[] = []
  const getTransactionCount = async ({ blockNumber }: { blockNumber?: bigint }) => {
    asked.push(blockNumber)
    return Number((blockNumber ?? 0n) / 10n)
  }
  const read = createOutcomeReader(stub<EvmClients>({ agreed: { getTransactionCount } }))
  return { asked, read }
}

test('a key’s nonce is read once per final block, and at the head each time', async () => {
  const { asked, read } = createReader()

  await read('key', sent, headsAt(20n, 10n))
  const { final, consumed, unmined, nextNonce } = await read('key', sent, headsAt(21n, 10n))

  expect(asked).toEqual([20n, 10n, 21n])
  expect([final, consumed, unmined].map((each) => each.map(({ nonce }) => nonce))).toEqual([[0], [1], [2]])
  expect(nextNonce).toBe(2)

  await read('other', sent, headsAt(21n, 10n))
  await read('key', sent, headsAt(31n, 20n))
  expect(asked.slice(3)).toEqual([21n, 10n, 31n, 20n])
})

test('transactions not settled at the head are judged by the settle block', async () => {
  const { asked, read } = createReader()

  const { consumed, unmined } = await read('key', sent, headsAt(20n, 10n, 15n))

  expect([consumed.length, unmined.map(({ nonce }) => nonce)]).toEqual([0, [2]])
  expect(asked).toEqual([20n, 10n, 15n])
})

test('a settle block is read once per head, and never taken for the head', async () => {
  const { asked, read } = createReader()

  for (let i = 0; i < 2; i += 1)
    expect((await read('key', sent, headsAt(20n, 10n, 15n))).consumed).toEqual([])

  expect(asked).toEqual([20n, 10n, 15n])
})

test('for a key without transactions only the head is read', async () => {
  const { asked, read } = createReader()

  expect(await read('key', [], headsAt(20n, 10n))).toMatchObject({ nextNonce: 2, final: [], unmined: [] })
  expect(asked).toEqual([20n])
})

const key = privateKeyToAccount(`0x${'1'.repeat(64)}`)
const fees = { maxFeePerGas: '2', maxPriorityFeePerGas: '1' }
const request = { to: `0x${'a'.repeat(40)}`, data: '0x1234', gas: 21_000, value: '5' }

test('signed bytes match a request with the same recipient, data and value', async () => {
  const { raw } = await sign([key], 1, request, { sender: key.address, nonce: 0, terms: fees })
  const by = { raw, sender: key.address }

  expect(await isSignedFor(request, by)).toBe(true)
  expect(await isSignedFor({ ...request, gas: 1 }, by)).toBe(true)
  expect(await isSignedFor({ ...request, to: `0x${'b'.repeat(40)}` }, by)).toBe(false)
  expect(await isSignedFor({ ...request, data: '0x1235' }, by)).toBe(false)
  expect(await isSignedFor({ ...request, value: '6' }, by)).toBe(false)
  expect(await isSignedFor(request, { ...by, sender: `0x${'c'.repeat(40)}` })).toBe(false)
  for (const raw of ['0x', '0x02ff', 'no hex', by.raw.slice(0, -2)])
    expect(await isSignedFor(request, { ...by, raw })).toBe(false)
})

test('signed bytes match a request only with the same authorizations', async () => {
  const delegate = `0x${'d'.repeat(40)}` as const
  const authorize = async (nonce: number) => {
    const signed = await key.signAuthorization({ chainId: 1, contractAddress: delegate, nonce })
    return { chainId: 1, address: delegate, nonce, yParity: signed.yParity ?? 0, r: signed.r, s: signed.s }
  }
  const [first, second] = [await authorize(1), await authorize(2)]
  const authorized = { ...request, authorizations: [first] }
  const { raw } = await sign([key], 1, authorized, { sender: key.address, nonce: 0, terms: fees })
  const by = { raw, sender: key.address }

  expect(await isSignedFor(authorized, by)).toBe(true)
  expect(await isSignedFor({ ...request, authorizations: [second] }, by)).toBe(false)
  expect(await isSignedFor(request, by)).toBe(false)
})
