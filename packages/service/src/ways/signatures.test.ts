import {
  authorizationDigest,
  authorizationOf,
  encodePayment,
  paymentDigest,
  paymentOf,
  permitDigest,
  permitOf,
} from '@geoswap/protocol'
import { createPublicClient, custom, type Hex, keccak256, padHex, RpcRequestError, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { stub } from '../../test/support/stub.ts'
import type { LockState } from '../chains/chain.ts'
import { createInputCheck, isOpSigned } from '../chains/evm/ways.ts'
import type { SwapState } from '../swap/lifecycle.ts'
import type { Op, SignedInput, Swap } from '../swap/swap.ts'
import { evmWays } from './registry.ts'

type Case = {
  method?: Op['method']
  signature?: string
  isOrphan?: boolean
  state?: SwapState
  isSigned?: boolean
  lock?: LockState | undefined
}

function isSigned({
  method = 'delegation',
  signature = '0x1',
  isOrphan = false,
  state = 'locked',
  ...seen
}: Case) {
  const swap = stub<Swap>({ op: { method, isOrphan }, signature, state })
  return isOpSigned(evmWays, swap, {
    readLock: async () => seen.lock,
    isInputSigned: async () => seen.isSigned ?? false,
  })
}

test.each<[string, Case, boolean]>([
  ['signed by its wallet', { isSigned: true }, true],
  ['signed by somebody else', { isSigned: false, lock: 'none' }, false],
  ['whose signature was lost, and that is locked', { signature: '', lock: 'locked' }, true],
  ['whose signature was lost', { signature: '', isSigned: true, lock: 'none' }, false],
  ['whose signature was lost, and that no node knows', { signature: '', isSigned: true }, false],
  ['of which only the lock is known', { isOrphan: true, lock: 'locked' }, true],
  ['of which not even the lock is known', { isOrphan: true, isSigned: true, lock: 'none' }, false],
  [
    'whose contract wallet withdrew its signature after the lock',
    { method: 'authorization', lock: 'locked' },
    true,
  ],
  ['whose contract wallet did not sign', { method: 'authorization', lock: 'none' }, false],
  ['whose permit somebody else signed', { method: 'permit', lock: 'none' }, false],
  ['whose token changed its domain after the lock', { method: 'permit', lock: 'locked' }, true],
  ['whose lock a reorg undid', { method: 'permit', lock: 'none', isSigned: true }, true],
  ['whose lock was missed', { method: 'permit', state: 'locking', lock: 'locked' }, true],
  ['whose deposit is not locked yet', { method: 'deposit', state: 'accepted', signature: '' }, true],
  ['whose deposit is locked', { method: 'deposit', lock: 'locked', signature: '' }, true],
  ['whose deposit is not locked', { method: 'deposit', lock: 'none', isSigned: true }, false],
])('an op %s counts as signed, or not: %o is %s', async (_, seen, expected) => {
  expect(await isSigned(seen)).toBe(expected)
})

test.each(['authorization', 'permit', 'deposit'] as const)(
  'neither wallet nor token is asked about an input that came by %s and is locked',
  async (method) => {
    const swap = stub<Swap>({ op: { method }, signature: '0x1', state: 'claiming' })
    const isInputSigned = () => expect.unreachable('The slot proves the terms')

    expect(await isOpSigned(evmWays, swap, { readLock: async () => 'locked', isInputSigned })).toBe(true)
  },
)

const owner = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const stranger = privateKeyToAccount(`0x${'22'.repeat(32)}`)
const escrow: Hex = `0x${'1'.repeat(40)}`
const [hash, separator] = [keccak256(toHex('op')), keccak256(toHex('domain'))]
const input = stub<SignedInput>({
  ...{
    method: 'delegation',
    hash,
    wallet: owner.address,
    inputToken: `0x${'2'.repeat(40)}`,
    inputAmount: 7n,
    opDeadline: 100,
  },
})
const paid = { wallet: owner.address, inputAmount: 7n, opDeadline: 100n }
const authorization = authorizationDigest(separator, authorizationOf({ escrow }, hash, paid))
const permit = (nonce: bigint) => permitDigest(separator, permitOf({ escrow }, hash, { ...paid, nonce }))

const fail = (code: number) => {
  throw new RpcRequestError({ body: {}, url: 'http://node', error: { code, message: 'failed' } })
}
const DOMAIN_SEPARATOR = keccak256(toHex('DOMAIN_SEPARATOR()')).slice(0, 10)

/** A node whose token has a domain, and whose answer about the wallet is this. */
function nodeWith(answer: () => Hex = () => padHex('0x', { size: 96 })) {
  const domains: string[] = []
  const request = async ({ method, params }: { method: string; params?: [{ data?: string }] }) => {
    if (!params?.[0].data?.startsWith(DOMAIN_SEPARATOR)) return answer()
    domains.push(method)
    return separator
  }
  const client = createPublicClient({ transport: custom({ request }, { retryCount: 0 }) })
  return { domains, check: createInputCheck(evmWays, client, { escrow }) }
}

test.each<[string, Partial<SignedInput>, Hex, boolean]>([
  ['its op', {}, hash, true],
  ['another op', {}, authorization, false],
  ['its authorization', { method: 'authorization' }, authorization, true],
  ['a permit instead of its authorization', { method: 'authorization' }, permit(0n), false],
  ['its first permit', { method: 'permit' }, permit(0n), true],
  ['its permit', { method: 'permit', permitNonce: 5n }, permit(5n), true],
  ['an earlier permit', { method: 'permit', permitNonce: 5n }, permit(4n), false],
  ['a deposit, which needs no signature', { method: 'deposit' }, hash, false],
  ['a permit instead of a deposit', { method: 'deposit' }, permit(0n), false],
])('a wallet that signed %s has signed for its input, or not', async (_, change, digest, expected) => {
  const signature = await owner.sign({ hash: digest })

  expect(await nodeWith().check({ ...input, ...change }, signature)).toBe(expected)
})

const terms = { validAfter: 0n, validBefore: 101n, nonce: keccak256(toHex('nonce')) }

test.each<[string, { signer?: typeof owner; signed?: object; stored?: object }, boolean]>([
  ['by its wallet', {}, true],
  ['by somebody else', { signer: stranger }, false],
  ['of another amount', { signed: { inputAmount: 8n } }, false],
  ['with another nonce', { stored: { nonce: hash } }, false],
  ['with another end', { stored: { validBefore: 102n } }, false],
  ['that ends with the op', { signed: { validBefore: 100n }, stored: { validBefore: 100n } }, false],
])('a payment that was signed %s pays for the op, or not', async (_, change, expected) => {
  const { signer = owner, signed, stored } = change
  const message = paymentOf({ escrow }, hash, { ...paid, ...terms, ...signed })
  const signature = await signer.sign({ hash: paymentDigest(separator, message) })

  const payment = encodePayment({ ...terms, ...stored, signature })

  expect(await nodeWith().check({ ...input, method: 'payment' }, payment)).toBe(expected)
  expect(await nodeWith().check({ ...input, method: 'payment' }, signature)).toBe(false)
})

test('the domain of a token is read once', async () => {
  const { domains, check } = nodeWith()
  const signature = await owner.sign({ hash: authorization })

  for (let time = 0; time < 2; time += 1)
    expect(await check({ ...input, method: 'authorization' }, signature)).toBe(true)

  expect(domains).toHaveLength(1)
})

test('a node that does not answer does not refuse a signature', async () => {
  const { check } = nodeWith(() => fail(-32_005))
  const signature = await stranger.sign({ hash: authorization })

  await expect(check({ ...input, method: 'authorization' }, signature)).rejects.toThrow('failed')
})
