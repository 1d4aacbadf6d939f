import { expect, test } from 'vitest'
import type { Delegation } from '../chains/chain.ts'
import type { SignedDelegation } from '../swap/swap.ts'
import { getDelegation } from './delegation.ts'

const TARGET = '0xAb'
const signed: SignedDelegation = { chainId: 1, address: '0xaB', nonce: 4, yParity: 0, r: '0x1', s: '0x2' }
const plain: Delegation = { kind: 'none', nonce: 4, pendingNonce: 4 }
const older: Delegation = { kind: 'older', delegate: '0xd', nonce: 4, pendingNonce: 4 }

const ask = (state: Delegation, given?: SignedDelegation, isSigned = true) =>
  getDelegation(
    {
      ...{ wallet: '0xw', chainId: 1, delegationTarget: TARGET, others: ['deposit'] },
      isDelegationSigned: async (wallet) => isSigned && wallet === '0xw',
    },
    state,
    given,
  )

test.each<[string, Delegation]>([
  ['is delegated to us', { kind: 'ours', delegate: TARGET }],
  ['needs no delegation', { kind: 'unneeded' }],
])('a wallet that %s needs no delegation, and one is ignored', async (_, state) => {
  expect(await ask(state)).toBeUndefined()
  expect(await ask(state, { ...signed, nonce: 9 })).toBeUndefined()
})

test.each([plain, older])(
  'a wallet that is $kind delegates to our code in any case of letters',
  async (state) => {
    expect(await ask(state, signed)).toEqual({ ...signed, address: TARGET })
  },
)

const toSign = { chainId: 1, delegationTarget: TARGET, accountNonce: 4 }
const methods = ['deposit']
const pending: Delegation = { kind: 'none', nonce: 4, pendingNonce: 5 }

test.each<[string, string, Delegation, SignedDelegation | undefined, object]>([
  ['UNSUPPORTED_DELEGATION', 'other code', { kind: 'foreign', delegate: '0xf' }, signed, { methods }],
  ['UNSUPPORTED_DELEGATION', 'a contract', { kind: 'contract' }, signed, { methods }],
  ['NEEDS_DELEGATION', 'no delegation', plain, undefined, { ...toSign, methods }],
  ['INVALID_AUTHORIZATION_SIGNATURE', 'one for every chain', plain, { ...signed, chainId: 0 }, toSign],
  ['INVALID_AUTHORIZATION_SIGNATURE', 'one for other code', plain, { ...signed, address: '0xee' }, toSign],
  ['INVALID_AUTHORIZATION', 'an old nonce', plain, { ...signed, nonce: 3 }, toSign],
  ['INVALID_AUTHORIZATION', 'a transaction that is pending', pending, signed, toSign],
])('%s answers %s', async (code, _, state, given, recovery) => {
  await expect(ask(state, given)).rejects.toMatchObject({ code, recovery })
})

test('INVALID_AUTHORIZATION_SIGNATURE answers what somebody else signed', async () => {
  await expect(ask(plain, signed, false)).rejects.toMatchObject({ code: 'INVALID_AUTHORIZATION_SIGNATURE' })
})

test('a pending transaction of the wallet is named as the reason', async () => {
  await expect(ask(pending, signed)).rejects.toThrow('has a transaction of its own pending')
  await expect(ask(plain, { ...signed, nonce: 3 })).rejects.not.toThrow('pending')
})
