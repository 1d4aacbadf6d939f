import {
  authorizationDigest,
  authorizationOf,
  contractWalletAbi,
  permitDigest,
  permitOf,
  signedTokenAbi,
  VALID_SIGNATURE,
} from '@geoswap/protocol'
import {
  type Address,
  concat,
  encodeFunctionData,
  type Hex,
  hexToBigInt,
  numberToHex,
  type PublicClient,
  pad,
  size,
  slice,
} from 'viem'
import { isUnlocked } from '../../swap/lifecycle.ts'
import type { SignedInput, Swap } from '../../swap/swap.ts'
import type { LockRef, LockState } from '../chain.ts'
import { NodeSilence } from '../nodes/silence.ts'
import { attempt } from './attempt.ts'
import type { EvmChainSettings } from './settings.ts'
import { isHashSigned, recoverSigner } from './signatures.ts'
import { strangeReads } from './strange-reads.ts'

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

// As much as a lock has for one input.
const WALLET_GAS = 250_000
const CALL_GAS = 2_000_000n

/**
 * Init code that makes one static call with limited gas, and answers with three words: whether the call succeeded, the
 * length of its answer, and the answer's first word. So whatever a stranger's code does is an answer: it neither fails
 * the call of the node nor lengthens its reply.
 *
 *   memory = what follows this code: target, gas, data
 *   ok = staticcall(gas, target, data, answer at 64, 32 bytes)
 *   return ok, returndatasize, answer
 */
const ASK: Hex = '0x60263803602660003960206040606638036040600051602051fa6000523d60205260606000f3'

/** Whether the wallet's own code accepts the signature (ERC-1271). Throws only if no node answers. */
export async function acceptsSignature(
  client: PublicClient,
  wallet: Address,
  hash: Hex,
  signature: Hex,
): Promise<boolean> {
  const asked = encodeFunctionData({
    abi: contractWalletAbi,
    functionName: 'isValidSignature',
    args: [hash, signature],
  })
  const data = concat([ASK, pad(wallet), numberToHex(WALLET_GAS, { size: 32 }), asked])
  const { data: answer = '0x' } = await client.call({ data, gas: CALL_GAS })
  if (size(answer) !== 96) throw new NodeSilence('The node did not run the init code')
  const [isOk, length, word] = [slice(answer, 0, 32), slice(answer, 32, 64), slice(answer, 64, 96)]
  return hexToBigInt(isOk) === 1n && hexToBigInt(length) >= 32n && word === MAGIC_WORD
}

const MAGIC_WORD = pad(VALID_SIGNATURE, { dir: 'right', size: 32 })
