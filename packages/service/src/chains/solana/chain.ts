import type { LegCosts } from '../../model/catalog.ts'
import type { Op, Swap } from '../../model/swap.ts'
import type { Chain, Heads } from '../chain.ts'
import { readBlocks, type SolanaBlock } from './blocks.ts'
import * as deliveries from './deliveries.ts'
import { findEvents } from './events.ts'
import { inputCostLamports, paymentCostLamports } from './fees.ts'
import * as locks from './locks.ts'
import { NATIVE_TOKEN } from './mint.ts'
import type { SolanaParts } from './parts.ts'
import { planClaim, planDelivery, planInput, planRefund, type SolanaRequest } from './plans.ts'
import { broadcast } from './send.ts'
import { isOpSigned } from './signed-op.ts'
import { readOutcomes, readTerms, sign, type Terms } from './signing.ts'
import { findTransaction, planTransfer, readCoins } from './transfer.ts'
import { readWallet } from './wallet.ts'

/** A Solana chain behind the ports of the flow. A transaction carries one swap: its marker makes it happen once. */
export function createSolanaChain(parts: SolanaParts): Chain {
  const { client, settings, facts } = parts
  return {
    chainId: settings.chainId,
    maxBatch: 1,
    hasNonces: false,
    readHeads: (known) => readBlocks(client.agreed, known),
    // There is no log: what happened to an op is asked of its own markers.
    findEvents: ({ heads, watched }, faults) => findEvents(parts, watched, depthsOf(heads), faults),
    // A fork that was dropped shows when its slot is finalized.
    isCanonical: async () => true,
    readLegCosts: () => readLegCosts(parts),
    readCoins: (address, at) => readCoins(parts, address, at as SolanaBlock),
    planTransfer: (transfer) => planTransfer(parts, transfer),
    findTransaction: (txHash) => findTransaction(parts, txHash),
    readTerms: () => readTerms(parts),
    // Priority fees are as the configuration has them.
    boundTerms: (terms) => terms,
    sign: (request, { terms }) => sign(parts, request as SolanaRequest, terms as Terms),
    fits: () => true,
    broadcast: (raw) => broadcast(client, raw).then(() => undefined),
    readOutcomes: (_sender, sent, { hard }) => readOutcomes(parts, sent, hard as SolanaBlock),
    // Nothing is signed a second time by what was stored: every payment is planned anew.
    isSignedFor: async () => false,
    // Two transactions with one purpose could both be alive: a second is signed when the first is dead.
    planReplacement: () => undefined,
    readDelegation: async () => ({ kind: 'unneeded' }),
    async readWallet({ wallet, token }) {
      const [{ head }, rent, of] = await Promise.all([readBlocks(client), facts.rent(), facts.tokenOf(token)])
      const { balance, frozen } = await readWallet(client, { wallet, token: of, rent })
      return { delegation: { kind: 'unneeded' }, balance: frozen ? 0n : balance, block: head.number }
    },
    readLocks: (ops, at, faults) => locks.readLocks(parts, ops, at as SolanaBlock, faults),
    isLockOver: ({ lastValid }, at) => lastValid !== undefined && at.height > lastValid,
    findObstacle: (swap) => locks.findObstacle(parts, swap),
    // No contract holds the intake vault's accounts, so none caps what leaves them.
    readClaimCap: async () => undefined,
    isSigned: (swap) => isOpSigned(parts, swap),
    canRefund: (swap) => locks.canRefund(parts, swap),
    planLock: (swaps) => planInput(parts, onlyOne(swaps)),
    planClaim: (swaps, signature) => planClaim(parts, onlyOne(swaps).op, signature),
    readMaxClaims: async () => 1,
    planRefund: (swap: Swap, attested) => planRefund(parts, swap.op, attested),
    simulateDelivery: (op) => deliveries.simulateDelivery(parts, op, { commitment: 'confirmed' }),
    findDeliveries: (paid, at, faults) => {
      const ops = paid.map(({ op }) => op)
      return deliveries.findDeliveries(parts, ops, depthsOf(at), faults)
    },
    readUndelivered: (ops, at, faults) => deliveries.readUndelivered(parts, ops, at as SolanaBlock, faults),
    // No rule of the chain ends a delivery: that none of the signed ones can land is seen from them alone. Where the
    // log was lost, all that had been signed was waited for.
    isDeliveryOver: (op) => op.isLogLost === true,
    planDelivery: (ops) => planDelivery(parts, onlyOne<Op>(ops)),
    readHoldings: (at) => deliveries.readHoldings(parts, at as SolanaBlock),
  }
}

function depthsOf({ head, hard }: Heads) {
  return { head: head as SolanaBlock, hard: hard as SolanaBlock }
}

function onlyOne<T>(items: readonly T[]): T {
  const [only] = items
  if (only === undefined || items.length > 1) throw new Error('One swap per transaction')
  return only
}

/** Fees and the rent of markers: of the input and its claim, and of the delivery. */
async function readLegCosts({ facts }: SolanaParts): Promise<LegCosts> {
  const [rent, microLamportsPerUnit] = await Promise.all([facts.rent(), facts.priorityPrice()])
  const payment = paymentCostLamports(
    { rent, microLamportsPerUnit },
    { token: NATIVE_TOKEN, createAccount: false },
  )
  const lock = inputCostLamports({ rent, microLamportsPerUnit }) + payment
  return { lock, firstLock: lock, delivery: payment, purchase: payment, gasPrice: 0n }
}
