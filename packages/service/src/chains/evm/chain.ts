import {
  type Address,
  BaseError,
  getAddress,
  type Hex,
  keccak256,
  type PrivateKeyAccount,
  type PublicClient,
} from 'viem'
import type { SignedDelegation } from '../../model/swap.ts'
import type { Chain, Fees, Heads, Signed, TxRequest } from '../chain.ts'
import { planClaim, planDelivery, planLock, planRefund } from './plans.ts'
import * as reads from './reads.ts'
import type { EvmChainSettings } from './settings.ts'
import { simulateDelivery } from './simulate.ts'

type Options = {
  client: PublicClient
  settings: EvmChainSettings
  /** Accounts that can sign here; empty in a process that holds no keys. */
  accounts: readonly PrivateKeyAccount[]
  /** Who a simulated delivery is sent by. */
  deliverer: Address
}

/** An EVM chain behind the ports of the flow. */
export function createEvmChain({ client, settings, accounts, deliverer }: Options): Chain {
  return {
    chainId: settings.chainId,
    readHeads: (known) => reads.readHeads(client, settings, known),
    readEvents: (range) => reads.readEvents(client, settings, range),
    readNonces: (sender, at) => readNonces(client, sender as Address, at),
    readFees: (at) => readFees(client, settings, at),
    sign: (request, as) => sign(accounts, settings.chainId, request, as),
    broadcast: (raw) => broadcast(client, raw as Hex),
    readDelegation: (wallet) => reads.readDelegation(client, settings, wallet),
    readWallet: (input) => reads.readWallet(client, settings, input),
    readLocks: (ops, at) => reads.readLocks(client, settings, ops, at),
    planLock: (swaps) => planLock(settings, swaps),
    planClaim: (swaps, signature) => planClaim(settings, swaps, signature),
    planRefund: (swap, attested) => planRefund(settings, swap, attested),
    simulateDelivery: (op, by) =>
      simulateDelivery(client, { ...settings, deliverer: by ? getAddress(by) : deliverer }, op),
    readUndelivered: (ops, at) => reads.readUndelivered(client, settings, ops, at),
    planDelivery: (ops) => planDelivery(settings, ops),
    readHoldings: (at) => reads.readHoldings(client, settings, at),
  }
}

// What nodes say of bytes that they or the chain have already: the answer one hopes for when sending again.
const KNOWN = /already known|known transaction|already imported|nonce too low/i

async function broadcast(client: PublicClient, raw: Hex): Promise<void> {
  try {
    await client.request({ method: 'eth_sendRawTransaction', params: [raw] })
  } catch (error) {
    if (!(error instanceof BaseError && KNOWN.test(error.details))) throw error
  }
}

async function readNonces(client: PublicClient, address: Address, at: Heads) {
  const [latest, hard] = await Promise.all([
    client.getTransactionCount({ address }),
    client.getTransactionCount({ address, blockNumber: at.hard.number }),
  ])
  return { latest, hard }
}

/** Twice the current base fee covers five full blocks in a row: EIP-1559 raises it by an eighth a block. */
async function readFees(client: PublicClient, { tipWei }: EvmChainSettings, { head }: Heads): Promise<Fees> {
  const tip = tipWei ?? (await client.estimateMaxPriorityFeePerGas())
  return { maxFeePerGas: head.baseFeeWei * 2n + tip, maxPriorityFeePerGas: tip }
}

type As = { sender: string; nonce: number; fees: Fees }

async function sign(
  accounts: readonly PrivateKeyAccount[],
  chainId: number,
  request: TxRequest,
  as: As,
): Promise<Signed> {
  const account = accounts.find((candidate) => candidate.address === as.sender)
  if (!account) throw new Error(`No key for ${as.sender}`)
  const transaction = {
    chainId,
    nonce: as.nonce,
    to: request.to as Address,
    data: request.data as Hex,
    gas: BigInt(request.gas),
    ...as.fees,
  }
  const raw = request.authorizations
    ? await account.signTransaction({
        ...transaction,
        type: 'eip7702',
        authorizationList: request.authorizations.map(toAuthorization),
      })
    : await account.signTransaction({ ...transaction, type: 'eip1559' })
  return { raw, txHash: keccak256(raw) }
}

function toAuthorization(signed: SignedDelegation) {
  return {
    chainId: signed.chainId,
    address: signed.address as Address,
    nonce: signed.nonce,
    yParity: signed.yParity,
    r: signed.r as Hex,
    s: signed.s as Hex,
  }
}
