import { expect, test } from 'vitest'
import { stub } from '../../../test/support/stub.ts'
import type { Delegation, OriginChain } from '../../chains/chain.ts'
import type { ServiceError } from '../../errors.ts'
import type { Catalog } from '../../swap/catalog.ts'
import { delegation } from './delegation.ts'

const catalog = stub<Catalog>({
  chains: new Map([
    [1, { chainId: 1, name: 'alpha', family: 'evm' }],
    [3, { chainId: 3, name: 'solana', family: 'solana' }],
  ]),
})

type Asked = { chainId?: number | string; walletAddress?: string }

/** Asks about a wallet in this state. Returns the answer, and the wallets that are remembered as delegated. */
async function ask(state: Delegation | Error, { chainId = 1, walletAddress = '0xA' }: Asked = {}) {
  const remembered: string[] = []
  const readDelegation = async () => {
    if (state instanceof Error) throw state
    return state
  }
  const reply = await delegation(
    {
      catalog,
      originOf: () => stub<OriginChain>({ readDelegation }),
      addressesOf: ({ family }) => ({
        form: 'an address',
        parse: (text) => (text === 'bad' ? undefined : `${family} ${text.toLowerCase()}`),
      }),
      delegationTargetOf: (id) => `target of ${id}`,
      rememberDelegated: (id, wallet) => remembered.push(`${id} ${wallet}`),
    },
    { chainId, walletAddress },
  )
  return { reply, remembered }
}

const refusal = (state: Delegation | Error, asked: Asked) =>
  ask(state, asked).then(
    () => Promise.reject(new Error('Expected a refusal')),
    (error: ServiceError) => error,
  )

const named = { chainId: 1, walletAddress: 'evm 0xa' }
const toSign = { delegationTarget: 'target of 1', accountNonce: 4 }

test.each<[string, Delegation, object]>([
  [
    'delegated to us is ready',
    { kind: 'ours', delegate: '0xd' },
    { delegated: true, originReady: true, delegatedTo: '0xd' },
  ],
  [
    'delegated to somebody else is not ready',
    { kind: 'foreign', delegate: '0xf' },
    { delegated: true, originReady: false, delegatedTo: '0xf' },
  ],
  [
    'delegated to an older delegate of ours can move on',
    { kind: 'older', delegate: '0xe', nonce: 4, pendingNonce: 5 },
    { delegated: true, originReady: false, delegatedTo: '0xe', ...toSign },
  ],
  ['that needs no delegation is ready', { kind: 'unneeded' }, { delegated: false, originReady: true }],
  ['with ordinary code has nothing to sign', { kind: 'contract' }, { delegated: false, originReady: false }],
  [
    'without code has to sign',
    { kind: 'none', nonce: 4, pendingNonce: 5 },
    { delegated: false, originReady: false, ...toSign },
  ],
])('a wallet %s', async (_, state, answer) => {
  const { reply, remembered } = await ask(state)

  const caip = { chainId: 'eip155:1', walletAddress: 'eip155:1:evm 0xa' }
  expect(reply).toEqual({ ...named, caip, ...answer })
  expect(remembered).toEqual(state.kind === 'ours' ? ['1 evm 0xa'] : [])
})

test('chain and wallet can be named by their CAIP ids', async () => {
  const { reply } = await ask({ kind: 'unneeded' }, { chainId: 'solana:3', walletAddress: 'solana:3:Abc' })

  expect(reply).toMatchObject({ chainId: 3, walletAddress: 'solana abc' })
})

test('422 UNSUPPORTED_CHAIN answers a chain that is not served', async () => {
  expect(await refusal({ kind: 'unneeded' }, { chainId: 9 })).toMatchObject({
    code: 'UNSUPPORTED_CHAIN',
    details: { chainId: 9 },
  })
})

test.each([
  ['no address', 'bad', expect.stringContaining('must be an address')],
  ['an account of another chain', 'eip155:2:0xa', 'is on eip155:2, not on eip155:1'],
])('400 INVALID_REQUEST answers %s', async (_, walletAddress, message) => {
  expect(await refusal({ kind: 'unneeded' }, { walletAddress })).toMatchObject({
    code: 'INVALID_REQUEST',
    details: { issues: [{ field: 'walletAddress', message }] },
  })
})

test('503 CHAIN_UNAVAILABLE answers while no node does', async () => {
  expect((await refusal(new Error('silent'), {})).code).toBe('CHAIN_UNAVAILABLE')
})
