import type { PublicClient, ReadContractParameters } from 'viem'

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
