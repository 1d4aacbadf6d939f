import { readAccounts, toTokenAccountAddress } from './accounts.ts'
import type { SolanaClient } from './client.ts'
import { isNative, type Mint, readMint } from './mint.ts'
import { readProgram } from './program.ts'
import { SYSTEM_PROGRAM, toTokenAccount } from './token-layout.ts'

type ExpectedSolana = {
  name: string
  /** The expected cluster. Without it, any healthy chain is accepted. */
  genesisHash?: string
  program: string
  vault: string
  attester: string
  feePayers: readonly string[]
  mints: readonly { mint: string; decimals: number | undefined }[]
}

/** Lists the differences between the chain and the configuration. */
export async function verifySolana(client: SolanaClient, expected: ExpectedSolana): Promise<string[]> {
  const { name, genesisHash, vault, attester, feePayers } = expected
  const actual = await client.rpc.getGenesisHash().send()
  if (genesisHash !== undefined && actual !== genesisHash) {
    return [`${name}: the node serves the chain of genesis ${actual}, not ${genesisHash}`]
  }
  const roles = [vault, attester, ...feePayers]
  if (new Set(roles).size < roles.length) return [`${name}: vault, attester and fee payers must differ`]
  const problems = await Promise.all([
    verifyProgram(client, expected),
    ...expected.mints.map((mint) => verifyMint(client, expected, mint)),
  ])
  return problems.flat().map((problem) => `${name}: ${problem}`)
}

async function verifyProgram(client: SolanaClient, { program }: ExpectedSolana): Promise<string[]> {
  const { state } = await readProgram(client, program)
  if (state === 'right') return []
  return [
    state === 'missing'
      ? `there is no escrow program at ${program}: run service deploy`
      : `the program at ${program} is not the escrow: its bytes differ`,
  ]
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

async function verifyNative(client: SolanaClient, { feePayers, vault }: ExpectedSolana): Promise<string[]> {
  const holders = [...feePayers.map((address) => ['fee payer', address] as const), ['vault', vault] as const]
  const accounts = await readAccounts(client, { addresses: holders.map(([, address]) => address) })
  return holders.flatMap(([role, address], index) => {
    const account = accounts[index]
    if (!account) return [`the ${role} ${address} has no SOL: run service fund apply`]
    const isPlain = account.owner === SYSTEM_PROGRAM && account.data.length === 0
    return isPlain ? [] : [`the ${role} ${address} is not a plain system account`]
  })
}

async function verifyHoldings(
  client: SolanaClient,
  { feePayers, vault }: ExpectedSolana,
  { mint, program }: Mint,
): Promise<string[]> {
  const owners = [vault, ...feePayers]
  const addresses = await Promise.all(owners.map((owner) => toTokenAccountAddress({ owner, mint, program })))
  const accounts = await readAccounts(client, { addresses })
  const [held, ...ofPayers] = accounts.map((account) => account && toTokenAccount(account))
  // The fee payer signs transactions with caller content: it must own nothing that a transaction could move.
  const owning = ofPayers.some((tokens) => tokens !== undefined)
    ? [`a fee payer owns a token account of ${mint}`]
    : []
  if (held?.owner !== vault)
    return [...owning, `the vault has no token account of ${mint}: run service deploy`]
  return held.frozen ? [...owning, `the vault's account of ${mint} is frozen`] : owning
}
