import { BPS, divideUp, largest, smallest, tenTo } from './amount.ts'

/** Last week's demand plus a quarter: demand varies, and claims come later than deliveries. */
export const MARGIN_BPS = 2_500n

/** One token on one chain, in its smallest unit: the free amount and recent flows. */
export type Cell = {
  chainId: number
  token: string
  asset: string
  decimals: number
  free: bigint
  paidOut: bigint
  takenIn: bigint
}

type Covered = Cell & {
  /** The amount required to serve the same demand again. */
  needed: bigint
  /** The amount after the plan. */
  after: bigint
}

/** `amount` leaves one cell and `arrives` is its equal in the unit of the other cell's token. */
type Transport = { asset: string; from: Cell; to: Cell; amount: bigint; arrives: bigint }
type Shortage = { cell: Cell; amount: bigint }
export type Plan = { cells: Covered[]; transports: Transport[]; shortages: Shortage[] }

/**
 * Plans transports so that every cell can repeat its payouts, out of amounts that are free and not needed elsewhere.
 * Inflows reduce the need, but not the margin: inputs are claimed later than outputs are paid.
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
  return largest(paidOut - takenIn, 0n) + divideUp(paidOut * marginBps, BPS)
}

/** Takes from the cell with the largest surplus first, to need few transports. */
function fill(to: Store, stores: readonly Store[]): Transport[] {
  const { asset } = to.cell
  const givers = stores
    .filter((store) => store.cell.asset === asset)
    .sort((a, b) => compare(inAsset(b, spareOf(b)), inAsset(a, spareOf(a))))
  const transports: Transport[] = []
  for (const from of givers) {
    const missing = largest(to.needed - to.left, 0n)
    // Amounts below the other token's smallest unit stay.
    const wanted = smallest(convert(spareOf(from), from.cell, to.cell), missing)
    if (wanted === 0n) continue
    const amount = convertUp(wanted, to.cell, from.cell)
    const arrives = convert(amount, from.cell, to.cell)
    from.left -= amount
    to.left += arrives
    transports.push({ asset, from: from.cell, to: to.cell, amount, arrives })
  }
  return transports
}

function spareOf({ left, needed }: Store): bigint {
  return largest(left - needed, 0n)
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
