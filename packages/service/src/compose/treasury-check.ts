import { getAddress } from 'viem'
import { judgeTreasury, readCodeHash } from '../chains/evm/treasury-code.ts'
import type { Config } from '../config.ts'
import { mapOwn } from '../isolate.ts'
import type { Chains } from './chains.ts'

/** Refuses to start with a treasury whose code differs between the chains that answer. */
export async function assertOneTreasury(
  { network, acceptsTreasury }: Pick<Config, 'network' | 'acceptsTreasury'>,
  { all }: Pick<Chains, 'all'>,
): Promise<void> {
  if (network.treasury === undefined || acceptsTreasury) return
  const address = getAddress(network.treasury)
  const seen = await mapOwn(
    all.flatMap(({ config: chain, evm, gate }) => (evm && gate.isOpen ? [{ chain, evm }] : [])),
    async ({ chain, evm }) => ({ chain, code: await readCodeHash(evm.client, address) }),
  )
  const problem = judgeTreasury(address, seen)
  if (problem) throw new Error(`${problem}, or start with --accept-treasury`)
}
