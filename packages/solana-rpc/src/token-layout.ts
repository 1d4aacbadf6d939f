import { type Address, address, getAddressDecoder } from '@solana/kit'

export const TOKEN_PROGRAM = address('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')
export const TOKEN_2022_PROGRAM = address('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb')

// Layouts of SPL Token: a mint has 82 bytes, an account 165, a multisig 355. Token-2022 pads a mint with
// extensions to 165, puts a type byte there (1 mint, 2 account) and appends type-length-value entries.
const MINT_SIZE = 82
const ACCOUNT_SIZE = 165
const MULTISIG_SIZE = 355
const TYPE_OFFSET = 165
const EXTENSIONS_OFFSET = 166

const addressDecoder = getAddressDecoder()

export type TokenAccount = {
  mint: Address
  owner: Address
  amount: bigint
  delegate: Address | undefined
  state: 'uninitialized' | 'initialized' | 'frozen'
  rentExemptReserve: bigint | undefined
  delegatedAmount: bigint
  closeAuthority: Address | undefined
}
export type Mint = {
  mintAuthority: Address | undefined
  supply: bigint
  decimals: number
  isInitialized: boolean
  freezeAuthority: Address | undefined
}
export type Extension = { kind: number; value: Uint8Array }
type Owned = { owner: string; data: Uint8Array }

export function isTokenProgram(program: string): boolean {
  return program === TOKEN_PROGRAM || program === TOKEN_2022_PROGRAM
}

/** Undefined if the account is not a token account of either token program. */
export function findTokenAccount(account: Owned): TokenAccount | undefined {
  if (!hasShape(account, { size: ACCOUNT_SIZE, type: 2 })) return undefined
  const { data } = account
  const view = toView(data)
  const states = ['uninitialized', 'initialized', 'frozen'] as const
  const state = states[data[108] ?? 0]
  if (state === undefined || state === 'uninitialized') return undefined
  return {
    mint: addressAt(data, 0),
    owner: addressAt(data, 32),
    amount: view.getBigUint64(64, true),
    delegate: optionalAddressAt(data, 72),
    state,
    rentExemptReserve: view.getUint32(109, true) === 1 ? view.getBigUint64(113, true) : undefined,
    delegatedAmount: view.getBigUint64(121, true),
    closeAuthority: optionalAddressAt(data, 129),
  }
}

/** Undefined if the account is not a mint of either token program. */
export function findMint(account: Owned): Mint | undefined {
  if (!hasShape(account, { size: MINT_SIZE, type: 1 })) return undefined
  const { data } = account
  if (data[45] !== 1) return undefined
  return {
    mintAuthority: optionalAddressAt(data, 0),
    supply: toView(data).getBigUint64(36, true),
    decimals: data[44] ?? 0,
    isInitialized: true,
    freezeAuthority: optionalAddressAt(data, 46),
  }
}

/** The Token-2022 extensions of a mint or account, in the order they are stored. */
export function readExtensions(account: Owned): Extension[] {
  const extensions: Extension[] = []
  if (account.owner !== TOKEN_2022_PROGRAM) return extensions
  const { data } = account
  const view = toView(data)
  let offset = EXTENSIONS_OFFSET
  while (offset + 4 <= data.length) {
    const kind = view.getUint16(offset, true)
    const end = offset + 4 + view.getUint16(offset + 2, true)
    if (kind === 0 || end > data.length) break
    extensions.push({ kind, value: data.subarray(offset + 4, end) })
    offset = end
  }
  return extensions
}

export function addressAt(data: Uint8Array, offset: number): Address {
  return addressDecoder.decode(data, offset)
}

/** `OptionalNonZeroPubkey`: 32 zero bytes stand for none. */
export function nonZeroAddressAt(data: Uint8Array, offset: number): Address | null {
  return data.subarray(offset, offset + 32).some((byte) => byte !== 0) ? addressAt(data, offset) : null
}

function optionalAddressAt(data: Uint8Array, offset: number): Address | undefined {
  return toView(data).getUint32(offset, true) === 1 ? addressAt(data, offset + 4) : undefined
}

function hasShape({ owner, data }: Owned, shape: { size: number; type: number }): boolean {
  if (!isTokenProgram(owner)) return false
  if (data.length === shape.size) return true
  if (owner !== TOKEN_2022_PROGRAM || data.length === MULTISIG_SIZE) return false
  return data.length > TYPE_OFFSET && data[TYPE_OFFSET] === shape.type
}

function toView(data: Uint8Array): DataView {
  return new DataView(data.buffer, data.byteOffset, data.byteLength)
}
