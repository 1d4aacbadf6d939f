import { type Extension, type MintAccount, readAccounts, SYSTEM_PROGRAM, toMintAccount } from './accounts.ts'
import { NATIVE_SOL } from './bytes.ts'
import type { SolanaClient } from './client.ts'

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
  return { decimals, extensions: names, ...(refused && { refusal: nameOf(refused) }) }
}

function nameOf({ kind }: Extension): string {
  return EXTENSIONS[kind]?.name ?? `extension${kind}`
}

/** An unknown extension may do anything. */
function isRefused({ kind, value }: Extension): boolean {
  const known = EXTENSIONS[kind]
  return known ? (known.isRefused?.(value) ?? false) : true
}
