import { type Address, type Hex, parseTransaction } from 'viem'
import type { AttemptRow, Database, SwapRow } from './database.ts'
import { type Check, type Evidence, each, eachAsync } from './evidence.ts'
import type { EvmEvidence } from './evm-evidence.ts'
import { givenTo, landedGifts } from './gifts.ts'
import { stolenFrom } from './thefts.ts'

// The effect of all swaps together on the operator's funds, and their cost.

// Gas of wasted transactions, relative to useful ones.
const MOST_WASTE = 0.3

const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n)

/** The inventory equals its start plus claims minus payments, and no token was minted or burnt. */
export const conservation: Check = async (evidence) => {
  const { db, input, opEventsOf } = evidence
  const gifts = await landedGifts(evidence)
  const isClaimed = (swap: SwapRow) => opEventsOf(swap, 'claim').length > 0
  return eachAsync('INV-11', input.setup.holdings, async ({ chainId, token, inventory, supply }) => {
    const claimed = db.swaps.filter(
      (swap) => swap.origin_chain === chainId && isToken(token, swap.input_token) && isClaimed(swap),
    )
    const paid = db.swaps
      .filter((swap) => swap.destination_chain === chainId && isToken(token, swap.output_token))
      .flatMap((swap) => opEventsOf(swap, 'deliver').map(({ amount = 0n }) => amount))
    const stolen = stolenFrom(evidence, chainId, token)
    const vault = vaultOf(evidence, chainId)
    const chain = input.setup.local.chains.find((each) => each.chainId === chainId)?.name ?? ''
    const given = givenTo(gifts, { chain, to: vault, token })
    const due = BigInt(inventory) + sum(claimed.map((swap) => swap.input_amount)) + given - sum(paid) - stolen
    // A claim that the token refuses is the vault's credit in the escrow, until the treasury collects it.
    const credit = (await evidence.evm.get(chainId)?.creditOf(vault, token)) ?? 0n
    const held = (await evidence.balanceOf(chainId, vault, token)) + credit
    if (held !== due) return `chain ${chainId}: the inventory holds ${held} of ${token} instead of ${due}`
    const now = await supplyOf(evidence, chainId, token)
    return now === BigInt(supply)
      ? undefined
      : `chain ${chainId}: there are ${now} of ${token}, once ${supply}`
  })
}

const isToken = (token: string, other: string) => token.toLowerCase() === other.toLowerCase()

function vaultOf({ evm, solana }: Evidence, chainId: number): string {
  return evm.get(chainId)?.chain.contracts?.vault ?? solana.chain.vault ?? ''
}

function supplyOf({ evm, solana }: Evidence, chainId: number, token: string): Promise<bigint> {
  return evm.get(chainId)?.supplyOf(token) ?? solana.supplyOf(token)
}

type GasBill = { all: bigint; useful: bigint; reverted: number; landed: number }

type Gas = { db: Pick<Database, 'attempts'>; evm: Evidence['evm'] }

/** The gas burnt by the service's transactions, and the part of those with an effect on a swap. */
export async function readGas({ db, evm }: Gas): Promise<GasBill> {
  const bills = await Promise.all(
    [...evm.values()].map((chain) =>
      readGasOn(
        chain,
        db.attempts.filter(({ chain_id }) => chain_id === chain.chain.chainId).map(({ tx_hash }) => tx_hash),
      ),
    ),
  )
  return {
    ...{ all: sum(bills.map(({ all }) => all)), useful: sum(bills.map(({ useful }) => useful)) },
    reverted: bills.reduce((total, bill) => total + bill.reverted, 0),
    landed: bills.reduce((total, bill) => total + bill.landed, 0),
  }
}

async function readGasOn({ client, opEvents }: EvmEvidence, hashes: readonly string[]): Promise<GasBill> {
  const useful = new Set(opEvents.map(({ txHash }) => txHash))
  const found = await Promise.all(
    hashes.map((hash) => client.getTransactionReceipt({ hash: hash as Address }).catch(() => undefined)),
  )
  const receipts = found.flatMap((receipt) => receipt ?? [])
  const gasOf = (some: typeof receipts) => sum(some.map(({ gasUsed }) => gasUsed))
  return {
    ...{ all: gasOf(receipts), landed: receipts.length },
    useful: gasOf(receipts.filter(({ transactionHash }) => useful.has(transactionHash))),
    reverted: receipts.filter(({ status }) => status === 'reverted').length,
  }
}

/**
 * All chains except one that reverted more than its reorg window: there, the nonces of reverted transactions
 * are consumed again by transactions that are too late. Gas for strangers alone has its own budgets.
 */
export const wasteBound: Check = async ({ db, evm, input, partyOf }) => {
  const theirs = new Set(db.swaps.flatMap((swap) => (partyOf(swap)?.isStranger ? swap.id : [])))
  const attempts = db.attempts.filter(
    ({ swap_ids }) => swap_ids.length === 0 || !swap_ids.every((id) => theirs.has(id)),
  )
  const undone = input.faults.flatMap(({ kind, chain }) => (kind === 'deeplyReorged' ? [chain] : []))
  const judged = new Map([...evm].filter(([, { chain }]) => !undone.includes(chain.name)))
  return each('INV-23', [await readGas({ db: { attempts }, evm: judged })], ({ all, useful }) =>
    Number(all - useful) > Number(useful) * MOST_WASTE
      ? `${all} gas was burnt, ${useful} of it by transactions that did something`
      : undefined,
  )
}

/**
 * No lock or delivery offers more for gas than the quotes of its swaps allow, unless a payment is due by
 * then.
 */
export const spendBound: Check = ({ db, evm }) => {
  const swaps = new Map(db.swaps.map((swap) => [swap.id, swap]))
  const bounded = db.attempts.filter(
    ({ chain_id, role }) => evm.has(chain_id) && (role === 'lock' || role === 'deliver'),
  )
  return each('INV-23', bounded, (attempt) => {
    const { maxFeePerGas = 0n } = parseTransaction(attempt.raw as Hex)
    const carried = attempt.swap_ids.flatMap((id) => swaps.get(id) ?? [])
    if (carried.some((swap) => isOwed(db, attempt, swap))) return undefined
    const broken = carried.find((swap) => maxFeePerGas > boundOf(attempt, swap))
    return broken && `${attempt.role} ${attempt.tx_hash} offers ${maxFeePerGas} a gas for ${broken.id}`
  })
}

const boundOf = ({ role }: AttemptRow, swap: SwapRow) =>
  role === 'lock' ? swap.lock_fee_bound : swap.delivery_fee_bound

/** An input whose output was paid before its lock was final, or an output that was reported as delivered. */
function isOwed({ moves }: Database, { role, at }: AttemptRow, { id }: SwapRow): boolean {
  const owing = role === 'lock' ? ['delivering', 'settled'] : ['settled']
  return moves.some((move) => move.swap_id === id && move.at <= at && owing.includes(move.became))
}
