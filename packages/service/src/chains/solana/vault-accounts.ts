import type { Address } from '@solana/kit'
import { getCreateAssociatedTokenIdempotentInstruction } from '@solana-program/token'
import { chunksOf } from '../../model/group.ts'
import { readAccounts, toTokenAccountAddress } from './accounts.ts'
import type { SolanaClients } from './client.ts'
import { readMint, type Token } from './mint.ts'
import { readRent, tokenAccountRent } from './rent.ts'
import { sendInstructions } from './send-instructions.ts'
import type { SolanaSigner } from './signer.ts'

// A creation names up to six accounts, of which four are the same in all.
const PER_TRANSACTION = 8

export type MissingAccount = { address: string; token: Token; rent: bigint }

/** The vault's token accounts that do not exist yet. Throws for an address that is no mint. */
export async function findMissingAccounts(
  client: SolanaClients,
  { vault, mints }: { vault: string; mints: readonly string[] },
): Promise<MissingAccount[]> {
  const rent = await readRent(client)
  const wanted = await Promise.all(
    mints.map(async (mint) => {
      const token = await readMint(client, mint)
      if (!token) throw new Error(`No mint at ${mint}`)
      const address = await toTokenAccountAddress({ owner: vault, mint, program: token.program })
      return { address, token, rent: tokenAccountRent(rent, token) }
    }),
  )
  const accounts = await readAccounts(client, { addresses: wanted.map(({ address }) => address) })
  return wanted.filter((_, index) => accounts[index] === undefined)
}

/** Creates token accounts of the vault. One that exists meanwhile stays. */
export async function createAccounts(
  client: SolanaClients,
  payer: SolanaSigner,
  { vault, missing }: { vault: string; missing: readonly MissingAccount[] },
): Promise<string[]> {
  const txHashes: string[] = []
  for (const some of chunksOf(missing, PER_TRANSACTION)) {
    const creations = some.map(({ address, token }) =>
      getCreateAssociatedTokenIdempotentInstruction({
        payer,
        ata: address as Address,
        owner: vault as Address,
        mint: token.mint as Address,
        tokenProgram: token.program as Address,
      }),
    )
    txHashes.push(await sendInstructions(client, payer, creations))
  }
  return txHashes
}
