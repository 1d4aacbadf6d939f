import { type Address, address, getAddressEncoder, getProgramDerivedAddress } from '@solana/kit'
import type { Account } from './account-store.ts'

const LOADER = address('BPFLoaderUpgradeab1e11111111111111111111111')
// More than the rent of any program.
const LAMPORTS = 10n ** 9n
// Kind, slot, whether there is an authority, the authority.
const CODE_AT = 4 + 8 + 1 + 32

type Program = { address: Address; code: Uint8Array; authority?: Address | undefined }

/** The two accounts of an upgradeable program, the one with its code first: the runtime loads it with the other. */
export async function programAccounts(program: Program): Promise<[Address, Account][]> {
  const encoder = getAddressEncoder()
  const seeds = [encoder.encode(program.address)]
  const [codeAddress] = await getProgramDerivedAddress({ programAddress: LOADER, seeds })
  const code = new Uint8Array(CODE_AT + program.code.length)
  code[0] = 3
  if (program.authority) code.set([1, ...encoder.encode(program.authority)], CODE_AT - 33)
  code.set(program.code, CODE_AT)
  const own = Uint8Array.of(2, 0, 0, 0, ...encoder.encode(codeAddress))
  const held = { lamports: LAMPORTS, owner: LOADER }
  return [
    [codeAddress, { ...held, data: code, executable: false }],
    [program.address, { ...held, data: own, executable: true }],
  ]
}
