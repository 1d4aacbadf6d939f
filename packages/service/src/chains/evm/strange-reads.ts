import {
  type Address,
  concat,
  numberToHex,
  type PublicClient,
  pad,
  type ReadContractParameters,
  toFunctionSelector,
} from 'viem'
import { attempt } from './attempt.ts'

// Several times what an honest token needs. With all that a node allows, one token could keep it busy until it passes
// for silent.
export const STRANGE_GAS = 1_000_000n

/** Reads contracts of strangers, such as tokens, with a gas limit. One that exceeds it refuses, as if it reverted. */
export function strangeReads(client: PublicClient): Pick<PublicClient, 'readContract'> {
  const readContract = (call: ReadContractParameters) => {
    // viem passes it on; only its type of a read lacks it.
    const limited = { ...call, gas: STRANGE_GAS }
    return client.readContract(limited)
  }
  return { readContract: readContract as PublicClient['readContract'] }
}

const FLAG_SET = numberToHex(1, { size: 32 })
const FLAG_CLEAR = numberToHex(0, { size: 32 })

/** Asks a function of a contract about an address; undefined for anything but a plain yes or no. */
export function createFlagReader(client: Pick<PublicClient, 'call'>) {
  return async (flag: string, contract: string, address: string): Promise<boolean | undefined> => {
    const data = concat([toFunctionSelector(`${flag}(address)`), pad(address as Address)])
    const call = { to: contract as Address, data, gas: STRANGE_GAS }
    const told = await attempt(client, () => client.call(call))
    if (told.kind !== 'ok') return undefined
    if (told.result.data === FLAG_SET) return true
    return told.result.data === FLAG_CLEAR ? false : undefined
  }
}
