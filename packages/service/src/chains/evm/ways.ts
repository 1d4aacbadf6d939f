import { type EscrowOp, type geoEscrowAbi, signedTokenAbi, type TokenDomain } from '@geoswap/protocol'
import type { Address, DecodeFunctionDataReturnType, Hex, PublicClient } from 'viem'
import { getAddress } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { type FailureCode, isUnlocked } from '../../swap/lifecycle.ts'
import type { SignedInput, Swap, WayName } from '../../swap/swap.ts'
import type { LockRef, LockState } from '../chain.ts'
import { attempt } from './attempt.ts'
import type { EvmClients } from './client.ts'
import type { EvmRequest } from './plans.ts'
import { readBalance } from './reads.ts'
import type { EvmChainSettings } from './settings.ts'
import { strangeReads } from './strange-reads.ts'

type Escrow = Pick<EvmChainSettings, 'escrow'>
export type EscrowCall = DecodeFunctionDataReturnType<typeof geoEscrowAbi>

/** The reads by which a signature is checked. `separatorOf`: the hash of a token's EIP-712 domain, if it has one. */
export type SignatureReads = Escrow & {
  client: PublicClient
  separatorOf(token: string): Promise<Hex | undefined>
}

export type ObstacleReads = {
  clients: EvmClients
  settings: EvmChainSettings
  readClaimCap(token: string): Promise<{ perHour: bigint }>
}

export type TriedToken = Escrow & { token: Address }
/** A key that has nothing, and the token's domain. */
export type TriedKey = { account: PrivateKeyAccount; domain: TokenDomain }

/** How an EVM chain takes inputs that come in by one way. */
export type EvmLock<Name extends string = WayName> = {
  name: Name
  signs: 'hash' | 'typedData' | 'nothing'
  /** Gas and bytes of one lock, as measured. Absent for the way that every quote is priced by first. */
  measured?: { gas: bigint; bytes: bigint }
  /** One transaction for all of these swaps, of which there is at least one. */
  planLock(settings: Escrow, swaps: readonly Swap[]): EvmRequest
  /** The ops that a call locks in this way; undefined for any other call. */
  opsIn(call: EscrowCall): readonly Omit<EscrowOp, 'locker'>[] | undefined
  /** Whether this signature lets the escrow take the input. */
  isSigned(reads: SignatureReads, input: SignedInput, signature: string): Promise<boolean>
  /** The reason why the lock would fail, or be in vain; undefined if there is none. */
  findObstacle(reads: ObstacleReads, swap: Swap): Promise<FailureCode | undefined>
  /** For a way that not every token knows: has this one accept a signature, in a call that fails if it does not. */
  tryOn?(client: PublicClient, token: TriedToken, by: TriedKey): Promise<unknown>
}

/** The way of an op, among those of this chain. */
export function lockBy(locks: readonly EvmLock[], name: string): EvmLock {
  const found = locks.find((each) => each.name === name)
  if (!found) throw new Error(`No input comes in by ${name}`)
  return found
}

/** All swaps of one transaction come in by one way. */
export function planLock(locks: readonly EvmLock[], settings: Escrow, swaps: readonly Swap[]): EvmRequest {
  const [first] = swaps
  if (!first || swaps.some(({ op }) => op.method !== first.op.method))
    throw new Error('No swaps of one way to lock')
  return lockBy(locks, first.op.method).planLock(settings, swaps)
}

/** Checks signatures for inputs of a chain. Reads each token's EIP-712 domain once: it does not change. */
export function createInputCheck(locks: readonly EvmLock[], client: PublicClient, { escrow }: Escrow) {
  const separators = new Map<string, Hex>()
  const separatorOf = async (token: string): Promise<Hex | undefined> => {
    const known = separators.get(token)
    if (known) return known
    const call = { address: token as Address, abi: signedTokenAbi, functionName: 'DOMAIN_SEPARATOR' } as const
    const read = await attempt(client, () => strangeReads(client).readContract(call))
    if (read.kind !== 'ok') return undefined
    separators.set(token, read.result)
    return read.result
  }
  const reads = { client, escrow, separatorOf }
  return (input: SignedInput, signature: string) =>
    lockBy(locks, input.method).isSigned(reads, input, signature)
}

type OpReads = {
  readLock(op: LockRef): Promise<LockState | undefined>
  isInputSigned(input: SignedInput, signature: string): Promise<boolean>
}

/**
 * Whether the wallet signed the op. Before the lock its signature says so. After it the escrow's slot does, which holds
 * the hash of the terms: a wallet may withdraw its signature, and a token may change its domain. A signature of the
 * op's hash is checked first, since it asks nobody.
 */
export async function isOpSigned(
  locks: readonly EvmLock[],
  { op, signature, state }: Swap,
  { readLock, isInputSigned }: OpReads,
): Promise<boolean> {
  const isLocked = async () => ((await readLock(op)) ?? 'none') !== 'none'
  const { signs } = lockBy(locks, op.method)
  // The escrow takes only what was sent to the address of this op; nothing is paid for it before.
  if (signs === 'nothing') return isUnlocked(state) || isLocked()
  if (signature === '' || op.isOrphan) return isLocked()
  const isSigned = () => isInputSigned(op, signature)
  const isSignatureFirst = isUnlocked(state) || signs === 'hash'
  return isSignatureFirst ? (await isSigned()) || isLocked() : (await isLocked()) || isSigned()
}

type Held = { obstacle: FailureCode | undefined; blockNumber: bigint }

/** Whether the owner holds the input, and it can be claimed. `blockNumber`: the block at which it was looked at. */
export async function readHeld(
  { readClaimCap }: ObstacleReads,
  { op, state }: Swap,
  { client, owner }: { client: PublicClient; owner: string },
): Promise<Held> {
  const { perHour } = await readClaimCap(op.inputToken)
  const head = await client.getBlockNumber({ cacheTime: 0 })
  // A lagging node may not know the wallet's funds yet. Asked for a given block, it answers correctly or fails.
  const blockNumber = head > op.walletBlock ? head : op.walletBlock
  if (perHour < op.inputAmount && isUnlocked(state))
    return { obstacle: 'DESTINATION_UNAVAILABLE', blockNumber }
  const asked = { owner: getAddress(owner), token: getAddress(op.inputToken), blockNumber }
  const isHeld = (await readBalance(client, asked)) >= op.inputAmount
  return { obstacle: isHeld ? undefined : 'INPUT_UNAVAILABLE', blockNumber }
}
