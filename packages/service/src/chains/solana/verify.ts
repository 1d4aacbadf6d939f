import { type ClosedToken, type Findings, joinFindings } from '../findings.ts'
import {
  isNative,
  type Mint,
  type RawAccount,
  readAccounts,
  readMint,
  SYSTEM_PROGRAM,
  toTokenAccount,
  toTokenAccountAddress,
} from './accounts.ts'
import type { SolanaClient } from './client.ts'
import { readProgram } from './deployment.ts'

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

const NOTHING = { problems: [], warnings: [], closed: [] }

/**
 * Lists the differences between the chain and the configuration. Genesis, program and roles are facts of custody.
 * Issuers and strangers can change everything else, which closes one token or is told.
 */
export async function verifySolana(client: SolanaClient, expected: ExpectedSolana): Promise<Findings> {
  const { name, genesisHash, vault, attester, feePayers } = expected
  const actual = await client.rpc.getGenesisHash().send()
  if (genesisHash !== undefined && actual !== genesisHash) {
    return refused(`${name}: the node serves the chain of genesis ${actual}, not ${genesisHash}`)
  }
  const roles = [vault, attester, ...feePayers]
  if (new Set(roles).size < roles.length) {
    return refused(`${name}: vault, attester and fee payers must differ`)
  }
  const ofProgram = await verifyProgram(client, expected)
  const found = await Promise.all(expected.mints.map((mint) => verifyMint(client, expected, mint)))
  const named = (texts: readonly string[]) => texts.map((text) => `${name}: ${text}`)
  const { problems, warnings, closed } = joinFindings(found)
  return { problems: named([...ofProgram, ...problems]), warnings: named(warnings), closed: closed ?? [] }
}

const refused = (problem: string): Findings => ({ ...NOTHING, problems: [problem] })

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
): Promise<Findings> {
  const close = (why: string) => ({ ...NOTHING, closed: [{ token: mint, why } satisfies ClosedToken] })
  const found = await readMint(client, mint)
  if (!found) return close(`no mint at ${mint}`)
  if (found.refusal) return close(`mint ${mint} cannot be swapped: ${found.refusal}`)
  if (decimals !== undefined && decimals !== found.decimals) {
    return close(`mint ${mint} has ${found.decimals} decimals, not ${decimals}`)
  }
  return isNative(found) ? verifyNative(client, expected) : verifyHoldings(client, expected, found)
}

/** A key without SOL pays nothing, until it is funded. */
async function verifyNative(client: SolanaClient, { feePayers, vault }: ExpectedSolana): Promise<Findings> {
  const holders = [...feePayers.map((address) => ['fee payer', address] as const), ['vault', vault] as const]
  const accounts = await readAccounts(client, { addresses: holders.map(([, address]) => address) })
  const isPlain = (account: RawAccount) => account.owner === SYSTEM_PROGRAM && account.data.length === 0
  const each = holders.map(([role, address], index): Findings => {
    const account = accounts[index]
    const poor = `the ${role} ${address} has no SOL: run service fund apply`
    if (!account) return { ...NOTHING, warnings: [poor] }
    return isPlain(account) ? NOTHING : refused(`the ${role} ${address} is not a plain system account`)
  })
  return joinFindings(each)
}

async function verifyHoldings(
  client: SolanaClient,
  { feePayers, vault }: ExpectedSolana,
  { mint, program }: Mint,
): Promise<Findings> {
  const owners = [vault, ...feePayers]
  const addresses = await Promise.all(owners.map((owner) => toTokenAccountAddress({ owner, mint, program })))
  const accounts = await readAccounts(client, { addresses })
  const [held, ...ofPayers] = accounts.map((account) => account && toTokenAccount(account))
  // Anybody can open one. No transaction that a fee payer signs pays from it.
  const isOwning = ofPayers.some((tokens) => tokens !== undefined)
  const warnings = isOwning ? [`a fee payer owns a token account of ${mint}`] : []
  const close = (closed: Omit<ClosedToken, 'token'>): Findings => ({
    ...{ problems: [], warnings, closed: [{ token: mint, ...closed }] },
  })
  if (held?.owner !== vault)
    return close({ why: `the vault has no token account of ${mint}: run service deploy`, isUndeployed: true })
  return held.frozen ? close({ why: `the vault's account of ${mint} is frozen` }) : { ...NOTHING, warnings }
}
