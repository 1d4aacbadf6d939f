import {
  authorizationDigest,
  authorizationOf,
  permitDigest,
  permitOf,
  VALID_SIGNATURE,
} from '@geoswap/protocol'
import { createPublicClient, custom, type Hex, keccak256, padHex, RpcRequestError, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import type { SwapState } from '../../model/lifecycle.ts'
import type { Op, SignedInput, Swap } from '../../model/swap.ts'
import type { LockState } from '../chain.ts'
import { createInputCheck, isOpSigned } from './signed-op.ts'

type Case = {
  method?: Op['method']
  signature?: string
  isOrphan?: boolean
  state?: SwapState
  isSigned?: boolean
  lock?: LockState | undefined
}

function isSigned({ method, signature = '0x1', isOrphan = false, state = 'locked', ...seen }: Case) {
  const swap = { op: { method, isOrphan }, signature, state } as unknown as Swap
  return isOpSigned(swap, {
    readLock: async () => seen.lock,
    isInputSigned: async () => seen.isSigned ?? false,
  })
}

test.each<[string, Case, boolean]>([
  ['signed by its wallet', { isSigned: true }, true],
  ['signed by somebody else', { isSigned: false, lock: 'locked' }, false],
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
  ['whose permit somebody else signed', { method: 'permit', lock: 'locked' }, false],
  ['whose deposit is not locked yet', { method: 'deposit', state: 'accepted', signature: '' }, true],
  ['whose deposit is locked', { method: 'deposit', lock: 'locked', signature: '' }, true],
  ['whose deposit is not locked', { method: 'deposit', lock: 'none', isSigned: true }, false],
])('an op %s counts as signed, or not: %o is %s', async (_, seen, expected) => {
  expect(await isSigned(seen)).toBe(expected)
})

const owner = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const stranger = privateKeyToAccount(`0x${'22'.repeat(32)}`)
const escrow: Hex = `0x${'1'.repeat(40)}`
const [hash, separator] = [keccak256(toHex('op')), keccak256(toHex('domain'))]
const input = {
  ...{ hash, wallet: owner.address, inputToken: `0x${'2'.repeat(40)}`, inputAmount: 7n, opDeadline: 100 },
} as unknown as SignedInput
const paid = { wallet: owner.address, inputAmount: 7n, opDeadline: 100n }
const authorization = authorizationDigest(separator, authorizationOf({ escrow }, hash, paid))
const permit = (nonce: bigint) => permitDigest(separator, permitOf({ escrow }, hash, { ...paid, nonce }))

const fail = (message: string) => {
  throw new RpcRequestError({ body: {}, url: 'http://node', error: { code: 3, message } })
}
const DOMAIN_SEPARATOR = keccak256(toHex('DOMAIN_SEPARATOR()')).slice(0, 10)

/** A node whose wallet answers so, with or without code. */
function nodeWith(answer: () => Hex = () => '0x', code: Hex = '0x') {
  const domains: string[] = []
  const request = async ({ method, params }: { method: string; params?: [{ data?: string }] }) => {
    if (method === 'eth_getCode') return code
    if (!params?.[0].data?.startsWith(DOMAIN_SEPARATOR)) return answer()
    domains.push(method)
    return separator
  }
  const client = createPublicClient({ transport: custom({ request }, { retryCount: 0 }) })
  return { domains, check: createInputCheck(client, { escrow }) }
}

test.each<[string, Partial<SignedInput>, Hex, boolean]>([
  ['its op, by default', {}, hash, true],
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

const accepts = () => padHex(VALID_SIGNATURE, { dir: 'right', size: 32 })

test.each<[string, ReturnType<typeof nodeWith>, boolean]>([
  ['accepts it', nodeWith(accepts, '0x60'), true],
  ['does not accept it', nodeWith(() => padHex('0xff', { dir: 'right', size: 32 }), '0x60'), false],
  ['reverts', nodeWith(() => fail('execution reverted'), '0x60'), false],
  ['has no code', nodeWith(), false],
])('a signature of somebody else counts if the contract of the wallet %s', async (_, node, expected) => {
  const signature = await stranger.sign({ hash: authorization })

  expect(await node.check({ ...input, method: 'authorization' }, signature)).toBe(expected)
  expect(await node.check({ ...input, method: 'permit' }, signature)).toBe(false)
  // It does not change: it is read once.
  expect(node.domains).toHaveLength(1)
})

test('a node that does not answer does not refuse a signature', async () => {
  const { check } = nodeWith(() => fail('too many requests'), '0x60')
  const signature = await stranger.sign({ hash: authorization })

  await expect(check({ ...input, method: 'authorization' }, signature)).rejects.toThrow('too many requests')
})
