import { getAddress, zeroAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import type { Delegation } from '../chains/chain.ts'
import type { SignedDelegation } from '../swap/swap.ts'
import { getDelegation } from './delegation.ts'

const TARGET = getAddress(`0x${'ab'.repeat(20)}`)
const owner = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const plain: Delegation = { kind: 'none', nonce: 4, pendingNonce: 4 }
const older: Delegation = { kind: 'older', delegate: '0xd', nonce: 4, pendingNonce: 4 }

async function sign(change: object = {}, by = owner): Promise<SignedDelegation> {
  const { yParity = 0, ...rest } = await by.signAuthorization({
    ...{ chainId: 1, contractAddress: TARGET, nonce: 4 },
    ...change,
  })
  return { ...rest, yParity }
}
const signed = await sign()
const toOther = await sign({ contractAddress: zeroAddress })
const stale = await sign({ nonce: 3 })

const ask = (state: Delegation, given?: SignedDelegation) =>
  getDelegation(
    { wallet: owner.address, chainId: 1, delegationTarget: TARGET, others: ['deposit'] },
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
    const given = { ...signed, address: signed.address.toLowerCase() }

    expect(await ask(state, given)).toEqual(signed)
  },
)

const toSign = { chainId: 1, delegationTarget: TARGET, accountNonce: 4 }
const methods = ['deposit']
const pending: Delegation = { kind: 'none', nonce: 4, pendingNonce: 5 }

test.each<[string, string, Delegation, SignedDelegation | undefined, object]>([
  ['UNSUPPORTED_DELEGATION', 'other code', { kind: 'foreign', delegate: '0xf' }, signed, { methods }],
  ['UNSUPPORTED_DELEGATION', 'a contract', { kind: 'contract' }, signed, { methods }],
  ['NEEDS_DELEGATION', 'no delegation', plain, undefined, { ...toSign, methods }],
  ['INVALID_AUTHORIZATION_SIGNATURE', 'one for every chain', plain, await sign({ chainId: 0 }), toSign],
  ['INVALID_AUTHORIZATION_SIGNATURE', 'one for other code', plain, toOther, toSign],
  ['INVALID_AUTHORIZATION', 'an old nonce', plain, stale, toSign],
  ['INVALID_AUTHORIZATION', 'a transaction that is pending', pending, signed, toSign],
])('%s answers %s', async (code, _, state, given, recovery) => {
  await expect(ask(state, given)).rejects.toMatchObject({ code, recovery })
})

test('INVALID_AUTHORIZATION_SIGNATURE answers what somebody else signed', async () => {
  const byOther = await sign({}, privateKeyToAccount(`0x${'22'.repeat(32)}`))

  await expect(ask(plain, byOther)).rejects.toMatchObject({ code: 'INVALID_AUTHORIZATION_SIGNATURE' })
})

test('a pending transaction of the wallet is named as the reason', async () => {
  await expect(ask(pending, signed)).rejects.toThrow('has a transaction of its own pending')
  await expect(ask(plain, stale)).rejects.not.toThrow('pending')
})
