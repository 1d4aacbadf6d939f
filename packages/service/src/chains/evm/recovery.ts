import { depositAddressOf, fromIndex, geoVaultAbi } from '@geoswap/protocol'
import { type Address, getAbiItem, getAddress, type Hex, type PublicClient } from 'viem'
import type { Block, Delivered } from '../chain.ts'
import { reachedByMajority } from '../nodes/agree.ts'
import type { DeliveryTerms, LockTerms, RecoveryChain } from '../recovery.ts'
import { deliveriesIn, opsIn, readCall } from './calls.ts'
import type { EvmClients } from './client.ts'
import type { EvmChainSettings } from './settings.ts'
import type { EvmLock } from './ways.ts'

type Settings = Pick<EvmChainSettings, 'chainId' | 'escrow' | 'vault'>
type Parts = {
  clients: Pick<EvmClients, 'client' | 'agreed' | 'nodes'>
  settings: Settings
  locks: readonly EvmLock[]
}

const DELIVERED = getAbiItem({ abi: geoVaultAbi, name: 'Delivered' })
// A range that every public node answers in one piece.
const MAX_RANGE = 2_000n

/**
 * Recovers facts from calls to our contracts. Hashes of ops and deliveries commit to their content, so any node may be
 * asked.
 */
export function createEvmRecovery(parts: Parts): RecoveryChain {
  const { clients, settings } = parts
  const { client, agreed, nodes } = clients
  return {
    chainId: settings.chainId,
    findLockTerms: (txHash, op) => findLockTerms(parts, txHash, op),
    findDeliveryTerms: (txHash, delivery) => findDeliveryTerms(client, settings, txHash, delivery),
    findDelivery: (deliveryHash, since, at) => findDelivery(agreed, settings, { deliveryHash, since, at }),
    async readNextNonce(sender) {
      const address = sender as Address
      const pendingAt = async (node: PublicClient) =>
        BigInt(await node.getTransactionCount({ address, blockTag: 'pending' }))
      const [mined, pending] = await Promise.all([
        agreed.getTransactionCount({ address }),
        reachedByMajority(nodes.map(pendingAt), (nonce) => nonce),
      ])
      return Math.max(mined, Number(pending))
    },
  }
}

async function findLockTerms(
  { clients: { client }, settings, locks }: Parts,
  txHash: string,
  op: string,
): Promise<LockTerms | undefined> {
  const found = opsIn(settings, locks, await readCall(client, txHash)).find(({ hash }) => hash === op)
  if (!found?.method) return undefined
  const { blockNumber } = await client.getTransactionReceipt({ hash: txHash as Hex })
  const { timestamp } = await client.getBlock({ blockNumber })
  return {
    wallet: getAddress(found.wallet),
    inputToken: getAddress(found.inputToken),
    inputAmount: found.inputAmount,
    locker: getAddress(found.locker),
    deliveryHash: found.delivery,
    seconds: Number(timestamp),
    signed: {
      ...fromIndex(found.index),
      opDeadline: Number(found.opDeadline),
      refundDeadline: Number(found.refundDeadline),
    },
    method: found.method,
    depositAddress: depositAddressOf(settings.escrow, found.hash),
  }
}

async function findDeliveryTerms(
  client: PublicClient,
  settings: Settings,
  txHash: string,
  deliveryHash: string,
): Promise<DeliveryTerms | undefined> {
  const made = deliveriesIn(settings, await readCall(client, txHash)).find(
    ({ hash }) => hash === deliveryHash,
  )
  if (!made) return undefined
  const { ring, index, minOutput, fillDeadline } = made.delivery
  return {
    outputToken: getAddress(made.token),
    recipient: getAddress(made.recipient),
    bought: made.bought && { ...made.bought, payToken: getAddress(made.bought.payToken) },
    rest: { ring, ...fromIndex(index), minOutput, fillDeadline: Number(fillDeadline) },
  }
}

type Asked = { deliveryHash: string; since: number; at: Block }

/** Finds the vault's log of this delivery, back to the time before which it cannot have been made. */
async function findDelivery(
  client: PublicClient,
  { vault }: Settings,
  { deliveryHash, since, at }: Asked,
): Promise<Delivered | undefined> {
  const query = { address: vault, event: DELIVERED, args: { delivery: deliveryHash as Hex } } as const
  let to = at.number
  for (;;) {
    const from = to >= MAX_RANGE ? to - MAX_RANGE + 1n : 0n
    const [log] = await client.getLogs({ ...query, fromBlock: from, toBlock: to })
    if (log) return { txHash: log.transactionHash, block: log.blockNumber, amount: log.args.amount ?? 0n }
    if (from === 0n) return undefined
    const { timestamp } = await client.getBlock({ blockNumber: from })
    if (Number(timestamp) < since) return undefined
    to = from - 1n
  }
}
