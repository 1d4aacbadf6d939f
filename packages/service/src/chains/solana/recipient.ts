import {
  isNative,
  type RawAccount,
  readAccounts,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAMS,
  type Token,
  toTokenAccount,
  toTokenAccountAddress,
} from './accounts.ts'
import { isOnCurve } from './bytes.ts'
import type { SolanaClient } from './client.ts'
import { type Rent, tokenAccountRent } from './facts.ts'

type RecipientRefusal =
  | 'isOurs'
  | 'isTokenAccountOrMint'
  | 'isProgram'
  | 'offCurve'
  | 'foreignOwner'
  | 'frozen'
  | 'requiresMemo'
  | 'notItsTokenAccount'
  | 'belowRentMinimum'

/** Whether a payment can arrive, and in which account: for the native coin, the recipient's own. */
type Recipient =
  | { kind: 'ready'; account: string }
  | { kind: 'missing'; account: string; rentLamports: bigint }
  | { kind: 'refused'; why: RecipientRefusal }

type Query = {
  recipient: string
  token: Token
  amount: bigint
  rent: Rent
  /** Our own addresses, which no delivery may pay. */
  ours?: readonly string[]
}

/** Read again just before signing: an owner can change, close or lose a token account at any time. */
export async function readRecipient(client: SolanaClient, query: Query): Promise<Recipient> {
  const addresses = await recipientAccounts(query)
  return judgeRecipient(query, addresses, await readAccounts(client, { addresses }))
}

/** The accounts that decide whether a payment can arrive: the recipient and, for a token, its token account. */
export async function recipientAccounts({ recipient, token }: Pick<Query, 'recipient' | 'token'>) {
  if (isNative(token)) return [recipient]
  const { mint, program } = token
  return [recipient, await toTokenAccountAddress({ owner: recipient, mint, program })]
}

/** Judges by the accounts at the addresses of `recipientAccounts`. */
export function judgeRecipient(
  query: Query,
  [, address = '']: readonly string[],
  [account, held]: readonly (RawAccount | undefined)[],
): Recipient {
  if (query.ours?.includes(query.recipient)) return refused('isOurs')
  if (isNative(query.token)) return judgeNative(query, account)
  return judgeToken(query, { account, address, held })
}

const refused = (why: RecipientRefusal): Recipient => ({ kind: 'refused', why })

function judgeNative(query: Query, account: RawAccount | undefined): Recipient {
  const { recipient, amount, rent } = query
  if (!account) {
    if (!isOnCurve(recipient)) return refused('offCurve')
    if (amount < rent.emptyLamports) return refused('belowRentMinimum')
    return { kind: 'ready', account: recipient }
  }
  if (TOKEN_PROGRAMS.includes(account.owner)) return refused('isTokenAccountOrMint')
  // The recipient could not spend lamports sent to a program or to one of its accounts.
  if (account.owner !== SYSTEM_PROGRAM || account.executable) return refused('isProgram')
  if (account.lamports + amount < rent.emptyLamports) return refused('belowRentMinimum')
  return { kind: 'ready', account: recipient }
}

type Found = { account: RawAccount | undefined; address: string; held: RawAccount | undefined }

function judgeToken({ recipient, token, rent }: Query, { account, address, held }: Found): Recipient {
  if (account?.executable) return refused('isProgram')
  if (account && TOKEN_PROGRAMS.includes(account.owner)) return refused('isTokenAccountOrMint')
  // A stranger may have sent lamports to the address before the token account exists: it can still be created.
  if (!held || (held.owner === SYSTEM_PROGRAM && held.data.length === 0)) {
    if (!isOnCurve(recipient)) return refused('offCurve')
    return { kind: 'missing', account: address, rentLamports: tokenAccountRent(rent, token) }
  }
  const tokens = held.owner === token.program ? toTokenAccount(held) : undefined
  if (!tokens || tokens.mint !== token.mint) return refused('notItsTokenAccount')
  if (tokens.owner !== recipient) return refused('foreignOwner')
  if (tokens.frozen) return refused('frozen')
  // The program's transfers carry no memo of their own.
  return tokens.requiresMemo ? refused('requiresMemo') : { kind: 'ready', account: address }
}
