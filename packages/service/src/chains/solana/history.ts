import type { Address, Signature } from '@solana/kit'
import type { SolanaClient } from './client.ts'
import type { Depth } from './heads.ts'
import { readTransaction, type Transaction } from './transaction.ts'

const PAGE = 1_000
// An input has a lock and an exit, a marker a delivery. Strangers who name the account pay a fee for each transaction.
const MAX_READS = 100

type Query = { address: string; commitment: Depth; minContextSlot?: bigint | undefined; program: string }

/**
 * The newest transaction that touched an account and for which `find` returns something. Throws if strangers made the
 * history too long to read: the wanted one may be hidden in it.
 */
export async function findInHistory<T>(
  client: SolanaClient,
  { address, commitment, minContextSlot, program }: Query,
  find: (transaction: Transaction) => T | undefined | Promise<T | undefined>,
): Promise<T | undefined> {
  let before: Signature | undefined
  let reads = 0
  for (;;) {
    const options = {
      commitment,
      limit: PAGE,
      ...(minContextSlot !== undefined && { minContextSlot }),
      ...(before && { before }),
    }
    const page = await client.rpc.getSignaturesForAddress(address as Address, options).send()
    for (const { signature, err } of page) {
      if (err !== null) continue
      reads += 1
      if (reads > MAX_READS) throw new Error(`The history of ${address} does not end`)
      const transaction = await readTransaction(client, { txHash: signature, commitment, program })
      if (!transaction) throw new Error(`The node lists ${signature} but does not return it`)
      const found = await find(transaction)
      if (found !== undefined) return found
    }
    before = page.at(-1)?.signature
    if (page.length < PAGE || !before) return undefined
  }
}
