import { geoEscrowAbi, geoVaultAbi, slotStateOf } from '@geoswap/protocol'
import {
  type Address,
  erc20Abi,
  getAddress,
  type Hex,
  type PublicClient,
  parseEventLogs,
  zeroAddress,
} from 'viem'
import { chunksOf } from '../../model/group.ts'
import type { Op } from '../../model/swap.ts'
import type { Block, LockRef, LockState, WalletView } from '../chain.ts'
import { toDelegation } from './delegation.ts'
import type { ChainEvent } from './event-log.ts'
import type { EvmChainSettings } from './settings.ts'

/** Nonces are read where an authorization will need them: most wallets are delegated already. */
export async function readDelegation(client: PublicClient, settings: EvmChainSettings, wallet: string) {
  const address = getAddress(wallet)
  const code = await client.getCode({ address })
  const delegation = toDelegation({ code, nonce: 0, pendingNonce: 0 }, settings)
  if (!('nonce' in delegation)) return delegation
  const [nonce, pendingNonce] = await Promise.all([
    client.getTransactionCount({ address }),
    client.getTransactionCount({ address, blockTag: 'pending' }),
  ])
  return toDelegation({ code, nonce, pendingNonce }, settings)
}

export async function readWallet(
  client: PublicClient,
  settings: EvmChainSettings,
  input: { wallet: string; token: string },
): Promise<WalletView> {
  const [block, delegation, balance] = await Promise.all([
    client.getBlockNumber({ cacheTime: 0 }),
    readDelegation(client, settings, input.wallet),
    readBalance(client, { owner: getAddress(input.wallet), token: getAddress(input.token) }),
  ])
  return { delegation, balance, block }
}

type BalanceOf = { owner: Address; token: Address; blockNumber?: bigint }

export async function readBalance(
  client: PublicClient,
  { owner, token, blockNumber }: BalanceOf,
): Promise<bigint> {
  const at = blockNumber === undefined ? {} : { blockNumber }
  if (token === zeroAddress) return client.getBalance({ address: owner, ...at })
  return client.readContract({
    address: token,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [owner],
    ...at,
  })
}

/** What the vault can pay of each token: what it holds, and no more than its hourly cap leaves. */
export function readHoldings(client: PublicClient, { vault, tokens }: EvmChainSettings, { number }: Block) {
  return Promise.all(
    tokens.map(async (token) => {
      const [balance, [limit, spent]] = await Promise.all([
        readBalance(client, { owner: vault, token, blockNumber: number }),
        client.readContract({
          ...{ address: vault, abi: geoVaultAbi, functionName: 'caps', args: [token] },
          blockNumber: number,
        }),
      ])
      const left = limit - spent
      return { token, amount: balance < left ? balance : left }
    }),
  )
}

// A few million gas for each call: nodes bound what one may take, in gas and in time.
const LOOKED_UP_AT_ONCE = 1_000

export async function readLocks(
  client: PublicClient,
  { escrow }: EvmChainSettings,
  ops: readonly LockRef[],
  at: Block,
): Promise<Map<string, LockState>> {
  const slots = { address: escrow, abi: geoEscrowAbi, functionName: 'slots', blockNumber: at.number } as const
  const states = new Map<string, LockState>()
  for (const part of chunksOf(ops, LOOKED_UP_AT_ONCE)) {
    const args = [part.map((op) => op.locker as Address), part.map((op) => op.position)] as const
    const words = await client.readContract({ ...slots, args })
    for (const [i, op] of part.entries()) states.set(op.hash, slotStateOf(words[i] ?? 0n, op.hash as Hex))
  }
  return states
}

export async function readUndelivered(
  client: PublicClient,
  { vault, ringOf }: Pick<EvmChainSettings, 'vault' | 'ringOf'>,
  ops: readonly Op[],
  at: Block,
): Promise<Set<string>> {
  const lanes = {
    address: vault,
    abi: geoVaultAbi,
    functionName: 'lastRounds',
    blockNumber: at.number,
  } as const
  const undelivered = new Set<string>()
  for (const part of chunksOf(ops, LOOKED_UP_AT_ONCE)) {
    const args = [part.map(ringOf), part.map((op) => op.position)] as const
    const rounds = await client.readContract({ ...lanes, args })
    for (const [i, op] of part.entries()) if ((rounds[i] ?? op.round) < op.round) undelivered.add(op.hash)
  }
  return undelivered
}

type Contracts = Pick<EvmChainSettings, 'escrow' | 'vault'>
type Range = { from: bigint; to: bigint }

// A range that every public node answers in one piece.
const MAX_RANGE = 2_000n

/** Everything our contracts on this chain said in a range of blocks. */
export async function readEvents(
  client: PublicClient,
  contracts: Contracts,
  range: Range,
): Promise<ChainEvent[]> {
  const events: ChainEvent[] = []
  for (let from = range.from; from <= range.to; from += MAX_RANGE) {
    const last = from + MAX_RANGE - 1n
    events.push(...(await readRange(client, contracts, { from, to: last < range.to ? last : range.to })))
  }
  return events
}

async function readRange(client: PublicClient, { escrow, vault }: Contracts, { from, to }: Range) {
  const logs = await client.getLogs({ address: [escrow, vault], fromBlock: from, toBlock: to })
  const events: ChainEvent[] = []
  const credited = new Map<string, string[]>()
  for (const log of parseEventLogs({ abi: geoEscrowAbi, logs })) {
    const where = { txHash: log.transactionHash, block: log.blockNumber }
    if (log.eventName === 'Locked') events.push({ kind: 'locked', id: log.args.op, ...where })
    if (log.eventName === 'Claimed') events.push({ kind: 'claimed', id: log.args.op, ...where })
    if (log.eventName === 'Refunded') events.push({ kind: 'refunded', id: log.args.op, ...where })
    if (log.eventName !== 'Credited') continue
    credited.set(where.txHash, [...(credited.get(where.txHash) ?? []), log.args.owner])
  }
  for (const log of parseEventLogs({ abi: geoVaultAbi, logs, eventName: 'Delivered' })) {
    const { delivery: id, amount } = log.args
    events.push({ kind: 'delivered', id, txHash: log.transactionHash, block: log.blockNumber, amount })
  }
  return events.map((event) =>
    event.kind === 'refunded' ? { ...event, creditedTo: credited.get(event.txHash) ?? [] } : event,
  )
}
