import { setTimeout as delay } from 'node:timers/promises'
import {
  type Address,
  appendTransactionMessageInstructions,
  type Base64EncodedWireTransaction,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  type Instruction,
  type KeyPairSigner,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit'
import { getSetComputeUnitPriceInstruction } from '@solana-program/compute-budget'
import { getCreateAssociatedTokenIdempotentInstruction } from '@solana-program/token'
import { chunksOf } from '../../swap/group.ts'
import { readAccounts, readMint, type Token, toTokenAccountAddress } from './accounts.ts'
import type { SolanaClient, SolanaClients } from './client.ts'
import { readPriorityPrice, readRent, tokenAccountRent } from './facts.ts'
import { readBlockHeight } from './heads.ts'
import { readSignatures } from './reads.ts'

/**
 * Broadcasts to every node. Returns when one accepted the bytes; throws if none did, although they may have arrived.
 * Nodes do not rebroadcast by themselves, so the caller decides.
 */
export async function broadcast({ nodes }: SolanaClient, raw: string): Promise<void> {
  const options = { encoding: 'base64', skipPreflight: true, maxRetries: 0n } as const
  await Promise.any(
    nodes.map((rpc) => rpc.sendTransaction(raw as Base64EncodedWireTransaction, options).send()),
  )
}

const POLL_MS = 400
// In millionths of a lamport per unit: at the cap a transaction of two instructions costs 0.00008 SOL more.
const PRIORITY_PRICE = { floor: 1_000n, cap: 200_000n }

/** The price at which the transactions of a command land. */
export async function priceInstruction(client: SolanaClients, payer: KeyPairSigner): Promise<Instruction> {
  const price = await readPriorityPrice(client, { accounts: [payer.address], ...PRIORITY_PRICE })
  return getSetComputeUnitPriceInstruction({ microLamports: price })
}

/**
 * Sends instructions of a command until they are confirmed. Throws if they failed, or can no longer land. Signers other
 * than the payer are part of the instructions.
 */
export async function sendInstructions(
  client: SolanaClients,
  payer: KeyPairSigner,
  instructions: readonly Instruction[],
): Promise<string> {
  const price = await priceInstruction(client, payer)
  const { value: lifetime } = await client.rpc.getLatestBlockhash({ commitment: 'confirmed' }).send()
  const signed = await pipe(
    createTransactionMessage({ version: 0 }),
    (message) => setTransactionMessageFeePayerSigner(payer, message),
    (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime, message),
    (message) => appendTransactionMessageInstructions([price, ...instructions], message),
    (message) => signTransactionMessageWithSigners(message),
  )
  const [raw, txHash] = [getBase64EncodedWireTransaction(signed), getSignatureFromTransaction(signed)]
  for (;;) {
    await broadcast(client, raw)
    await delay(POLL_MS)
    const status = (await readSignatures(client, [txHash])).get(txHash)
    if (status?.failed) throw new Error(`Transaction ${txHash} failed`)
    if (status && status.commitment !== 'processed') return txHash
    if (!status && (await readBlockHeight(client)) > lifetime.lastValidBlockHeight)
      throw new Error(`Transaction ${txHash} did not land in time. Run the command again.`)
  }
}

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
  payer: KeyPairSigner,
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
