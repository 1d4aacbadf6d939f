import type { Pool } from 'pg'
import { isRefundable, isSigned } from '../chains/is-signed.ts'
import { createSignedCheck, type SignedCheck } from '../lanes/signed-check.ts'
import type { Chains } from './chains.ts'

type OnUnsigned = Parameters<typeof createSignedCheck>[0]['onUnsigned']

/** Checks wallets' signatures of stored terms by this process's own configuration and nodes. */
export function checkSigned(pool: Pool, chains: Chains, onUnsigned: OnUnsigned): SignedCheck {
  const deps = { custodyOf: chains.custodyOf, originOf: (chainId: number) => chains.of(chainId).chain }
  return createSignedCheck({
    pool,
    isSigned: (swap) => isSigned(deps, swap),
    isRefundable: (swap) => isRefundable(deps, swap),
    onUnsigned,
  })
}
