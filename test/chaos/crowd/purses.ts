import type { KeyPairSigner } from '@solana/kit'
import { type Address, concat, type Hex, type TransactionReceipt } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { delay } from '../../bench/clock.ts'
import { setCode } from '../../instant-wallet.ts'
import { patience } from '../../patience.ts'
import type { SolanaWorld } from '../../solana-world.ts'
import { ACCEPTS, CALLER, EMITTER } from '../../strangers.ts'
import type { World, WorldChain } from '../../world.ts'
import type { Party } from '../clients/scene.ts'
import type { EvmChainName } from '../plan.ts'
import { type CrowdAct, hasCode } from './kinds.ts'

/** The contracts and the money of strangers on one chain. */
export type Purse = {
  /** Makes several calls in one transaction, and holds USDC. */
  address: Address
  emitter: Address
  /** A token that nobody lists: its code is what the strangers want it to be. */
  junk: Address
  held: bigint
}
export type Purses = { of(chain: EvmChainName): Purse; solana: KeyPairSigner; solanaHeld: bigint }

const HELD_USD = 100n
const STRANGER = '0x0000000000000000000000000000000000000012'
const MINED_MS = 20_000 * patience
const LOOK_MS = 100

type Worlds = { world: World; solana: SolanaWorld }

/** Contract wallets accept until their act. No reorg removes their code, and no node is too far behind to show it. */
export async function codeWallets(
  { world }: Worlds,
  acts: readonly CrowdAct[],
  parties: readonly Party[],
): Promise<void> {
  const byClient = new Map(parties.map((party) => [party.plan.id, party]))
  for (const act of acts.filter(hasCode)) {
    const wallet = byClient.get(act.client?.id ?? -1)?.wallet.address
    if (wallet) await setCode(world.chainNamed(act.chain), wallet as Address, ACCEPTS)
  }
}

export async function fillPurses(
  { world, solana }: Worlds,
  chainNames: readonly EvmChainName[],
): Promise<Purses> {
  const filled = await Promise.all(
    chainNames.map(async (name) => [name, await fill(world, world.chainNamed(name))] as const),
  )
  const purses = new Map(filled)
  const solanaHeld = HELD_USD * 10n ** 6n
  return {
    of(chain) {
      const purse = purses.get(chain)
      if (!purse) throw new Error(`Strangers have no purse on ${chain}`)
      return purse
    },
    ...{ solana: await solana.wallet({ USDC: solanaHeld }), solanaHeld },
  }
}

const newAddress = () => privateKeyToAddress(generatePrivateKey())

async function fill(world: World, chain: WorldChain): Promise<Purse> {
  const [address, emitter, junk] = [newAddress(), newAddress(), newAddress()]
  await setCode(chain, address, CALLER)
  await setCode(chain, emitter, EMITTER)
  await setCode(chain, junk, await chain.codeOf(chain.token('GEO')))
  // More than enough on the chain with 18 decimals is very little on one with 6.
  const held = HELD_USD * (chain.name === 'beta' ? 10n ** 18n : 10n ** 6n)
  await world.fund(chain, address, 'USDC', held)
  return { address, emitter, junk, held }
}

/** Makes these calls in one transaction. Throws if no block has it in time. */
export async function callFrom(
  chain: WorldChain,
  { address }: Purse,
  ...calls: Hex[]
): Promise<TransactionReceipt> {
  return untilMined(chain, await chain.as(STRANGER, { to: address, data: concat(calls), gas: 3_000_000n }))
}

/** A reorg may remove a transaction for ever. */
export async function untilMined({ client }: WorldChain, hash: Hex): Promise<TransactionReceipt> {
  for (const end = Date.now() + MINED_MS; Date.now() < end; await delay(LOOK_MS)) {
    const receipt = await client.getTransactionReceipt({ hash }).catch(() => undefined)
    if (receipt) return receipt
  }
  throw new Error(`No block has ${hash}`)
}
