import { findTokenAccount } from '@geoswap/solana-escrow'
import { type Address, type Commitment, getBase64Encoder, type ReadonlyUint8Array } from '@solana/kit'
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import {
  AccountState,
  getMintDecoder,
  getMintSize,
  getTokenDecoder,
  getTokenSize,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token'
import { chunksOf } from '../../swap/group.ts'
import { NATIVE_SOL } from './bytes.ts'
import { MAX_ACCOUNTS, type SolanaClient } from './client.ts'

export const TOKEN_2022_PROGRAM_ADDRESS = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb' as Address
export const TOKEN_PROGRAMS: readonly Address[] = [TOKEN_PROGRAM_ADDRESS, TOKEN_2022_PROGRAM_ADDRESS]
export const SYSTEM_PROGRAM = SYSTEM_PROGRAM_ADDRESS

/** An account as the node returned it. */
export type RawAccount = { owner: Address; data: ReadonlyUint8Array; lamports: bigint; executable: boolean }

type TokenAccount = { mint: string; owner: string; amount: bigint; frozen: boolean; requiresMemo: boolean }
type Extension = { kind: number; value: Uint8Array }
type MintAccount = { decimals: number; extensions: Extension[] }

// Token-2022 pads a mint to the size of a token account, then writes the account type and the extensions.
const KIND_AT = getTokenSize()
const IS_MINT = 1
const IS_TOKEN_ACCOUNT = 2
// The extension by which an account's owner asks for a memo before each transfer.
const MEMO_TRANSFER = 8

/** Undefined if the account is not an initialized mint of a token program. */
function toMintAccount({ owner, data }: RawAccount): MintAccount | undefined {
  if (!isSized({ owner, data }, getMintSize(), IS_MINT)) return undefined
  const mint = getMintDecoder().decode(data)
  return mint.isInitialized ? { decimals: mint.decimals, extensions: readExtensions(data) } : undefined
}

/** Undefined if the account is not an initialized token account. */
export function toTokenAccount({ owner, data }: RawAccount): TokenAccount | undefined {
  if (!isSized({ owner, data }, getTokenSize(), IS_TOKEN_ACCOUNT)) return undefined
  const account = getTokenDecoder().decode(data)
  if (account.state === AccountState.Uninitialized) return undefined
  const frozen = account.state === AccountState.Frozen
  const memo = readExtensions(data).find(({ kind }) => kind === MEMO_TRANSFER)
  const requiresMemo = memo?.value[0] === 1
  return { mint: account.mint, owner: account.owner, amount: account.amount, frozen, requiresMemo }
}

function isSized({ owner, data }: Pick<RawAccount, 'owner' | 'data'>, size: number, kind: number): boolean {
  if (!TOKEN_PROGRAMS.includes(owner)) return false
  if (data.length === size) return true
  return owner === TOKEN_2022_PROGRAM_ADDRESS && data.length > KIND_AT && data[KIND_AT] === kind
}

/** Type, length, value, until the bytes end or a type of 0 ends the list. */
function readExtensions(data: ReadonlyUint8Array): Extension[] {
  const bytes = Uint8Array.from(data)
  const view = new DataView(bytes.buffer)
  const found: Extension[] = []
  for (let at = KIND_AT + 1; at + 4 <= bytes.length; ) {
    const kind = view.getUint16(at, true)
    if (kind === 0) break
    const length = view.getUint16(at + 2, true)
    found.push({ kind, value: bytes.slice(at + 4, at + 4 + length) })
    at += 4 + length
  }
  return found
}

type Query = { addresses: readonly string[]; commitment?: Commitment; minContextSlot?: bigint }

type Accounts = (RawAccount | undefined)[]

/** Reads accounts in the order of the addresses, undefined for a missing one. Up to 100 are of one slot. */
export async function readAccounts(client: Pick<SolanaClient, 'rpc'>, query: Query): Promise<Accounts> {
  return (await readAccountsAt(client, query)).accounts
}

/** The same, with the oldest slot that they were read at. */
export async function readAccountsAt(
  { rpc }: Pick<SolanaClient, 'rpc'>,
  { addresses, commitment = 'confirmed', minContextSlot }: Query,
): Promise<{ accounts: Accounts; slot: bigint }> {
  const options = {
    encoding: 'base64',
    commitment,
    ...(minContextSlot !== undefined && { minContextSlot }),
  } as const
  const answers = await Promise.all(
    chunksOf(addresses, MAX_ACCOUNTS).map((some) =>
      rpc.getMultipleAccounts(some as Address[], options).send(),
    ),
  )
  const accounts = answers.flatMap(({ value }) =>
    value.map((account) => {
      if (!account) return undefined
      const { owner, lamports, executable, data } = account
      return { owner, lamports, executable, data: getBase64Encoder().encode(data[0]) }
    }),
  )
  const slots = answers.map(({ context }) => context.slot)
  return { accounts, slot: slots.reduce((least, slot) => (slot < least ? slot : least), slots[0] ?? 0n) }
}

/** The owner's associated token account for a mint, whose address depends on the mint's token program. */
export async function toTokenAccountAddress(holder: {
  owner: string
  mint: string
  program: string
}): Promise<string> {
  const [mint, program] = [holder.mint as Address, holder.program as Address]
  return findTokenAccount(holder.owner as Address, { mint, program })
}

/** The properties of a token that a transfer needs. The native coin is `NATIVE_SOL`, of the System program. */
export type Token = { mint: string; program: string; decimals: number }

/**
 * `refusal` names the property that makes this mint unfit: the amount that arrives could differ from the amount sent.
 */
export type Mint = Token & { extensions: string[]; refusal?: string }

export const NATIVE_TOKEN: Token = { mint: NATIVE_SOL, program: SYSTEM_PROGRAM, decimals: 9 }

export function isNative({ mint }: Pick<Token, 'mint'>): boolean {
  return mint === NATIVE_SOL
}

/**
 * Token-2022's mint extensions, by number. Refuses those that let someone take, stop, reduce or hide a transfer.
 * Interest and scaled amounts change only the display in wallets: transfers count in units.
 */
const EXTENSIONS: Readonly<Record<number, { name: string; isRefused?: (value: Uint8Array) => boolean }>> = {
  1: { name: 'transferFeeConfig', isRefused: always },
  3: { name: 'mintCloseAuthority' }, // a mint can be closed only when its supply is 0
  4: { name: 'confidentialTransferMint', isRefused: always },
  6: { name: 'defaultAccountState', isRefused: ([state]) => state !== 1 },
  9: { name: 'nonTransferable', isRefused: always },
  10: { name: 'interestBearingConfig' },
  12: { name: 'permanentDelegate', isRefused: always },
  14: { name: 'transferHook', isRefused: always }, // even without a program: its authority may set one later
  16: { name: 'confidentialTransferFeeConfig', isRefused: always },
  18: { name: 'metadataPointer' },
  19: { name: 'tokenMetadata' },
  20: { name: 'groupPointer' },
  21: { name: 'tokenGroup' },
  22: { name: 'groupMemberPointer' },
  23: { name: 'tokenGroupMember' },
  24: { name: 'confidentialMintBurn', isRefused: always },
  25: { name: 'scaledUiAmountConfig' },
  26: { name: 'pausableConfig', isRefused: always },
}

function always(): boolean {
  return true
}

/** Undefined if there is no mint at this address. */
export async function readMint(client: SolanaClient, mint: string): Promise<Mint | undefined> {
  if (isNative({ mint })) return { ...NATIVE_TOKEN, extensions: [] }
  const [account] = await readAccounts(client, { addresses: [mint] })
  const found = account && toMintAccount(account)
  return found && { mint, program: account.owner, ...judge(found) }
}

function judge({ decimals, extensions }: MintAccount): Omit<Mint, 'mint' | 'program'> {
  const names = extensions.map(nameOf)
  const refused = extensions.find(isRefused)
  return { decimals, extensions: names, refusal: refused && nameOf(refused) }
}

function nameOf({ kind }: Extension): string {
  return EXTENSIONS[kind]?.name ?? `extension${kind}`
}

/** An unknown extension may do anything. */
function isRefused({ kind, value }: Extension): boolean {
  const known = EXTENSIONS[kind]
  return known ? (known.isRefused?.(value) ?? false) : true
}
