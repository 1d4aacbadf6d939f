import { type Address, createAddressWithSeed, type Instruction, type TransactionSigner } from '@solana/kit'
import { getCreateAccountWithSeedInstruction } from '@solana-program/system'
import { toHex, toOpId } from './bytes.ts'
import { SYSTEM_PROGRAM } from './token-layout.ts'

/** An input leaves the intake vault by one `exit`: claim and refund exclude each other on chain. */
export type MarkerKind = 'input' | 'deliver' | 'exit'

/** An account that can be created once: of all transactions that create it, only one lands. */
export type Marker = { address: string; base: string; seed: string }

type SeedOf = { key: Uint8Array; opHash: string; kind: MarkerKind; generation: number }

/**
 * The seed of a marker's address. Without the key nobody knows the address before its transaction is public, so nobody
 * can fund it first and make the creation fail. With the key and the op it is found again without a database.
 */
export async function markerSeed({ key, opHash, kind, generation }: SeedOf): Promise<string> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const text = new TextEncoder().encode(`geoswap marker 1 ${toOpId(opHash)} ${kind} ${generation}`)
  const secret = await crypto.subtle.importKey('raw', Uint8Array.from(key), algorithm, false, ['sign'])
  const mac = await crypto.subtle.sign('HMAC', secret, text)
  // The System program accepts seeds of up to 32 bytes of text.
  return toHex(new Uint8Array(mac)).slice(0, 32)
}

export async function markerAddress(base: string, seed: string): Promise<string> {
  return createAddressWithSeed({ baseAddress: base as Address, seed, programAddress: SYSTEM_PROGRAM })
}

/** `base` is the fee payer for an input, the authority of the paying vault for everything else. */
export async function toMarker({ base, ...of }: SeedOf & { base: string }): Promise<Marker> {
  const seed = await markerSeed(of)
  return { address: await markerAddress(base, seed), base, seed }
}

type Create = { marker: Marker; payer: TransactionSigner; base: TransactionSigner; lamports: bigint }

/** Fails if the account already holds lamports: System program error 0, "already in use". */
export function createMarkerInstruction({ marker, payer, base, lamports }: Create): Instruction {
  return getCreateAccountWithSeedInstruction({
    payer,
    newAccount: marker.address as Address,
    ...(base.address !== payer.address && { baseAccount: base }),
    base: base.address,
    seed: marker.seed,
    amount: lamports,
    space: 0n,
    programAddress: SYSTEM_PROGRAM,
  })
}
