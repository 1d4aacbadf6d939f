import type { DecodedDelivery } from '@geoswap/solana-escrow'
import type { Address } from '@solana/kit'
import type { DeliveryTerms, LockTerms, RecoveryChain } from '../recovery.ts'
import { isNative } from './accounts.ts'
import { readMarkers, searchDelivery } from './deliveries.ts'
import type { SolanaBlock } from './heads.ts'
import { readInputTerms } from './input.ts'
import type { SolanaParts } from './parts.ts'
import { readTransaction, type Transaction } from './transaction.ts'

// A blockhash is valid for 150 blocks (Agave's MAX_PROCESSING_AGE), and is a little older when it signs.
const BLOCKHASH_LIFE = 150n
// More than can be in flight at once: a late transaction was signed shortly before.
const NEWEST = 1_000

/** Recovers the terms of inputs and deliveries from our transactions. Of the op they contain only the hash. */
export function createSolanaRecovery(parts: SolanaParts): RecoveryChain {
  return {
    chainId: parts.settings.chainId,
    findLockTerms: (txHash, op) => findLockTerms(parts, txHash, op),
    findDeliveryTerms: (txHash, delivery) => findDeliveryTerms(parts, txHash, delivery),
    async findDelivery(deliveryHash, _since, at) {
      const [marker] = await readMarkers(parts, [deliveryHash], at as SolanaBlock)
      // A swept marker leaves only its history.
      const landing = await searchDelivery(parts, deliveryHash, at as SolanaBlock)
      if (landing) return { txHash: landing.txHash, block: landing.slot, amount: landing.amount }
      if (marker) throw new Error(`A marker of ${deliveryHash} exists without its delivery`)
      return undefined
    },
    named: {
      read: (sender) => readNamed(parts, sender),
      isPaidBy: async (txHash, sender) => (await readLanded(parts, txHash)).accounts[0] === sender,
    },
    expiryOf: ({ height }) => height + BLOCKHASH_LIFE,
  }
}

async function readLanded({ client, settings }: SolanaParts, txHash: string): Promise<Transaction> {
  const query = { txHash, commitment: 'confirmed', program: settings.program } as const
  const found = await readTransaction(client.agreed, query)
  if (!found) throw new Error(`The node lists ${txHash} but does not return it`)
  return found
}

async function findLockTerms(parts: SolanaParts, txHash: string, op: string): Promise<LockTerms | undefined> {
  const landed = await readLanded(parts, txHash)
  const terms = await readInputTerms(parts.settings, landed)
  if (!terms || landed.failed || `0x${terms.opId}` !== op) return undefined
  return {
    wallet: terms.wallet,
    locker: terms.feePayer,
    inputToken: terms.token,
    inputAmount: terms.amount,
    refundDeadline: terms.refundDeadline,
    deliveryHash: op,
    method: 'transaction',
    seconds: landed.seconds,
  }
}

async function findDeliveryTerms(
  parts: SolanaParts,
  txHash: string,
  deliveryHash: string,
): Promise<DeliveryTerms | undefined> {
  const landed = await readLanded(parts, txHash)
  const made = landed.escrow.find(
    (each): each is DecodedDelivery => each.kind === 'deliver' && each.opId === deliveryHash,
  )
  if (!made) return undefined
  const paid = landed.tokens.find(({ account }) => account === made.destination)
  const recipient = isNative(made) ? made.destination : paid?.owner
  return recipient === undefined ? undefined : { outputToken: made.mint, recipient }
}

/** Newest first. Anyone can write a memo, so it alone proves nothing. */
async function readNamed({ client }: SolanaParts, sender: string) {
  const options = { commitment: 'confirmed', limit: NEWEST } as const
  const found = await client.agreed.rpc.getSignaturesForAddress(sender as Address, options).send()
  return found
    .filter(({ memo }) => memo !== null && /\b[0-9a-f]{64}\b/.test(memo))
    .map(({ signature, slot }) => ({ txHash: signature as string, block: slot }))
}
