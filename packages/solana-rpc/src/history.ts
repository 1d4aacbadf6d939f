import type { Landed } from './landed.ts'
import type { WireTransaction } from './wire-transaction.ts'

export type History = ReturnType<typeof createHistory>

/** Every landed transaction, failed ones included, kept until the chain stops. */
export function createHistory() {
  const bySignature = new Map<string, Landed>()
  const byMessage = new Map<string, Landed>()
  const byAddress = new Map<string, Landed[]>()

  return {
    count: (): number => bySignature.size,
    find: (signature: string): Landed | undefined => bySignature.get(signature),

    /** By message, as in a bank: the same message with a new signature is the same transaction. */
    isKnown(transaction: WireTransaction, slot: number): boolean {
      const landed = byMessage.get(transaction.messageHash)
      return landed !== undefined && landed.slot <= slot
    },

    add(landed: Landed): void {
      bySignature.set(landed.transaction.signature, landed)
      byMessage.set(landed.transaction.messageHash, landed)
      for (const { address } of landed.keys) {
        const list = byAddress.get(address)
        if (list) list.push(landed)
        else byAddress.set(address, [landed])
      }
    },

    /** Oldest first. */
    mentioning: (address: string): readonly Landed[] => byAddress.get(address) ?? [],
  }
}
