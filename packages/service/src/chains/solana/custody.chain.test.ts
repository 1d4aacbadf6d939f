import { generateKeyPairSigner } from '@solana/kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { OP_HASH, type SolanaWorld, startSolanaWorld, type TestMint } from '../../../test/support/solana.ts'
import type { SolanaClients } from './client.ts'
import { createSolanaCustody } from './custody.ts'
import { createSolanaParts } from './parts.ts'
import { buildPayment } from './payment.ts'
import type { SolanaChainSettings } from './settings.ts'

const FINALIZED_SLOTS = 32

let world: SolanaWorld
let usdc: TestMint

beforeAll(async () => {
  world = await startSolanaWorld()
  usdc = await world.createMint()
  for (const owner of [world.intake, world.authority]) await world.give(usdc, owner.address, 1_000n)
})
afterAll(() => world.chain.stop())

/** The ledger of an operator whose configured fee payers differ from the one that pays here. */
async function readBooks(senders: readonly string[]) {
  const { client, intake, authority } = world
  const another = (await generateKeyPairSigner()).address
  const settings = {
    chainId: 1,
    tokens: [usdc.mint],
    feePayers: { input: another, delivery: another },
    vaults: { intake: intake.address, inventory: authority.address },
  }
  const clients = { agreed: client } as unknown as SolanaClients
  const parts = createSolanaParts({
    client: clients,
    settings: settings as unknown as SolanaChainSettings,
    signers: [],
    findSigned: undefined,
  })
  const slot = await client.rpc.getSlot({ commitment: 'finalized' }).send()
  const hard = { number: slot, height: slot, hash: '', seconds: 0 }
  return createSolanaCustody({ ...parts, facts: { ...parts.facts, tokenOf: async () => usdc } }).readCustody(
    0n,
    hard,
    senders,
  )
}

test('a payment of a replaced fee payer is our delivery; a payment of a stranger is not', async () => {
  const { address: to } = await generateKeyPairSigner()
  const delivery = await world.payment({ to, token: usdc, amount: 7n, createRecipientAccount: true })
  const { raw, txHash } = await buildPayment(world.vault, delivery)
  await world.land(raw)
  await world.advance(FINALIZED_SLOTS)
  const eventsFor = async (senders: readonly string[]) =>
    (await readBooks(senders)).events.filter((event) => event.txHash === txHash)

  const known = await eventsFor([world.feePayer.address])
  const unknown = await eventsFor([])

  expect(known).toMatchObject([
    { kind: 'delivered', delivery: OP_HASH, token: usdc.mint, amount: 7n },
    { kind: 'spent', op: OP_HASH },
  ])
  expect(unknown).toMatchObject([{ kind: 'left', place: 'vault', amount: 7n }])
})
