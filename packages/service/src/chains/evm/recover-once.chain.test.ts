import { encodeFunctionData, type Hex, numberToHex, parseAbi } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, expect, test } from 'vitest'
import { startStrangersWorld } from '../../../test/support/strangers.ts'
import type { Op } from '../../swap/swap.ts'
import type { OriginWays } from '../chain.ts'
import type { EvmRequest } from './plans.ts'

const world = await startStrangersWorld()
afterAll(() => world.stop())
const { client, chain, relayer, token } = world
const ways = chain.ways as OriginWays
const newAddress = () => privateKeyToAddress(generatePrivateKey())

/**
 * A token of one balance in its first slot, whose transfers fail while gas has a price: CALLDATASIZE tells `balanceOf`,
 * and GASPRICE a simulation.
 */
const FLIPPING_TOKEN = '0x36602414601a573a6016575f5f5560015f5260205ff35b5f5ffd5b5f545f5260205ff3'

/** The address of an op that is over, and the transaction that sends a token back from there. */
async function lying(of = token) {
  const wallet = newAddress()
  const { op, address } = world.opBy(relayer, wallet)
  const { target, data } = world.recover(op, of)
  await client.setBalance({ address: relayer, value: 10n ** 20n })
  return { address, request: { to: target, data, gas: 500_000 } satisfies EvmRequest }
}

const wouldRecover = async (request: EvmRequest) =>
  ways.wouldRecover(request, relayer, await chain.readHeads())

test('a token that answers nothing hides no other at the address of an op', async () => {
  const odd = newAddress()
  await client.setCode({ address: odd, bytecode: '0x00' })
  const reverting = newAddress()
  await client.setCode({ address: reverting, bytecode: '0x5f5ffd' })
  const { address } = await lying()
  await world.send(relayer, { to: token, data: world.mint(address, 5n).data })
  const op = { hash: '0xop', depositAddress: address } as Op
  const { head } = await chain.readHeads()

  expect(await ways.readDeposits([op], [odd, reverting, token], head)).toEqual(
    new Map([['0xop', [{ token, amount: 5n }]]]),
  )
  expect(await ways.readDeposits([op], [odd, reverting], head)).toEqual(new Map())
})

test('a token that lies at the address of an op would come back', async () => {
  const { address, request } = await lying()
  await world.send(relayer, { to: token, data: world.mint(address, 5n).data })

  expect(await wouldRecover(request)).toBe(true)
})

test('nothing would come back from an empty address, or from one that the token has blocked', async () => {
  const empty = await lying()
  const blocked = await lying()
  const blacklist = parseAbi(['function blacklist(address)'])
  const data = encodeFunctionData({ abi: blacklist, args: [blocked.address] })
  await world.send(relayer, { to: token, data: world.mint(blocked.address, 5n).data })
  await world.send(relayer, { to: token, data })

  expect(await wouldRecover(empty.request)).toBe(false)
  expect(await wouldRecover(blocked.request)).toBe(false)
})

test('code that refuses only while gas has a price is seen through', async () => {
  const flipping = newAddress()
  await client.setCode({ address: flipping, bytecode: FLIPPING_TOKEN })
  await client.setStorageAt({ address: flipping, index: numberToHex(0, { size: 32 }), value: word(5n) })
  const { request } = await lying(flipping)

  const free = client.call({ account: relayer, to: request.to, data: request.data as Hex })

  await expect(free).resolves.toBeDefined()
  expect(await wouldRecover(request)).toBe(false)
})

function word(value: bigint): Hex {
  return numberToHex(value, { size: 32 })
}
