import {
  authorizationDigest,
  authorizationOf,
  permitDigest,
  permitOf,
  signedTokenAbi,
} from '@geoswap/protocol'
import type { Address, Hex, PublicClient } from 'viem'
import { isUnlocked } from '../../model/lifecycle.ts'
import type { SignedInput, Swap } from '../../model/swap.ts'
import type { LockRef, LockState } from '../chain.ts'
import { attempt } from './attempt.ts'
import { isHashSigned, recoverSigner } from './recover.ts'
import type { EvmChainSettings } from './settings.ts'
import { strangeReads } from './strange-reads.ts'
import { acceptsSignature } from './wallet-code.ts'

type ReadLock = (op: LockRef) => Promise<LockState | undefined>
type Settings = Pick<EvmChainSettings, 'escrow'>

/** Checks signatures for inputs of a chain. Reads each token's EIP-712 domain once: it does not change. */
export function createInputCheck(client: PublicClient, settings: Settings) {
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
  return (input: SignedInput, signature: string) =>
    isInputSigned({ client, settings, separatorOf }, input, signature)
}

type Deps = { client: PublicClient; settings: Settings; separatorOf(token: string): Promise<Hex | undefined> }

/** Whether the wallet signed for this input, in the way that the op names. */
async function isInputSigned(
  { client, settings, separatorOf }: Deps,
  input: SignedInput,
  signature: string,
): Promise<boolean> {
  const { method = 'delegation', wallet } = input
  if (method === 'deposit') return false
  if (method === 'delegation') return isHashSigned(wallet, input.hash, signature)
  const separator = await separatorOf(input.inputToken)
  if (!separator) return false
  const hash = digestOf(settings, separator, input)
  if (recoverSigner(hash, signature as Hex) === wallet) return true
  return method === 'authorization' && acceptsSignature(client, wallet as Address, hash, signature as Hex)
}

function digestOf({ escrow }: Settings, separator: Hex, input: SignedInput): Hex {
  const hash = input.hash as Hex
  const paid = {
    wallet: input.wallet as Address,
    inputAmount: input.inputAmount,
    opDeadline: BigInt(input.opDeadline),
  }
  if (input.method === 'authorization')
    return authorizationDigest(separator, authorizationOf({ escrow }, hash, paid))
  return permitDigest(separator, permitOf({ escrow }, hash, { ...paid, nonce: input.permitNonce ?? 0n }))
}

type InputCheck = ReturnType<typeof createInputCheck>

/**
 * Whether the wallet signed the op. Before the lock its signature says so. After it the escrow's slot does, which holds
 * the hash of the terms: a wallet may withdraw its signature, and a token may change its domain. The signature of a
 * delegated wallet is checked first, since it asks nobody.
 */
export async function isOpSigned(
  { op, signature, state }: Swap,
  { readLock, isInputSigned }: { readLock: ReadLock; isInputSigned: InputCheck },
): Promise<boolean> {
  const isLocked = async () => ((await readLock(op)) ?? 'none') !== 'none'
  // The escrow takes only what was sent to the address of this op; nothing is paid for it before.
  if (op.method === 'deposit') return isUnlocked(state) || isLocked()
  if (signature === '' || op.isOrphan) return isLocked()
  const isSigned = () => isInputSigned(op, signature)
  const isSignatureFirst = isUnlocked(state) || (op.method ?? 'delegation') === 'delegation'
  return isSignatureFirst ? (await isSigned()) || isLocked() : (await isLocked()) || isSigned()
}
