import { geoEscrowAbi, geoVaultAbi, slotStateOf } from '@geoswap/protocol'
import {
  type Address,
  BaseError,
  ContractFunctionZeroDataError,
  erc20Abi,
  getAddress,
  type Hex,
  hexToBigInt,
  type PublicClient,
  zeroAddress,
} from 'viem'
import { smallest } from '../../swap/amount.ts'
import { chunksOf } from '../../swap/group.ts'
import type { Op } from '../../swap/swap.ts'
import type { Block, LockRef, LockState, WalletView } from '../chain.ts'
import { attempt } from './attempt.ts'
import type { EvmClients } from './client.ts'
import { readCodeStart } from './gather.ts'
import type { EvmChainSettings } from './settings.ts'
import { toDelegation } from './signatures.ts'
import { strangeReads } from './strange-reads.ts'

type Clients = Pick<EvmClients, 'client' | 'gathered'>
export type WalletInput = { wallet: string; token: string; blockNumber?: bigint }

/** Reads the nonces only if a delegation needs them: most wallets are already delegated. */
export async function readDelegation(
  { client, gathered }: Clients,
  settings: EvmChainSettings,
  wallet: string,
  blockNumber?: bigint,
) {
  const address = getAddress(wallet)
  const at = blockNumber === undefined ? {} : { blockNumber }
  const code = await readCodeStart(gathered.client, address, blockNumber)
  const delegation = toDelegation({ code, nonce: 0, pendingNonce: 0 }, settings)
  if (!('nonce' in delegation)) return delegation
  const [nonce, pendingNonce] = await Promise.all([
    client.getTransactionCount({ address, ...at }),
    client.getTransactionCount({ address, blockTag: 'pending' }),
  ])
  return toDelegation({ code, nonce, pendingNonce }, settings)
}

/** Needs one call for a delegated wallet. */
export async function readWalletState(
  clients: Clients,
  settings: EvmChainSettings,
  { wallet, token, blockNumber }: WalletInput,
): Promise<Omit<WalletView, 'block'>> {
  const at = blockNumber === undefined ? {} : { blockNumber }
  const owned = { owner: getAddress(wallet), token: getAddress(token), ...at }
  const [delegation, balance] = await Promise.all([
    readDelegation(clients, settings, wallet, blockNumber),
    readBalance(clients.gathered.client, owned),
  ])
  return { delegation, balance }
}

/** In one call, so that the block number is that of the balance. */
export async function readWallet(
  clients: Clients,
  settings: EvmChainSettings,
  input: WalletInput,
): Promise<WalletView> {
  const [block, state] = await Promise.all([
    readNumberBeside(clients.gathered.client),
    readWalletState(clients, settings, input),
  ])
  return { ...state, block }
}

/** Avoids `getBlockNumber`, which would share the answer of a pending request to another backend. */
async function readNumberBeside(client: PublicClient): Promise<bigint> {
  return hexToBigInt(await client.request({ method: 'eth_blockNumber' }))
}

type BalanceOf = { owner: Address; token: Address; blockNumber?: bigint }

export async function readBalance(
  client: PublicClient,
  { owner, token, blockNumber }: BalanceOf,
): Promise<bigint> {
  const at = blockNumber === undefined ? {} : { blockNumber }
  if (token === zeroAddress) return client.getBalance({ address: owner, ...at })
  return strangeReads(client).readContract({
    address: token,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [owner],
    ...at,
  })
}

/** The deliverable amount of each token: the vault's balance, limited by its hourly cap. None if the token is mute. */
export function readHoldings(client: PublicClient, { vault, tokens }: EvmChainSettings, { number }: Block) {
  return Promise.all(
    tokens.map(async (token) => {
      const [told, [limit, spent]] = await Promise.all([
        attempt(client, () => readBalance(client, { owner: vault, token, blockNumber: number }), number),
        client.readContract({
          address: vault,
          abi: geoVaultAbi,
          functionName: 'caps',
          args: [token],
          blockNumber: number,
        }),
      ])
      return { token, amount: smallest(told.kind === 'ok' ? told.result : 0n, limit - spent) }
    }),
  )
}

// A few million gas per call: nodes limit its gas and time.
const LOOKED_UP_AT_ONCE = 1_000
// Sixty such reads in one call stay below the limit of its answer.
const GATHERED = 10

/** Several lanes look up a few ops each when a block arrives: those reads share a call. */
export async function readLocks(
  { agreed, gathered }: Pick<EvmClients, 'agreed' | 'gathered'>,
  { escrow }: EvmChainSettings,
  ops: readonly LockRef[],
  at: Pick<Block, 'number'>,
): Promise<Map<string, LockState>> {
  const slots = { address: escrow, abi: geoEscrowAbi, functionName: 'slots', blockNumber: at.number } as const
  const client = ops.length <= GATHERED ? gathered.agreed : agreed
  const states = new Map<string, LockState>()
  for (const part of chunksOf(ops, LOOKED_UP_AT_ONCE)) {
    const args = [part.map((op) => op.locker as Address), part.map((op) => op.position)] as const
    const words = await orBeforeContract(client, slots, [], client.readContract({ ...slots, args }))
    for (const [i, op] of part.entries()) states.set(op.hash, slotStateOf(words[i] ?? 0n, op.hash as Hex))
  }
  return states
}

export async function readLockNow(
  clients: Pick<EvmClients, 'client' | 'agreed' | 'gathered'>,
  settings: EvmChainSettings,
  op: LockRef,
): Promise<LockState | undefined> {
  const number = await clients.client.getBlockNumber({ cacheTime: 0 })
  return (await readLocks(clients, settings, [op], { number })).get(op.hash)
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
    const none = part.map(() => 0n)
    const rounds = await orBeforeContract(client, lanes, none, client.readContract({ ...lanes, args }))
    for (const [i, op] of part.entries()) if ((rounds[i] ?? op.round) < op.round) undelivered.add(op.hash)
  }
  return undelivered
}

/** A block before the contract's deployment contains no op: an empty answer, not a failure of the node. */
async function orBeforeContract<T>(
  client: PublicClient,
  { address, blockNumber }: { address: Address; blockNumber: bigint },
  answer: T,
  asked: Promise<T>,
): Promise<T> {
  try {
    return await asked
  } catch (error) {
    const isEmpty =
      error instanceof BaseError && error.walk((cause) => cause instanceof ContractFunctionZeroDataError)
    if (!isEmpty || (await client.getCode({ address, blockNumber })) !== undefined) throw error
    return answer
  }
}
