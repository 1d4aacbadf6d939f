import { geoEscrowAbi } from '@geoswap/protocol'
import { type Address, getAddress, type Hex, type PublicClient, TransactionReceiptNotFoundError } from 'viem'
import { createRecent } from '../../async/cache.ts'
import type { Op } from '../../swap/swap.ts'
import { isPurchase } from '../../swap/venue.ts'
import type { Chain, ClaimCap, OriginWays, Transfer } from '../chain.ts'
import { createAttesterReader } from './attesters.ts'
import type { EvmClients } from './client.ts'
import { findDepositTransfers, findDepositTx, findTakenTransfers, readDeposits } from './deposits.ts'
import { createEventReader, readCost, readDeliveries } from './events.ts'
import {
  boundFees,
  claimsThatFit,
  type Fees,
  fitsBlock,
  offerReplacements,
  type PriceReader,
  readFees,
  readLegCosts,
} from './fees.ts'
import { createHeadReader } from './heads.ts'
import { type EvmRequest, planClaim, planDelivery, planRecover, planRefund, planTransfer } from './plans.ts'
import * as reads from './reads.ts'
import { broadcast, createOutcomeReader, isSignedFor, sign } from './send.ts'
import type { EvmChainSettings } from './settings.ts'
import type { EvmSigner } from './signer.ts'
import { simulateDelivery, wouldSucceed } from './simulate.ts'
import { readPermitNonce } from './tokens.ts'
import type { EvmVenue } from './venue.ts'
import { createInputCheck, type EvmLock, isOpSigned, lockBy, planLock } from './ways.ts'

type Options = {
  clients: EvmClients
  settings: EvmChainSettings
  prices: PriceReader
  /** The venues that the vault buys from. */
  venues: readonly EvmVenue[]
  /** The ways in which inputs come in. */
  locks: readonly EvmLock[]
  /** Accounts that can sign here; empty in a process without keys. */
  accounts: readonly EvmSigner[]
  /** The sender of simulated deliveries. */
  deliverer: Address
}

// One lock of a batch may burn 250,000 gas: twenty of them stay well inside a block.
const MAX_BATCH = 20

/** An EVM chain behind the ports of the flow. */
export function createEvmChain(options: Options): Chain {
  const { clients, settings, prices, venues, locks, accounts, deliverer } = options
  const { client, agreed, nodes } = clients
  const readEvents = createEventReader(agreed, settings)
  const isInputSigned = createInputCheck(locks, client, settings)
  const readClaimCap = createClaimLimits(clients.gathered.client, settings.escrow)
  return {
    chainId: settings.chainId,
    maxBatch: MAX_BATCH,
    hasNonces: true,
    readHeads: createHeadReader(agreed, settings.finality),
    findEvents: ({ from, heads }) => readEvents({ from, to: heads.head.number }),
    isCanonical: async ({ number, hash }) => (await agreed.getBlock({ blockNumber: number })).hash === hash,
    readLegCosts: (at) => readLegCosts(prices, locks, at),
    readCoins: (address, { number: blockNumber }) =>
      agreed.getBalance({ address: address as Address, blockNumber }),
    planTransfer: (transfer) => planChecked(client, transfer),
    findTransaction: (txHash) => findTransaction(client, txHash as Hex),
    readTerms: (at, isRefused) => readFees(prices, at, isRefused),
    boundTerms: (terms, bound) => boundFees(terms as Fees, bound),
    sign: (request, { terms, ...as }) =>
      sign(accounts, settings.chainId, request as EvmRequest, { ...as, terms: terms as Fees }),
    fits: (request, terms) => fitsBlock(request as EvmRequest, terms as Fees),
    broadcast: (raw) => broadcast(nodes, raw),
    readOutcomes: createOutcomeReader(clients),
    readCost: (txHash) => readCost(client, settings, txHash as Hex),
    simulate: (request, { sender, terms }) =>
      wouldSucceed(client, request as EvmRequest, { sender, terms: terms as Fees }),
    isSignedFor: (request, by) => isSignedFor(request as EvmRequest, by),
    offerReplacements,
    readDelegation: (wallet) => reads.readDelegation(clients, settings, wallet),
    readWallet: (input) => reads.readWallet(clients, settings, input),
    readLocks: (ops, at) => reads.readLocks(clients, settings, ops, at),
    isLockOver: ({ op }, at) => at.seconds > op.opDeadline,
    findObstacle: (swap) =>
      lockBy(locks, swap.op.method).findObstacle({ clients, settings, readClaimCap }, swap),
    readClaimCap,
    isSigned: (swap) =>
      isOpSigned(locks, swap, { isInputSigned, readLock: (op) => reads.readLockNow(clients, settings, op) }),
    planLock: async (swaps) => planLock(locks, settings, swaps),
    readAttesters: createAttesterReader(clients.gathered.client, settings.escrow),
    planClaim: async (swaps, signatures) => planClaim(settings, swaps, signatures),
    readMaxClaims: async (at) => claimsThatFit(await readFees(prices, at), MAX_BATCH),
    readRefundRoom: createRefundRoom(clients.gathered.client, settings.escrow),
    isRefundPublic: (op, at) => at.seconds > op.refundDeadline,
    planRefund: async (swap, attested) => planRefund(settings, swap, attested),
    ways: createWays(options, isInputSigned),
    simulateDelivery: (op, as) => {
      const by = { ...settings, deliverer: as ? getAddress(as.sender) : deliverer }
      if (isPurchase(op)) return venueOf(venues, op).simulateDelivery(client, by, op)
      return simulateDelivery(client, by, op, as?.terms as Fees | undefined)
    },
    findDeliveries: (paid, _heads, faults) => readDeliveries(agreed, settings, paid, faults),
    readUndelivered: (ops, at) => reads.readUndelivered(agreed, settings, ops, at),
    isDeliveryOver: (op, at) => at.seconds > op.fillDeadline,
    planDelivery: async (ops) => {
      const [op] = ops
      if (!op || !isPurchase(op)) return planDelivery(settings, ops)
      return venueOf(venues, op).planDelivery(client, settings, op)
    },
    readHoldings: (at) => reads.readHoldings(client, settings, at),
  }
}

