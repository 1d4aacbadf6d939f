import {
  authorizationDigest,
  authorizationOf,
  contractWalletAbi,
  permitDigest,
  permitOf,
  signedTokenAbi,
  VALID_SIGNATURE,
} from '@geoswap/protocol'
import type { Address, Hex, PublicClient } from 'viem'
import { isUnlocked } from '../../model/lifecycle.ts'
import type { SignedInput, Swap } from '../../model/swap.ts'
import type { LockRef, LockState } from '../chain.ts'
import { isHashSigned, recoverSigner } from './recover.ts'
import { refusalOf } from './refused.ts'
import type { EvmChainSettings } from './settings.ts'

type ReadLock = (op: LockRef) => Promise<LockState | undefined>
type Settings = Pick<EvmChainSettings, 'escrow'>

/** Checks signatures for inputs of a chain. Reads each token's EIP-712 domain once: it does not change. */
export function createInputCheck(client: PublicClient, settings: Settings) {
  const separators = new Map<string, Hex>()
  const separatorOf = async (token: string): Promise<Hex> => {
    const known = separators.get(token)
    if (known) return known
    const call = { address: token as Address, abi: signedTokenAbi, functionName: 'DOMAIN_SEPARATOR' } as const
    const separator = await client.readContract(call)
    separators.set(token, separator)
    return separator
  }
  return (input: SignedInput, signature: string) =>
    isInputSigned({ client, settings, separatorOf }, input, signature)
}

type Deps = { client: PublicClient; settings: Settings; separatorOf(token: string): Promise<Hex> }

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
  const hash = digestOf(settings, separator, input)
  if (recoverSigner(hash, signature as Hex) === wallet) return true
  return method === 'authorization' && isAcceptedBy(client, wallet as Address, hash, signature as Hex)
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

/** Whether the wallet's own code accepts the signature (ERC-1271). */
async function isAcceptedBy(
  client: PublicClient,
  wallet: Address,
  hash: Hex,
  signature: Hex,
): Promise<boolean> {
  const call = { address: wallet, abi: contractWalletAbi, functionName: 'isValidSignature' } as const
  try {
    return (await client.readContract({ ...call, args: [hash, signature] })) === VALID_SIGNATURE
  } catch (error) {
    // A wallet without code, or without this function, accepts nothing.
    if (refusalOf(error) !== undefined || !(await hasCode(client, wallet))) return false
    throw error
  }
}

async function hasCode(client: PublicClient, address: Address): Promise<boolean> {
  return ((await client.getCode({ address })) ?? '0x') !== '0x'
}

type InputCheck = ReturnType<typeof createInputCheck>

/**
 * Whether the wallet signed the op. A lock proves it as well: the escrow verified the signature, which a contract
 * wallet may have withdrawn since, and which a lost database does not have.
 */
export async function isOpSigned(
  { op, signature, state }: Swap,
  { readLock, isInputSigned }: { readLock: ReadLock; isInputSigned: InputCheck },
): Promise<boolean> {
  const isLocked = async () => ((await readLock(op)) ?? 'none') !== 'none'
  // The escrow takes only what was sent to the address of this op; nothing is paid for it before.
  if (op.method === 'deposit') return isUnlocked(state) || isLocked()
  if (signature === '' || op.isOrphan) return isLocked()
  if (await isInputSigned(op, signature)) return true
  return op.method === 'authorization' && isLocked()
}
