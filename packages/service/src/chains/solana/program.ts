import { escrowProgram } from '@geoswap/solana-escrow/program'
import { type Address, getAddressDecoder, type ReadonlyUint8Array } from '@solana/kit'
import { readAccounts } from './accounts.ts'
import type { SolanaClient } from './client.ts'

/** The loader of programs that an authority can change until it gives that up. */
export const LOADER = 'BPFLoaderUpgradeab1e11111111111111111111111' as Address
// Kind of account and address of the code; kind, slot, and the authority with a byte that tells whether there is one.
const CODE_ADDRESS_AT = 4
const AUTHORITY_AT = 12
export const CODE_AT = 45

/** `authority` can change the program; undefined once it is final. */
export type DeployedProgram = { state: 'missing' | 'other' | 'right'; authority?: string }

/** Compares a deployed program with the escrow, byte for byte. */
export async function readProgram(
  client: Pick<SolanaClient, 'rpc'>,
  program: string,
): Promise<DeployedProgram> {
  const [account] = await readAccounts(client, { addresses: [program] })
  if (!account) return { state: 'missing' }
  if (account.owner !== LOADER || !account.executable) return { state: 'other' }
  const address = getAddressDecoder().decode(account.data.slice(CODE_ADDRESS_AT))
  const [code] = await readAccounts(client, { addresses: [address] })
  if (!code) return { state: 'missing' }
  const authority = code.data[AUTHORITY_AT] === 1 ? authorityIn(code.data) : undefined
  const state = isEscrow(code.data.slice(CODE_AT)) ? 'right' : 'other'
  return { state, ...(authority && { authority }) }
}

const authorityIn = (data: ReadonlyUint8Array) => getAddressDecoder().decode(data.slice(AUTHORITY_AT + 1))

/** The account may be longer than the code: the rest is zeros. */
function isEscrow(code: ReadonlyUint8Array): boolean {
  return code.length >= escrowProgram.length && code.every((byte, at) => byte === (escrowProgram[at] ?? 0))
}