function createWays(
  { clients, settings, prices }: Options,
  isInputSigned: OriginWays['isInputSigned'],
): OriginWays {
  const { agreed, gathered } = clients
  return {
    isInputSigned,
    readPermitNonce: (token, wallet) => readPermitNonce(gathered.client, token, wallet),
    readDeposits: (ops, tokens, at) => readDeposits(gathered.agreed, tokens, ops, at),
    findDepositTx: (op, looked) => findDepositTx(agreed, op, looked),
    findDepositTransfers: (op, looked) => findDepositTransfers(agreed, op, looked),
    findTakenTransfers: (op, lock) => findTakenTransfers(agreed, op, lock),
    planRecover: async (op, token) => planRecover(settings, op, token),
    wouldRecover: async (request, sender, at) =>
      wouldSucceed(agreed, request as EvmRequest, { sender, terms: await readFees(prices, at), at: at.head }),
  }
}

function venueOf(venues: readonly EvmVenue[], { venue: name, destinationChain }: Op): EvmVenue {
  const venue = venues.find((each) => each.name === name)
  if (!venue) throw new Error(`The vault of chain ${destinationChain} buys nothing from ${name}`)
  return venue
}

/** Simulates a transfer first: one that the token refuses would cost gas and move nothing. */
async function planChecked(client: PublicClient, transfer: Transfer): Promise<EvmRequest> {
  const request = planTransfer(transfer)
  await client.call({
    account: transfer.from as Address,
    to: request.to as Address,
    data: request.data as Hex,
    value: BigInt(request.value ?? 0n),
  })
  return request
}

async function findTransaction(client: PublicClient, hash: Hex) {
  const receipt = await client.getTransactionReceipt({ hash }).catch((error: unknown) => {
    if (error instanceof TransactionReceiptNotFoundError) return undefined
    throw error
  })
  return receipt && { block: receipt.blockNumber, failed: receipt.status !== 'success' }
}

// The treasury rarely changes caps, but every lock and every claim reads them.
const MAX_AGE_MS = 5_000

/** Reads how much of a token the escrow releases to the vault per hour, and how much is left of this hour. */
function createClaimLimits(client: PublicClient, escrow: Address) {
  return rememberByToken((token) => readCap(client, escrow, token))
}

/** Reads how much of a token the escrow refunds by attestation in the rest of this hour: nothing while stopped. */
function createRefundRoom(client: PublicClient, escrow: Address) {
  const contract = { address: escrow, abi: geoEscrowAbi } as const
  return rememberByToken(async (token) => {
    const [isStopped, [perHour, refunded]] = await Promise.all([
      client.readContract({ ...contract, functionName: 'attestedRefundsStopped' }),
      client.readContract({ ...contract, functionName: 'refundCaps', args: [token] }),
    ])
    return isStopped || refunded > perHour ? 0n : perHour - refunded
  })
}

function rememberByToken<T>(read: (token: Address) => Promise<T>) {
  const known = new Map<string, { read(): Promise<T> }>()
  return (token: string): Promise<T> => {
    const recent = known.get(token) ?? createRecent(MAX_AGE_MS, () => read(token as Address))
    known.set(token, recent)
    return recent.read()
  }
}

async function readCap(client: PublicClient, escrow: Address, token: Address): Promise<ClaimCap> {
  const [perHour, claimed] = await client.readContract({
    address: escrow,
    abi: geoEscrowAbi,
    functionName: 'claimCaps',
    args: [token],
  })
  return { perHour, left: claimed < perHour ? perHour - claimed : 0n, claimed }
}
