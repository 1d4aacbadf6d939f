import { readAccounts, toTokenAccountAddress } from './accounts.ts'
import type { SolanaClient } from './client.ts'
import { isNative, type Mint, readMint } from './mint.ts'
import { SYSTEM_PROGRAM, toTokenAccount } from './token-layout.ts'

type ExpectedSolana = {
  name: string
  /** The expected cluster. Without it, any healthy chain is accepted. */
  genesisHash?: string
  feePayer: string
  vaults: { intake: string; inventory: string }
  mints: readonly { mint: string; decimals: number | undefined }[]
}

/** Lists the differences between the chain and the configuration. */
export async function verifySolana(client: SolanaClient, expected: ExpectedSolana): Promise<string[]> {
  const { name, genesisHash, feePayer, vaults } = expected
  const actual = await client.rpc.getGenesisHash().send()
  if (genesisHash !== undefined && actual !== genesisHash) {
    return [`${name}: the node serves the chain of genesis ${actual}, not ${genesisHash}`]
  }
  const roles = [feePayer, vaults.intake, vaults.inventory]
  if (new Set(roles).size < roles.length) return [`${name}: fee payer, intake and inventory must differ`]
  const problems = await Promise.all(expected.mints.map((mint) => verifyMint(client, expected, mint)))
  return problems.flat().map((problem) => `${name}: ${problem}`)
}

async function verifyMint(
  client: SolanaClient,
  expected: ExpectedSolana,
  { mint, decimals }: ExpectedSolana['mints'][number],
): Promise<string[]> {
  const found = await readMint(client, mint)
  if (!found) return [`no mint at ${mint}`]
  if (found.refusal) return [`mint ${mint} cannot be swapped: ${found.refusal}`]
  if (decimals !== undefined && decimals !== found.decimals) {
    return [`mint ${mint} has ${found.decimals} decimals, not ${decimals}`]
  }
  return isNative(found) ? verifyNative(client, expected) : verifyHoldings(client, expected, found)
}

async function verifyNative(client: SolanaClient, { feePayer, vaults }: ExpectedSolana): Promise<string[]> {
  const holders = Object.entries({ 'fee payer': feePayer, ...vaults })
  const accounts = await readAccounts(client, { addresses: holders.map(([, address]) => address) })
  return holders.flatMap(([role, address], index) => {
    const account = accounts[index]
    const isPlain = account?.owner === SYSTEM_PROGRAM && account.data.length === 0
    return isPlain ? [] : [`the ${role} ${address} is not a plain system account`]
  })
}

async function verifyHoldings(
  client: SolanaClient,
  { feePayer, vaults }: ExpectedSolana,
  { mint, program }: Mint,
): Promise<string[]> {
  const holders = Object.entries({ ...vaults, feePayer })
  const addresses = await Promise.all(
    holders.map(([, owner]) => toTokenAccountAddress({ owner, mint, program })),
  )
  const accounts = await readAccounts(client, { addresses })
  return holders.flatMap(([role, owner], index) => {
    const account = accounts[index]
    const tokens = account && toTokenAccount(account)
    // The fee payer signs transactions with caller content: it must own nothing that a transaction could move.
    if (role === 'feePayer') return tokens ? [`the fee payer owns a token account of ${mint}`] : []
    if (tokens?.owner !== owner) return [`the ${role} vault has no token account of ${mint}`]
    return tokens.frozen ? [`the ${role} vault's account of ${mint} is frozen`] : []
  })
}
