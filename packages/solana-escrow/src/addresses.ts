import {
  type Address,
  getAddressEncoder,
  getProgramDerivedAddress,
  type ProgramDerivedAddress,
} from '@solana/kit'
import { hashTerms, type OpId, opIdEncoder, type Terms } from './terms.ts'
import { ASSOCIATED_TOKEN_PROGRAM, type Token, toHeldToken } from './token.ts'

/** Owns the token account that holds the input. Nobody has its key: the program signs for it. */
export async function findAuthority(program: Address, terms: Terms): Promise<ProgramDerivedAddress> {
  return getProgramDerivedAddress({ programAddress: program, seeds: [await hashTerms(terms)] })
}

export type MarkerOf = { vault: Address; opId: OpId }

/** Exists once `vault` delivered the op, until it is swept. Only a delivery that the vault signed creates it. */
export async function findMarker(
  program: Address,
  { vault, opId }: MarkerOf,
): Promise<ProgramDerivedAddress> {
  return getProgramDerivedAddress({
    programAddress: program,
    seeds: [getAddressEncoder().encode(vault), opIdEncoder.encode(opId)],
  })
}

/** The associated token account; for the native coin that of wrapped SOL. */
export async function findTokenAccount(owner: Address, token: Token): Promise<Address> {
  const { mint, program } = toHeldToken(token)
  const encoder = getAddressEncoder()
  const [found] = await getProgramDerivedAddress({
    programAddress: ASSOCIATED_TOKEN_PROGRAM,
    seeds: [encoder.encode(owner), encoder.encode(program), encoder.encode(mint)],
  })
  return found
}

/** The account that holds the input between lock and claim or refund. */
export async function findInputAccount(program: Address, { terms, token }: { terms: Terms; token: Token }) {
  const [authority] = await findAuthority(program, terms)
  return findTokenAccount(authority, token)
}
