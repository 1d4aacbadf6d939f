import { isAddress } from '@solana/kit'
import type { SolanaBuild } from '../calls.ts'
import { callNode } from '../checks/deployment.ts'
import { checkSolanaBuild } from '../checks/solana-build.ts'
import { readSolanaInput } from '../checks/solana-input.ts'
import { SKEW_SECONDS } from '../checks/terms.ts'
import { nowSeconds } from '../retry.ts'
import type { SignatureLifetime, SolanaSigner } from '../signers.ts'
import type { BuilderDeps, Check, Family, Signed } from './family.ts'

type Life = SignatureLifetime & { family: 'solana' }

// 150 blocks, with room for skipped slots. Only a node can tell that its chain has halted.
const BLOCKHASH_SECONDS = 150

/** Solana: a wallet signs a transaction. No code on the chain proves who owns an address, so pins are named. */
export const solana: Family = {
  name: 'solana',
  parseAddress: (text) => (isAddress(text) ? text : undefined),
  isComplete: ({ escrow, vault, attester }) =>
    escrow !== undefined && vault !== undefined && attester !== undefined,
  isVerifiable: false,
  whatIsMissing: (chainId) =>
    `The escrow on chain ${chainId} is not known, and the service is not trusted to name it. Give createClient ` +
    `the operator's program, vault and attester: contracts: { ${chainId}: { escrow, vault, attester } }.`,
  namedBy: () => ({}),
  choose: async ({ quote }) => ({ chosen: { method: 'delegation' }, quote, method: undefined }),
  createBuilder:
    ({ calls, signal }: BuilderDeps) =>
    (quote) =>
      calls.build(quote, { signal }),
  sign: signTransaction,
  lockableUntil: ({ signedAt }: Life) => signedAt + SKEW_SECONDS,
  async isLockable({ blockhash, signedAt }: Life, rpcUrl: string) {
    // A node that lags does not know a new blockhash yet and answers as for an expired one.
    if (nowSeconds() <= signedAt + BLOCKHASH_SECONDS) return true
    const asked = [blockhash, { commitment: 'finalized' }]
    const { value } = (await callNode(rpcUrl, 'isBlockhashValid', asked)) as { value: unknown }
    return value !== false
  },
}

async function signTransaction(
  build: SolanaBuild,
  signer: SolanaSigner,
  { terms, context, onSign }: Check,
): Promise<Signed> {
  const transaction = await checkSolanaBuild(build, terms, context)
  const blockhash = readSolanaInput(transaction)?.blockhash ?? ''
  const life: Life = { family: 'solana', chainId: terms.originChain, blockhash, signedAt: nowSeconds() }
  await onSign({ transaction }, life)
  const signedTransaction = await signer.signTransaction(transaction)
  return { submission: { geoOpToken: build.geoOpToken, signedTransaction }, life }
}
