import { type Check, type Evidence, each, eachAsync, type Violation } from './evidence.ts'

// The takings of attackers, each with one stolen key, and the bound of each in docs/trust.md.

export type Theft = { key: string; chainId: number; token: string; amount: bigint; swaps: number }

/** Payments of a vault that no swap asked for. */
function strayDeliveries({ db, evm }: Evidence) {
  const asked = new Set(db.swaps.map(({ delivery_hash }) => delivery_hash.toLowerCase()))
  return [...evm.values()].flatMap((chain) =>
    chain.opEvents.flatMap((event) =>
      event.kind === 'deliver' && !asked.has(event.id.toLowerCase()) ? [{ chain, ...event }] : [],
    ),
  )
}

const tokenNamed = ({ tokens }: { tokens: { symbol: string; address: string }[] }, symbol: string) =>
  tokens.find((token) => token.symbol === symbol)?.address ?? ''

/** The amounts, as the chains show them. */
export function theftsOf(evidence: Evidence): Theft[] {
  const { db, input, solana, opEventsOf } = evidence
  const ops = new Set(input.faults.flatMap(({ kind, op }) => (kind === 'stolenSolanaAttester' && op) || []))
  const inputs = db.swaps.filter(
    (swap) => ops.has(swap.op_hash) && opEventsOf(swap, 'refund').length > 0 && isPaid(evidence, swap),
  )
  const taken = input.faults.filter(({ kind }) => kind === 'stolenInventory')
  const onSolana = { chainId: solana.chain.chainId, token: tokenNamed(solana.chain, 'USDC') }
  return [
    ...strayDeliveries(evidence).map(({ chain: { chain }, amount = 0n }) => ({
      ...{ key: 'deliverer', chainId: chain.chainId, token: tokenNamed(chain, 'USDC'), amount, swaps: 0 },
    })),
    {
      ...{ key: 'Solana attester', ...onSolana, swaps: inputs.length },
      amount: inputs.reduce((sum, { input_amount }) => sum + input_amount, 0n),
    },
    ...taken.map(({ amount = '0' }) => ({
      ...{ key: 'Solana inventory', ...onSolana, amount: BigInt(amount), swaps: 0 },
    })),
  ]
}

const isPaid = ({ opEventsOf }: Evidence, swap: Evidence['db']['swaps'][number]) =>
  opEventsOf(swap, 'deliver').length > 0

/** The amount of this token that left the inventory by theft. */
export function stolenFrom(evidence: Evidence, chainId: number, token: string): bigint {
  return theftsOf(evidence)
    .filter((theft) => theft.key !== 'Solana attester' && theft.chainId === chainId && theft.token === token)
    .reduce((sum, { amount }) => sum + amount, 0n)
}

/** A stolen deliverer takes no more of a token in an hour than its cap, with all other payments of that hour. */
const withinCap: Check = async (evidence) => {
  const stray = strayDeliveries(evidence)
  return eachAsync('INV-13', stray, async ({ chain, block, amount = 0n }) => {
    const token = tokenNamed(chain.chain, 'USDC')
    const limit = await chain.capOf(token)
    const hour = await chain.hourOf(block)
    const same = await Promise.all(
      stray
        .filter((other) => other.chain === chain)
        .map(async (other) => ((await chain.hourOf(other.block)) === hour ? (other.amount ?? 0n) : 0n)),
    )
    const sum = same.reduce((total, each) => total + each, 0n)
    return sum > limit ? `${amount} of ${sum} was stolen in an hour, ${limit} allowed` : undefined
  })
}

/** A stolen attester of Solana sends an open input to its own wallet, in full, and nowhere else. */
const toOwnWallet: Check = ({ db, input, opEventsOf }) => {
  const swaps = new Map(db.swaps.map((swap) => [swap.op_hash, swap]))
  const taken = input.faults.filter(({ kind }) => kind === 'stolenSolanaAttester')
  return each('INV-14', taken, ({ op = '', txHash = '' }) => {
    const swap = swaps.get(op)
    const back = swap && opEventsOf(swap, 'refund').find((event) => event.txHash === txHash)
    if (!back) return `the theft ${txHash} is no refund of an input`
    return back.amount === swap.input_amount ? undefined : `${txHash} sent back ${back.amount}`
  })
}

export const boundedThefts: Check = async (evidence): Promise<Violation[]> => [
  ...(await withinCap(evidence)),
  ...(await toOwnWallet(evidence)),
]
