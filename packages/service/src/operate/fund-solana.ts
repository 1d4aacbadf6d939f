import { formatUnits } from 'viem'
import { createSolanaClient } from '../chains/solana/client.ts'
import { payByNonce, readNonceRent } from '../chains/solana/nonce-payments.ts'
import type { SolanaSigner } from '../chains/solana/signer.ts'
import { describeError } from '../command.ts'
import type { SolanaChainConfig } from '../config.ts'
import { missingOf } from '../model/gas-funding.ts'
import { assertCluster } from './deploy-solana.ts'
import type { KeyGas } from './gas.ts'

const SOL_DECIMALS = 9
// Of the two transactions of a run, at the highest price.
const FEE_LAMPORTS = 500_000n

type Funding = { config: SolanaChainConfig; keys: readonly KeyGas[] }

/** Pays what the keys lack, in one transaction. */
export async function fundSolana(
  { config, keys }: Funding,
  payer: SolanaSigner,
  say: (text: string) => void,
): Promise<number> {
  const client = createSolanaClient({ urls: config.rpcUrls })
  await assertCluster(client, config)
  let due: { role: string; to: string; lamports: bigint }[] = []
  const txHash = await payByNonce(client, payer, {
    addresses: keys.map(({ address }) => address),
    plan(balances) {
      due = keys.flatMap(({ role, address, needs }, index) => {
        const lamports = missingOf({ balance: balances[index] ?? 0n, needs })
        return lamports > 0n ? [{ role, to: address, lamports }] : []
      })
      return due
    },
  }).catch((error: unknown) => {
    throw new Error(`${config.name}: ${describeError(error)}. Run it again.`, { cause: error })
  })
  if (txHash === undefined) return 0
  for (const { role, to, lamports } of due)
    say(`${config.name}: ${formatUnits(lamports, SOL_DECIMALS)} SOL to the ${role} ${to}, ${txHash}`)
  return due.length
}

/** Needed by the payer beside the payments: fees, the nonce account, and the least that keeps its own account. */
export async function readSolanaReserve({ rpcUrls }: SolanaChainConfig, payer: string): Promise<bigint> {
  const client = createSolanaClient({ urls: rpcUrls })
  const [own, nonce] = await Promise.all([
    client.rpc.getMinimumBalanceForRentExemption(0n).send(),
    readNonceRent(client, payer),
  ])
  return own + nonce + FEE_LAMPORTS
}
