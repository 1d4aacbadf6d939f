import { readFileSync } from 'node:fs'
import { type Address, getAddress, type Hex, hashStruct, hashTypedData, sliceHex } from 'viem'
import { expect, test } from 'vitest'
import { ask } from '../scripts/chain.ts'
import { readEscrow, readVault } from './calls.ts'
import { opTypes } from './op.ts'
import { createWorld, readCode, type World } from './world.ts'

type Numbers<T extends string> = { [field in T]: string }
type Vector = {
  name: string
  chainId: number
  verifyingContract: Address
  op: Numbers<'inputAmount' | 'index' | 'opDeadline' | 'refundDeadline'> & {
    wallet: Address
    inputToken: Address
    locker: Address
    delivery: Numbers<'index' | 'destinationChain' | 'minOutput' | 'fillDeadline'> & {
      ring: Hex
      vault: Hex
      outputToken: Hex
      recipient: Hex
    }
  }
  deliveryHash: Hex
  opHash: Hex
}

const file = new URL('../vectors/geo-op.json', import.meta.url)
const vectors: Vector[] = JSON.parse(readFileSync(file, 'utf8'))
const worlds = new Map<number, World>()
for (const id of new Set(vectors.map(({ chainId }) => chainId))) worlds.set(id, await createWorld({ id }))

function toMessage({ op }: Vector) {
  const { delivery } = op
  return {
    ...op,
    inputAmount: BigInt(op.inputAmount),
    index: BigInt(op.index),
    opDeadline: BigInt(op.opDeadline),
    refundDeadline: BigInt(op.refundDeadline),
    delivery: {
      ...delivery,
      index: BigInt(delivery.index),
      destinationChain: BigInt(delivery.destinationChain),
      minOutput: BigInt(delivery.minOutput),
      fillDeadline: BigInt(delivery.fillDeadline),
    },
  }
}

/** The world of a vector's chain, with its escrow and vault at the vector's addresses. */
async function placeContracts(vector: Vector): Promise<World> {
  const world = worlds.get(vector.chainId)
  if (!world) throw new Error(`no chain ${vector.chainId}`)
  const vault = getAddress(sliceHex(vector.op.delivery.vault, 12))
  const escrow = vector.verifyingContract
  await ask(world.chain, 'hardhat_setCode', [escrow, await readCode(world, world.escrow)])
  await ask(world.chain, 'hardhat_setCode', [vault, await readCode(world, world.vault)])
  return { ...world, escrow, vault }
}

test('there are a dozen vectors, each with a different hash', () => {
  expect(new Set(vectors.map(({ opHash }) => opHash)).size).toBe(12)
})

test.each(vectors)('TypeScript and Solidity compute the same hash: $name', async (vector) => {
  const world = await placeContracts(vector)
  const message = toMessage(vector)
  const { verifyingContract, chainId, deliveryHash, opHash } = vector
  const domain = { name: 'GeoEscrow', version: '1', chainId, verifyingContract }

  expect(hashStruct({ data: message.delivery, types: opTypes, primaryType: 'Delivery' })).toBe(deliveryHash)
  expect(hashTypedData({ domain, types: opTypes, primaryType: 'GeoOp', message })).toBe(opHash)
  const op = { ...message, delivery: deliveryHash }
  expect(await readEscrow(world, 'hashOp', [op, message.locker])).toBe(opHash)
})

const local = vectors.filter(({ chainId, op }) => String(chainId) === op.delivery.destinationChain)

test.each(local)('the vault computes the same delivery hash on its own chain: $name', async (vector) => {
  const world = await placeContracts(vector)
  const { delivery } = toMessage(vector)
  const [token, recipient] = [sliceHex(delivery.outputToken, 12), sliceHex(delivery.recipient, 12)]
  const fill = { ...delivery, amount: 0n, recipient }

  expect(await readVault(world, 'hashDelivery', [delivery.ring, token, fill])).toBe(vector.deliveryHash)
})
