import type { Pool } from 'pg'
import { type Env, type Output, toTable, withDatabase } from '../../command.ts'
import { type Flow, readPaidOut, readTakenIn } from '../../store/figures.ts'
import { type Cell, MARGIN_BPS, type Plan, planRebalance } from '../../swap/rebalance.ts'
import { inCoins, inUsd, type TokenStock } from './holdings.ts'
import { type InventorySession, openSession } from './session.ts'
import { readStatus } from './status.ts'

type Planned = { plan: Plan; stocks: readonly TokenStock[] }

export async function showPlan(
  env: Env,
  output: Output,
  { days, json }: { days: number; json: boolean },
): Promise<number> {
  const session = await openSession(env)
  const planned = await withDatabase(env, 'inventory', (pool) => planFor(env, session, pool, days))
  for (const chain of session.silent) output.hint(`${chain} does not answer and is missing from the plan.`)
  output.out(json ? JSON.stringify(toJson(planned, days), null, 2) : toText(planned, days))
  return session.silent.length > 0 ? 1 : 0
}

async function planFor(env: Env, session: InventorySession, pool: Pool, days: number): Promise<Planned> {
  const { stocks } = await readStatus(env, session, pool)
  const paidOut = await readPaidOut(pool, days)
  const takenIn = await readTakenIn(pool, days)
  const cells = stocks.map(({ token, free }): Cell => {
    const { chainId, address, asset, decimals } = token
    const moved = (flows: readonly Flow[]) =>
      flows.find((flow) => flow.chainId === chainId && flow.token === address)?.amount ?? 0n
    return {
      chainId,
      token: address,
      asset,
      decimals,
      free,
      paidOut: moved(paidOut),
      takenIn: moved(takenIn),
    }
  })
  return { plan: planRebalance(cells, MARGIN_BPS), stocks }
}

function stockOf(stocks: readonly TokenStock[], { chainId, token }: Cell): TokenStock {
  const found = stocks.find((stock) => stock.token.chainId === chainId && stock.token.address === token)
  if (!found) throw new Error(`No balance of ${token} on chain ${chainId}`)
  return found
}

const HEAD = ['CHAIN', 'TOKEN', 'FREE', 'PAID OUT', 'TAKEN IN', 'TO CLAIM', 'NEEDED', 'AFTER THE PLAN']

function toText({ plan, stocks }: Planned, days: number): string {
  const rows = plan.cells.map((cell) => {
    const { chain, token, toClaim } = stockOf(stocks, cell)
    const { free, paidOut, takenIn, needed, after } = cell
    const amounts = [free, paidOut, takenIn, toClaim, needed, after]
    return [chain, token.symbol, ...amounts.map((amount) => inCoins(amount, token))]
  })
  return [
    `Swaps of the last ${days} days, and the need of the next ${days} plus ${MARGIN_BPS / 100n} %:`,
    toTable([HEAD, ...rows]),
    '',
    ...describeTransports({ plan, stocks }),
    ...describeShortages({ plan, stocks }),
  ].join('\n')
}

function describeTransports({ plan, stocks }: Planned): string[] {
  if (plan.transports.length === 0) return ['Nothing has to be moved.']
  const rows = plan.transports.map(({ from, to, amount }) => {
    const source = stockOf(stocks, from)
    const target = stockOf(stocks, to)
    const what = `${inCoins(amount, source.token)} ${source.token.symbol}`
    return [what, inUsd(amount, source) ?? '?', source.chain, `${target.chain} (${target.token.symbol})`]
  })
  return [toTable([['MOVE', 'USD', 'FROM', 'TO'], ...rows])]
}

function describeShortages({ plan, stocks }: Planned): string[] {
  return plan.shortages.map(({ cell, amount }) => {
    const { chain, token } = stockOf(stocks, cell)
    return `No chain has a surplus: deposit ${inCoins(amount, token)} more ${token.symbol} on ${chain}.`
  })
}

function toJson({ plan, stocks }: Planned, days: number): object {
  const nameOf = (cell: Cell) => ({
    chain: stockOf(stocks, cell).chain,
    chainId: cell.chainId,
    token: cell.token,
    decimals: cell.decimals,
  })
  return {
    days,
    marginBps: Number(MARGIN_BPS),
    tokens: plan.cells.map((cell) => ({
      ...nameOf(cell),
      asset: cell.asset,
      free: String(cell.free),
      paidOut: String(cell.paidOut),
      takenIn: String(cell.takenIn),
      toClaim: String(stockOf(stocks, cell).toClaim),
      needed: String(cell.needed),
      after: String(cell.after),
    })),
    moves: plan.transports.map(({ asset, from, to, amount, arrives }) => ({
      asset,
      from: nameOf(from),
      to: nameOf(to),
      amount: String(amount),
      arrives: String(arrives),
      usd: inUsd(amount, stockOf(stocks, from)) ?? null,
    })),
    shortages: plan.shortages.map(({ cell, amount }) => ({ ...nameOf(cell), amount: String(amount) })),
  }
}
