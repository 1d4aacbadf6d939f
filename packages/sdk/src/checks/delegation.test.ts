import type { DelegationReply } from '@geoswap/wire'
import { zeroAddress } from 'viem'
import { expect, test } from 'vitest'
import { account, addressOf } from '../../test/evm-offer.ts'
import { needsAuthorization, toAuthorizationFields } from '../authorize.ts'
import { TamperedOperationError } from '../errors.ts'

const wallet = { chainId: 31_337, walletAddress: addressOf('a') }
const honest: DelegationReply = {
  ...wallet,
  caip: { chainId: 'eip155:31337', walletAddress: `eip155:31337:${addressOf('a')}` },
  delegated: false,
  originReady: false,
  delegationTarget: account,
  accountNonce: 0,
}

test('the authorization names this chain, the known account and the next nonce', () => {
  const told = { ...honest, walletAddress: honest.walletAddress.toLowerCase(), accountNonce: 7 }

  expect(toAuthorizationFields(honest, wallet, account)).toEqual({
    chainId: 31_337,
    address: account,
    nonce: 0,
  })
  expect(toAuthorizationFields(told, wallet, account.toLowerCase())).toMatchObject({ nonce: 7 })
})

test.each<[string, Partial<DelegationReply>, string, string[]]>([
  ['for another chain', { chainId: 1 }, account, ['delegation.chainId']],
  ['for another wallet', { walletAddress: addressOf('b') }, account, ['delegation.walletAddress']],
  ['to another contract', { delegationTarget: addressOf('b') }, account, ['delegationTarget']],
  ['that removes the code', { delegationTarget: zeroAddress }, zeroAddress, ['delegationTarget']],
  ['with a nonce below zero', { accountNonce: -1 }, account, ['accountNonce']],
  ['with a fraction as nonce', { accountNonce: 0.5 }, account, ['accountNonce']],
  ['with a nonce that is not exact', { accountNonce: 2 ** 53 }, account, ['accountNonce']],
])('an authorization %s is refused', (_, change, known, fields) => {
  const sign = () => toAuthorizationFields({ ...honest, ...change }, wallet, known)

  expect(sign).toThrow(TamperedOperationError)
  expect(sign).toThrow(
    expect.objectContaining({ differences: fields.map((field) => expect.objectContaining({ field })) }),
  )
})

const { delegationTarget: _target, ...withoutTarget } = honest
const { accountNonce: _nonce, ...withoutNonce } = honest

test.each<[string, DelegationReply, boolean]>([
  ['that is not ready authorizes', honest, true],
  ['that is ready authorizes nothing', { ...honest, originReady: true }, false],
  ['authorizes nothing if the service names no contract', withoutTarget, false],
  ['authorizes nothing if the service names no nonce', withoutNonce, false],
])('a wallet %s', (_, delegation, isNeeded) => {
  expect(needsAuthorization(delegation)).toBe(isNeeded)
})
