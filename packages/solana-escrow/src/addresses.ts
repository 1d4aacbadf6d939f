import {
  type Address,
  getAddressEncoder,
  getProgramDerivedAddress,
  type ProgramDerivedAddress,
} from '@solana/kit'
import {
  ASSOCIATED_TOKEN_PROGRAM,
  hashTerms,
  type OpId,
  opIdEncoder,
  type Terms,
  type Token,
  toHeldToken,
} from './terms.ts'

// A swap has up to three: authority and account of its input, and marker of its delivery.
const MAX_KNOWN = 30_000
const known = new Map<string, Promise<ProgramDerivedAddress>>()

/**
 * Finds the address once: a search takes milliseconds, and each step of a swap needs the same ones. Forgets the oldest
 * of too many.
 */
function findOnce(name: string, find: () => Promise<ProgramDerivedAddress>): Promise<ProgramDerivedAddress> {
  const before = known.get(name)
  if (before) return before
  const found = find()
  known.set(name, found)
  found.catch(() => known.delete(name))
  const [oldest] = known.keys()
  if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest)
  return found
}

/** Owns the token account that holds the input. Nobody has its key: the program signs for it. */
export async function findAuthority(program: Address, terms: Terms): Promise<ProgramDerivedAddress> {
  const { wallet, vault, attester, rentReceiver, opId, refundDeadline, amount } = terms
  const roles = [wallet, vault, attester, rentReceiver]
  const name = ['authority', program, ...roles, opId, refundDeadline, amount].join()
  return findOnce(name, async () =>
    getProgramDerivedAddress({ programAddress: program, seeds: [await hashTerms(terms)] }),
  )
}

export type MarkerOf = { vault: Address; opId: OpId }

/**
 * Exists once `vault` delivered the op, until it is swept. Only a delivery that the vault signed creates it, and only
 * at the address of the first bump that gives one.
 */
export async function findMarker(
  program: Address,
  { vault, opId }: MarkerOf,
): Promise<ProgramDerivedAddress> {
  const seeds = [getAddressEncoder().encode(vault), opIdEncoder.encode(opId)]
  return findOnce(['marker', program, vault, opId].join(), () =>
    getProgramDerivedAddress({ programAddress: program, seeds }),
  )
}

/** The associated token account; for the native coin that of wrapped SOL. */
export async function findTokenAccount(
  owner: Address,
  token: Pick<Token, 'mint' | 'program'>,
): Promise<Address> {
  const { mint, program } = toHeldToken(token)
  const [found] = await findOnce(['token account', owner, program, mint].join(), () => {
    const encoder = getAddressEncoder()
    const seeds = [encoder.encode(owner), encoder.encode(program), encoder.encode(mint)]
    return getProgramDerivedAddress({ programAddress: ASSOCIATED_TOKEN_PROGRAM, seeds })
  })
  return found
}

/** The account that holds the input between lock and claim or refund. */
export async function findInputAccount(program: Address, { terms, token }: { terms: Terms; token: Token }) {
  const [authority] = await findAuthority(program, terms)
  return findTokenAccount(authority, token)
}
