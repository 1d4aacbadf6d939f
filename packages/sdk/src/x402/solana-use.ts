import { callNode } from '../checks/deployment.ts'
import type { SolanaPayment } from './family.ts'
import { accountsOf, isOf, toMessage } from './transaction.ts'

type Landed = {
  signature: string
  slot: number
  err: unknown
  memo: string | null
  confirmationStatus: string
}

const PAGE = 1_000
const MAX_PAGES = 10
const MAX_READ = 50

/**
 * Whether the transaction of a payment landed, or still can. Its signature is the fee payer's, which only the seller
 * knows, so it is searched for among those of the payer's token account.
 */
export async function readUse(rpcUrl: string, payment: SolanaPayment): Promise<'open' | 'taken' | 'over'> {
  const { lastValidBlockHeight, slot } = payment.life
  // Before the search: a block that comes after it is too late, or not one of those that it proves to be empty.
  const finalized = (await callNode(rpcUrl, 'getEpochInfo', [{ commitment: 'finalized' }])) as {
    absoluteSlot: number
    blockHeight: number
  }
  const found = await findLanded(rpcUrl, payment, finalized.absoluteSlot)
  if (found && found !== 'unknown') {
    if (found.err === null) return 'taken'
    // Failed for good: a chain takes a message once.
    return found.confirmationStatus === 'finalized' ? 'over' : 'open'
  }
  if (finalized.blockHeight <= lastValidBlockHeight) return 'open'
  const first = await callNode(rpcUrl, 'getFirstAvailableBlock', [])
  // Where the blocks or the search are incomplete, it may have landed.
  return found === 'unknown' || !(Number(first) <= slot) ? 'taken' : 'over'
}

/** The transaction that has the message of this payment. */
async function findLanded(
  rpcUrl: string,
  payment: SolanaPayment,
  minContextSlot: number,
): Promise<Landed | 'unknown' | undefined> {
  const message = await toMessage(payment)
  const [, , source = ''] = await accountsOf(payment.asset, payment.transfer)
  const landed = await listSince(rpcUrl, { account: source, since: payment.life.slot, minContextSlot })
  if (!landed) return 'unknown'
  const alike = landed.filter(({ memo }) => memo?.includes(payment.transfer.memo)).reverse()
  for (const each of alike.slice(0, MAX_READ)) {
    // Of any version: only bytes are compared.
    const options = { commitment: 'confirmed', encoding: 'base64', maxSupportedTransactionVersion: 255 }
    const read = (await callNode(rpcUrl, 'getTransaction', [each.signature, options])) as {
      transaction: [string, string]
    } | null
    if (read === null) return 'unknown'
    if (isOf(read.transaction[0], message)) return each
  }
  return alike.length > MAX_READ ? 'unknown' : undefined
}

type Search = { account: string; since: number; minContextSlot: number }

/** All that touched the account since a slot, the newest first; undefined if there are too many to tell. */
async function listSince(rpcUrl: string, { account, since, minContextSlot }: Search) {
  const all: Landed[] = []
  let before: string | undefined
  for (let page = 0; page < MAX_PAGES; page++) {
    const options = { commitment: 'confirmed', limit: PAGE, minContextSlot, before }
    const listed = (await callNode(rpcUrl, 'getSignaturesForAddress', [account, options])) as Landed[]
    all.push(...listed.filter(({ slot }) => slot >= since))
    const last = listed.at(-1)
    if (listed.length < PAGE || !last || last.slot < since) return all
    before = last.signature
  }
  return undefined
}
