import { BPS, divideUp, tenTo } from './amount.ts'

/** A week like the last one and a quarter more: demand varies, and claims come later than deliveries. */
export const MARGIN_BPS = 2_500n

/** One token of an asset on one chain, in its smallest unit: what is free, and what swaps moved lately. */
export type Cell = {
  chainId: number
  token: string
  asset: string
  decimals: number
  free: bigint
  paidOut: bigint
  takenIn: bigint
}

export type Covered = Cell & {
  /** What has to be there to serve the same again. */
  needed: bigint
  /** What is there once the plan is carried out. */
  after: bigint
}

/** `amount` leaves one cell and `arrives` in another: the same value, each in the unit of its own token. */
export type Transport = { asset: string; from: Cell; to: Cell; amount: bigint; arrives: bigint }
export type Shortage = { cell: Cell; amount: bigint }
export type Plan = { cells: Covered[]; transports: Transport[]; shortages: Shortage[] }

/**
 * What to move so that every cell can pay again what it paid, of what is free and not needed where it is. What came in
 * counts, but not for the margin: inputs are claimed later than outputs are paid.
 */
export function planRebalance(cells: readonly Cell[], marginBps: bigint): Plan {
  const stores = cells.map((cell) => ({ cell, needed: neededOf(cell, marginBps), left: cell.free }))
  const transports = stores
    .filter((store) => store.left < store.needed)
    .sort((a, b) => compare(inAsset(b, b.needed - b.left), inAsset(a, a.needed - a.left)))
    .flatMap((store) => fill(store, stores))
  return {
    cells: stores.map(({ cell, needed, left }) => ({ ...cell, needed, after: left })),
    transports,
    shortages: stores.flatMap(({ cell, needed, left }) =>
      left < needed ? [{ cell, amount: needed - left }] : [],
    ),
  }
}

type Store = { cell: Cell; needed: bigint; left: bigint }

export function neededOf({ paidOut, takenIn }: Pick<Cell, 'paidOut' | 'takenIn'>, marginBps: bigint): bigint {
  const net = paidOut > takenIn ? paidOut - takenIn : 0n
  return net + divideUp(paidOut * marginBps, BPS)
}

/** Takes from whoever can spare most, so that few transports do. */
function fill(to: Store, stores: readonly Store[]): Transport[] {
  const { asset } = to.cell
  const givers = stores
    .filter((store) => store.cell.asset === asset && spareOf(store) > 0n)
    .sort((a, b) => compare(inAsset(b, spareOf(b)), inAsset(a, spareOf(a))))
  const transports: Transport[] = []
  for (const from of givers) {
    if (to.left >= to.needed) break
    const spare = convert(spareOf(from), from.cell, to.cell)
    const missing = to.needed - to.left
    const wanted = spare < missing ? spare : missing
    const amount = convertUp(wanted, to.cell, from.cell)
    // What is finer than the other's unit stays where it is.
    if (wanted === 0n || amount > spareOf(from)) continue
    const arrives = convert(amount, from.cell, to.cell)
    from.left -= amount
    to.left += arrives
    transports.push({ asset, from: from.cell, to: to.cell, amount, arrives })
  }
  return transports
}

function spareOf({ left, needed }: Store): bigint {
  return left > needed ? left - needed : 0n
}

type Unit = Pick<Cell, 'decimals'>

function convert(amount: bigint, from: Unit, to: Unit): bigint {
  return (amount * tenTo(to.decimals)) / tenTo(from.decimals)
}

function convertUp(amount: bigint, from: Unit, to: Unit): bigint {
  return divideUp(amount * tenTo(to.decimals), tenTo(from.decimals))
}

const FINEST = { decimals: 36 }
const inAsset = ({ cell }: Store, amount: bigint) => convert(amount, cell, FINEST)
const compare = (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0)
