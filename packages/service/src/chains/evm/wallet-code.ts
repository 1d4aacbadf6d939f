import { contractWalletAbi, VALID_SIGNATURE } from '@geoswap/protocol'
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
import { NodeSilence } from '../nodes/silence.ts'

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
