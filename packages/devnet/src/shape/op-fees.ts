import { type Hex, numberToHex } from 'viem'
import { type Ask, toHex } from './call.ts'
import { charge, type Fees } from './fee-system.ts'
import { GAS_PRICE_ORACLE, GAS_PRICE_ORACLE_CODE, l1FeeOf, PRICE_SLOT } from './gas-price-oracle.ts'

type Entry = { from: string; bytes: number; l1FeeWei: bigint }
type ReceiptJson = { transactionHash: Hex }

/**
 * The OP stack: the sender pays the L1 data fee on top of gas, independent of its gas limit.
 * https://specs.optimism.io/protocol/exec-engine.html#l1-cost-fees-l1-fee-vault
 */
export function createOpFees(ask: Ask, weiPerByte: () => bigint): Fees {
  const book = new Map<Hex, Entry>()
  const feeOf = (bytes: number) => l1FeeOf(bytes, weiPerByte())

  function withL1Fee<T>(receipt: T): T {
    const entry = book.get((receipt as ReceiptJson | null)?.transactionHash ?? '0x')
    return entry ? { ...receipt, l1Fee: toHex(entry.l1FeeWei) } : receipt
  }

  async function reprice(): Promise<void> {
    await ask('hardhat_setStorageAt', GAS_PRICE_ORACLE, PRICE_SLOT, numberToHex(weiPerByte(), { size: 32 }))
  }

  return {
    async start() {
      await ask('hardhat_setCode', GAS_PRICE_ORACLE, GAS_PRICE_ORACLE_CODE)
      await reprice()
    },
    async rule(call, next) {
      const answer = await next(call)
      if (call.method === 'eth_getTransactionReceipt') return withL1Fee(answer)
      if (call.method === 'eth_getBlockReceipts' && Array.isArray(answer)) return answer.map(withL1Fee)
      return answer
    },
    l1CostOf: async (tx) => ({ gas: 0n, wei: feeOf(tx.bytes) }),
    l1WeiOf: ({ hash }) => feeOf(book.get(hash)?.bytes ?? 0),
    asSigned: (pooled) => pooled,
    async submit(tx, cost) {
      const hash = await ask<Hex>('eth_sendRawTransaction', tx.raw)
      book.set(hash, { from: tx.from, bytes: tx.bytes, l1FeeWei: cost.wei })
      return hash
    },
    async settle(hashes) {
      const owed = new Map<string, bigint>()
      for (const hash of hashes) {
        const entry = book.get(hash)
        // A transaction of a test control has no signed bytes.
        if (!entry) continue
        entry.l1FeeWei = feeOf(entry.bytes)
        owed.set(entry.from, (owed.get(entry.from) ?? 0n) + entry.l1FeeWei)
      }
      await charge(ask, owed)
    },
    reprice,
    toClient: (value) => value,
  }
}
