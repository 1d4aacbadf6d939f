import { DEFAULT_HISTORY_LIMIT, type HistoryQuery, type HistoryReply } from '@geoswap/wire'
import { invalidRequest } from '../../errors.ts'
import type { Db } from '../../store/db.ts'
import { type HistoryCursor, type HistoryFilter, readHistory } from '../../store/history.ts'
import { type Catalog, findChain } from '../../swap/catalog.ts'
import { assertOwn, type KeyRules } from '../../swap/key-rules.ts'

export type HistoryDeps = {
  pool: Db
  catalog: Catalog
  /** The stored form of a wallet of any family; undefined if it is not an address. */
  parseWallet(text: string): string | undefined
}

/**
 * Returns one page of the account's swaps, or of those of the wallet that signed the request, newest first. Swaps
 * submitted later do not shift the following pages.
 */
export async function history(
  deps: HistoryDeps,
  accountId: string,
  query: HistoryQuery,
  rules: Pick<KeyRules, 'wallet'> = {},
): Promise<HistoryReply> {
  const { limit = DEFAULT_HISTORY_LIMIT } = query
  const filter = toFilter(deps, query)
  assertOwn(rules, filter.wallet)
  // Reads one more to find out whether another page follows.
  const wallet = filter.wallet ?? rules.wallet
  const found = await readHistory(deps.pool, { ...filter, wallet, accountId, limit: limit + 1 })
  const page = found.slice(0, limit)
  const last = page.at(-1)
  return {
    swaps: page.map(({ cursor: _cursor, ...swap }) => swap),
    nextCursor: last && found.length > limit ? toCursor(last.cursor) : undefined,
  }
}

const WALLET =
  'must be an EVM address (in one case or with a right checksum), a Solana address, or one on a served chain, ' +
  'such as eip155:8453:0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

function toFilter(deps: HistoryDeps, query: HistoryQuery): Omit<HistoryFilter, 'accountId' | 'limit'> {
  const { wallet, chainId } = toWallet(deps, query.wallet ?? '')
  const below = query.cursor && fromCursor(query.cursor)
  const wrong = [
    ...(query.wallet && !wallet ? [{ field: 'wallet', message: WALLET }] : []),
    ...(query.cursor && !below
      ? [{ field: 'cursor', message: 'must be the nextCursor of a page, unchanged' }]
      : []),
    ...(['from', 'to'] as const)
      .filter((field) => query[field] !== undefined && !isTime(query[field]))
      .map((field) => ({ field, message: 'must be a time of the calendar, such as 2026-01-02T03:04:05Z' })),
  ]
  if (wrong.length > 0) throw invalidRequest(...wrong)
  const { status, externalId, from, to } = query
  const times = { from: from || undefined, to: to || undefined }
  return { wallet, chainId, externalId, below: below || undefined, status, ...times }
}

/** A CAIP-10 account also selects the chain that its swaps left. */
function toWallet({ catalog, parseWallet }: HistoryDeps, text: string): Partial<HistoryFilter> {
  const end = text.lastIndexOf(':')
  const wallet = parseWallet(text.slice(end + 1))
  if (end < 0) return wallet === undefined ? {} : { wallet }
  const chain = findChain(catalog, text.slice(0, end))
  return wallet && chain ? { wallet, chainId: chain.chainId } : {}
}

function toCursor({ createdAt, swapId }: HistoryCursor): string {
  return Buffer.from(`${createdAt} ${swapId}`).toString('base64url')
}

const CURSOR = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z) ([A-Za-z0-9_-]{1,80})$/

function fromCursor(cursor: string): HistoryCursor | undefined {
  const [, createdAt, swapId] = CURSOR.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? []
  if (!createdAt || !swapId || !isTime(createdAt)) return undefined
  return { createdAt, swapId }
}

/**
 * Refuses dates that the calendar lacks: 30 February would become a day in March, and year 0 an error of the database.
 */
function isTime(text: string): boolean {
  const time = new Date(text)
  return (
    !text.startsWith('0000') &&
    !Number.isNaN(time.getTime()) &&
    time.toISOString().startsWith(text.slice(0, 19))
  )
}
