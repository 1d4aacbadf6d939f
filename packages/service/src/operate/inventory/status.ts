import type { Pool } from 'pg'
import { type Env, type Output, toTable, withDatabase } from '../../command.ts'
import { type Flow, readExposure, readInEscrow, readToClaim } from '../../store/figures.ts'
import { findOpenMoves, type RecordedMove, readInventory } from '../../store/inventory.ts'
import { formatCents, toCents, usdE18 } from '../../swap/amount.ts'
import { capsFrom } from '../../swap/exposure.ts'
import { type Cap, inCoins, inUsd, readStock, type TokenStock } from './holdings.ts'
import { type InventorySession, openSession, readPrices } from './session.ts'

type Exposure = { chain: string; usd: string; capUsd: number; fastCapUsd: number }
type Status = {
  stocks: readonly TokenStock[]
  exposure: readonly Exposure[]
  moves: readonly RecordedMove[]
}

export async function showStatus(env: Env, output: Output, { json }: { json: boolean }): Promise<number> {
  const session = await openSession(env)
  const status = await withDatabase(env, 'inventory', (pool) => readStatus(env, session, pool))
  for (const chain of session.silent) output.hint(`${chain} does not answer and is not shown.`)
  output.out(json ? JSON.stringify(toJson(status, session), null, 2) : toText(status, session))
  return session.silent.length > 0 ? 1 : 0
}

export async function readStatus(env: Env, session: InventorySession, pool: Pool): Promise<Status> {
  const [booked, prices] = await Promise.all([readBooked(pool), readPrices(env, session)])
  const stocks = [...session.catalog.chains.values()].flatMap(({ chainId, tokens }) =>
    tokens.map((token) => {
      const price = prices.referenceOf(token.asset).price
      const known = { ...booked.of(chainId, token.address), price }
      return readStock(session.network, session.chains.of(chainId), token, known)
    }),
  )
  const held = await Promise.all(stocks)
  return { ...booked, stocks: held, exposure: exposureOf(session, booked.exposed, held) }
}

async function readBooked(pool: Pool) {
  const inventory = await readInventory(pool)
  const toClaim = await readToClaim(pool)
  const exposed = await readExposure(pool)
  const inEscrow = await readInEscrow(pool)
  const moves = await findOpenMoves(pool)
  const isOf = (chainId: number, token: string) => (row: Pick<Flow, 'chainId' | 'token'>) =>
    row.chainId === chainId && row.token === token
  const of = (chainId: number, token: string) => ({
    reserved: inventory.find(isOf(chainId, token))?.reserved ?? 0n,
    toClaim: toClaim.find(isOf(chainId, token))?.amount ?? 0n,
    ofSwaps: inEscrow.find(isOf(chainId, token))?.amount ?? 0n,
  })
  return { of, exposed, moves }
}

function exposureOf(
  { network }: InventorySession,
  exposed: readonly { chainId: number; cents: bigint }[],
  stocks: readonly TokenStock[],
): Exposure[] {
  const values = stocks.map(({ held, price = 0n, token: { decimals } }) => usdE18(held, { decimals, price }))
  const inventoryCents = toCents(values.reduce((sum, value) => sum + value, 0n))
  return network.chains.map((chain) => {
    const cents = exposed.find((row) => row.chainId === chain.chainId)?.cents ?? 0n
    const caps = capsFrom(chain, inventoryCents)
    const [capUsd, fastCapUsd] = [caps.exposedCents, caps.fastCents].map((cap) => Number(cap / 100n))
    return { chain: chain.name, usd: formatCents(cents), capUsd: capUsd ?? 0, fastCapUsd: fastCapUsd ?? 0 }
  })
}

const HEAD = ['CHAIN', 'TOKEN', 'HELD', 'USD', 'RESERVED', 'FREE', 'IN ESCROW', 'TO CLAIM', 'CAP LEFT']

function toText({ stocks, exposure, moves }: Status, session: InventorySession): string {
  const rows = stocks.map((stock) => {
    const { chain, token, held, reserved, free, inEscrow, toClaim, cap, mostPerSwap } = stock
    const amounts = [reserved, free, inEscrow, toClaim].map((amount) => inCoins(amount, token))
    const left = cap ? inCoins(cap.limit - cap.used, token) : '-'
    const most = stock.price === undefined ? 'no price' : inCoins(mostPerSwap, token)
    const usd = inUsd(held, stock) ?? '?'
    return [chain, token.symbol, inCoins(held, token), usd, ...amounts, left, most]
  })
  const exposed = exposure.map(({ chain, usd, capUsd, fastCapUsd }) =>
    [chain, usd, capUsd, fastCapUsd].map(String),
  )
  return [
    toTable([[...HEAD, 'MOST PER SWAP'], ...rows]),
    '',
    toTable([['DELIVERED BEFORE FINALITY, FROM', 'USD', 'CAP USD', 'FAST CAP USD'], ...exposed]),
    ...moves.map((move) => `\n${describe(move, session)}`),
  ].join('\n')
}

function describe(
  { kind, chainId, once, token, amount, txHashes }: RecordedMove,
  { catalog }: InventorySession,
) {
  const chain = catalog.chains.get(chainId)
  const known = chain?.tokens.find(({ address }) => address === token)
  const what = known ? `${inCoins(amount, known)} ${known.symbol}` : `${amount} of ${token}`
  const signed = txHashes.length > 0 ? `signed: ${txHashes.join(', ')}` : 'nothing is signed yet'
  return `Pending: ${kind} ${what} on ${chain?.name ?? chainId}, --once ${once}; ${signed}.
Run it again with the same --once.`
}

function toJson({ stocks, exposure, moves }: Status, { silent }: InventorySession): object {
  return {
    tokens: stocks.map((stock) => {
      const { chain, token, held, reserved, free, inEscrow, toClaim, mostPerSwap } = stock
      const amounts = { held, reserved, free, inEscrow, toClaim, mostPerSwap }
      return {
        chain,
        chainId: token.chainId,
        symbol: token.symbol,
        token: token.address,
        asset: token.asset,
        decimals: token.decimals,
        ...mapValues(amounts, String),
        cap: toJsonCap(stock.cap),
        claimCap: toJsonCap(stock.claimCap),
        usd: mapValues(amounts, (amount) => inUsd(amount, stock) ?? null),
      }
    }),
    exposure,
    moves: moves.map(({ amount, outcome, ...move }) => ({ ...move, amount: String(amount) })),
    silentChains: silent,
  }
}

const toJsonCap = (cap: Cap | undefined) =>
  cap ? { limitPerHour: String(cap.limit), usedThisHour: String(cap.used) } : null

function mapValues<T>(values: Record<string, bigint>, map: (value: bigint) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]))
}
