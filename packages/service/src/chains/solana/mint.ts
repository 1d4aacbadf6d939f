import { readAccounts } from './accounts.ts'
import { NATIVE_SOL } from './address.ts'
import type { SolanaClient } from './client.ts'
import { type Extension, type MintAccount, SYSTEM_PROGRAM, toMintAccount } from './token-layout.ts'

/** What a transfer needs to know of a token. The native coin is `NATIVE_SOL`, of the System program. */
export type Token = { mint: string; program: string; decimals: number }

/** `refusal` names what makes this mint unfit: something other than the amount sent could arrive. */
export type Mint = Token & { extensions: string[]; refusal?: string }

export const NATIVE_TOKEN: Token = { mint: NATIVE_SOL, program: SYSTEM_PROGRAM, decimals: 9 }

export function isNative({ mint }: Pick<Token, 'mint'>): boolean {
  return mint === NATIVE_SOL
}

/*
 * Token-2022's extensions of a mint, by number. Refused is what lets someone take, stop, shrink or hide what
 * was sent. Interest and scaled amounts change only what wallets display: transfers count in units.
 */
const EXTENSIONS: Readonly<Record<number, { name: string; isRefused?: (value: Uint8Array) => boolean }>> = {
  1: { name: 'transferFeeConfig', isRefused: always },
  3: { name: 'mintCloseAuthority' }, // a mint can be closed only when no one holds any of it
  4: { name: 'confidentialTransferMint', isRefused: always },
  6: { name: 'defaultAccountState', isRefused: ([state]) => state !== 1 },
  9: { name: 'nonTransferable', isRefused: always },
  10: { name: 'interestBearingConfig' },
  12: { name: 'permanentDelegate', isRefused: always },
  14: { name: 'transferHook', isRefused: always }, // also without a program: its authority may name one later
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

/** Undefined when there is no mint at this address. */
export async function readMint(client: SolanaClient, mint: string): Promise<Mint | undefined> {
  if (isNative({ mint })) return { ...NATIVE_TOKEN, extensions: [] }
  const [account] = await readAccounts(client, { addresses: [mint] })
  const found = account && toMintAccount(account)
  return found && { mint, program: account.owner, ...judge(found) }
}

function judge({ decimals, extensions }: MintAccount): Omit<Mint, 'mint' | 'program'> {
  const names = extensions.map(nameOf)
  const refused = extensions.find(isRefused)
  return { decimals, extensions: names, ...(refused && { refusal: nameOf(refused) }) }
}

function nameOf({ kind }: Extension): string {
  return EXTENSIONS[kind]?.name ?? `extension${kind}`
}

/** What this code does not know may do anything. */
function isRefused({ kind, value }: Extension): boolean {
  const known = EXTENSIONS[kind]
  return known ? (known.isRefused?.(value) ?? false) : true
}
