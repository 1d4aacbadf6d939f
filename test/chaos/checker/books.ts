import {
  ContractFunctionExecutionError,
  ContractFunctionRevertedError,
  parseTransaction,
  zeroAddress,
} from 'viem'
import { OVER } from './coverage.ts'
import type { SwapRow } from './database.ts'
import { type Check, type Evidence, each, eachAsync } from './evidence.ts'
import type { OpEventKind } from './evm-evidence.ts'
import { finalSecondsOf, type Input, movesItsFunds } from './input.ts'

// Compares the records with the sent transactions and with the chains.

// One ETH is 2,500 USD.
const WEI_PER_CENT = 4n * 10n ** 12n

export const writtenAhead: Check = ({ input }) =>
  each('INV-9', input.traffic, ({ txHash, chain, caller, isRecorded }) =>
    isRecorded ? undefined : `${caller} sent ${txHash} to ${chain} before it was on record`,
  )

/** Payments for inputs that a reorg reversed, or that a stolen key sent back, stay exposed; all else is released. */
export const booksAtRest: Check = ({ db, opEventsOf }) => {
  const isLost = (swap: SwapRow) =>
    opEventsOf(swap, 'deliver').length > 0 &&
    (opEventsOf(swap, 'lock').length === 0 || opEventsOf(swap, 'refund').length > 0)
  const lost = db.swaps.filter(isLost).reduce((sum, { exposed_cents }) => sum + exposed_cents, 0)
  return [
    ...each('INV-12', [db.left.reserved], (sum) => (sum === 0 ? undefined : `${sum} is reserved for nobody`)),
    ...each('INV-12', [db.left.exposed - lost], (sum) =>
      sum === 0 ? undefined : `${sum} cents are exposed to nothing`,
    ),
  ]
}

export const boundedExposure: Check = ({ db, input }) => {
  const cap = input.setup.exposureCapCents
  return each('INV-13', db.exposure, ({ chain_id, cents, booked }) =>
    cents > cap || booked > cap
      ? `chain ${chain_id}: ${booked} cents exposed, ${cents} booked, ${cap} allowed`
      : undefined,
  )
}

/** Payments for inputs that a reorg reversed permanently: the exposure cap of each chain limits them. */
export const boundedLoss: Check = (evidence) => {
  const cap = evidence.input.setup.exposureCapCents
  return each('INV-13', lossesOf(evidence), ({ chain, cents }) =>
    cents > cap ? `${chain}: ${cents} cents were paid for inputs that are gone, ${cap} allowed` : undefined,
  )
}

/** Swaps that were paid for inputs that a reorg reversed permanently. */
export const undoneOf = ({ db, opEventsOf }: Evidence): SwapRow[] =>
  db.swaps.filter((swap) => opEventsOf(swap, 'deliver').length > 0 && opEventsOf(swap, 'lock').length === 0)

/** In cents: of USDC a hundredth of a unit, of ETH four millionths. */
export function lossesOf(evidence: Evidence): { chain: string; swaps: number; cents: number }[] {
  const undone = undoneOf(evidence)
  return evidence.input.setup.local.chains.map(({ chainId, name, tokens }) => {
    const lost = undone.filter((swap) => swap.origin_chain === chainId)
    const unit = 10n ** BigInt((tokens.find(({ symbol }) => symbol === 'USDC')?.decimals ?? 2) - 2)
    const unitOf = ({ input_token }: SwapRow) => (input_token === zeroAddress ? WEI_PER_CENT : unit)
    const cents = lost.reduce((sum, swap) => sum + Number(swap.input_amount / unitOf(swap)), 0)
    return { chain: name, swaps: lost.length, cents }
  })
}

/** In every block that changed the escrow, it holds the locked inputs and the credits. */
export const segregation: Check = async (evidence) => {
  const perChain = [...evidence.evm.values()].map((chain) => escrowHolds(evidence, chain))
  const open = evidence.db.swaps.filter(({ state }) => !OVER.includes(state))
  const { solana } = evidence
  const onSolana = open.filter(
    (swap) => swap.origin_chain === solana.chain.chainId && isInside(evidence, swap),
  )
  const inAccounts = eachAsync('INV-14', onSolana, async ({ op_hash, input_token, input_amount }) => {
    const held = await solana.heldFor(op_hash, input_token)
    return held < input_amount ? `the escrow holds ${held} of ${input_amount} for ${op_hash}` : undefined
  })
  return (await Promise.all([...perChain, inAccounts])).flat()
}

function isInside({ opEventsOf }: Evidence, swap: SwapRow): boolean {
  const has = (kind: OpEventKind) => opEventsOf(swap, kind).length > 0
  return has('lock') && !has('claim') && !has('refund')
}

type Evm = Evidence['evm'] extends Map<number, infer Chain> ? Chain : never

async function escrowHolds({ db }: Evidence, chain: Evm) {
  const escrow = chain.chain.contracts?.escrow ?? ''
  const byOp = new Map(db.swaps.map((swap) => [swap.op_hash.toLowerCase(), swap]))
  const inside = new Map<string, bigint>()
  const snapshots = new Map<number, Map<string, bigint>>()
  for (const opEvent of chain.opEvents) {
    const swap = byOp.get(opEvent.id.toLowerCase())
    if (!swap || opEvent.kind === 'deliver' || opEvent.kind === 'recover') continue
    const change = opEvent.kind === 'lock' ? swap.input_amount : -swap.input_amount
    inside.set(swap.input_token, (inside.get(swap.input_token) ?? 0n) + change)
    snapshots.set(opEvent.block, new Map(inside))
  }
  const due = [...snapshots].flatMap(([block, tokens]) =>
    [...tokens].map(([token, amount]) => ({ block, token, amount })),
  )
  return eachAsync('INV-14', due, async ({ block, token, amount }) => {
    const held = await chain.balanceOf(escrow, token, block).catch(refusedAsUndefined)
    return held !== undefined && held < amount
      ? `the escrow held ${held} of ${amount} at block ${block}`
      : undefined
  })
}

/** Strangers stop a token for some blocks, and it tells no balance of them. */
function refusedAsUndefined(error: unknown): undefined {
  if (!(error instanceof ContractFunctionExecutionError)) throw error
  const { cause } = error
  if (!(cause instanceof ContractFunctionRevertedError)) throw error
}

/** One nonce has one effect, whichever of its signed versions lands; a burn has none. */
export const nonceDiscipline: Check = ({ db, evm }) => {
  const groups = new Map<string, typeof db.attempts>()
  for (const attempt of db.attempts.filter(({ chain_id }) => evm.has(chain_id))) {
    const key = `${attempt.chain_id} ${attempt.sender} ${attempt.nonce}`
    groups.set(key, [...(groups.get(key) ?? []), attempt])
  }
  return each('INV-16', [...groups], ([key, attempts]) => {
    const parsed = attempts.map(({ raw, role }) => ({ role, ...parseTransaction(raw as `0x02${string}`) }))
    if (parsed.some(({ nonce }, i) => (nonce ?? 0) !== attempts[i]?.nonce))
      return `${key}: other bytes than recorded`
    const effects = new Set(
      parsed.flatMap(({ role, to, data, value }) => (role === 'noop' ? [] : `${to} ${data} ${value}`)),
    )
    const burns = parsed.filter(({ role }) => role === 'noop')
    if (burns.some(({ data, value }) => (data ?? '0x') !== '0x' || (value ?? 0n) > 0n))
      return `${key}: a burn does something`
    return effects.size > 1 ? `${key} was signed for ${effects.size} effects` : undefined
  })
}

// Two signatures, the cap of the priority fee, the rent of an escrow account or marker, which returns, and a
// token account's rent if the quote charged for it.
const MOST_LAMPORTS = 2n * 5_000n + 60_000n + 2_074_080n
const ACCOUNT_LAMPORTS = 2_100_000n

export const feePayerOutflow: Check = ({ db, solana, input }) => {
  const config = input.setup.config.chains.find(({ feePayers }) => feePayers)
  const payers = Object.values(config?.feePayers ?? {})
  const charged = new Set(
    db.swaps.flatMap((swap) => (swap.creates_account ? swap.delivery_hash.slice(2) : [])),
  )
  const ours = solana.effects.filter(({ feePayer }) => payers.includes(feePayer))
  return each('INV-17', ours, ({ txHash, spent, memo }) => {
    const most = MOST_LAMPORTS + (charged.has(memo) ? ACCOUNT_LAMPORTS : 0n)
    return spent > most ? `${txHash} cost its fee payer ${spent} lamports, more than ${most}` : undefined
  })
}

/**
 * All rent comes back, to the lamport: fee payers have lost their fees and the rent of recipients' accounts that quotes
 * charged. A stranger's lamports at an escrow account come to them as rent.
 */
export const rentReturns: Check = async ({ input, solana, db }) => {
  // Nothing was swept.
  if (input.facts.isGate) return []
  const left = await solana.readMarkers()
  const before = Object.entries(input.setup.feePayers)
  const charged = db.swaps.filter(
    (swap) => swap.creates_account && swap.destination_chain === solana.chain.chainId,
  )
  const accounts = await Promise.all(charged.map((swap) => solana.rentOf(swap.recipient, swap.output_token)))
  const rents = accounts.reduce((sum, rent) => sum + rent, 0n)
  const [had, has, fees] = await Promise.all([
    before.reduce((sum, [, held]) => sum + BigInt(held), 0n),
    sumOf(before, ([payer]) => solana.lamportsOf(payer)),
    sumOf(before, ([payer]) => solana.feesOf(payer)),
  ])
  const missing = had - fees - rents - has
  return [
    ...each('INV-17', left, (marker) => `the marker ${marker} still holds its rent`),
    ...each('INV-17', [missing], (sum) =>
      sum > 0n || sum < -giftsIn(input)
        ? `fee payers have ${sum} lamports less than fees and accounts explain`
        : undefined,
    ),
  ]
}

const GIFT_LAMPORTS = 1_000_000n
const giftsIn = ({ setup, gifts }: Input) =>
  GIFT_LAMPORTS * BigInt(setup.parties.filter(({ behaviour }) => behaviour === 'fundedAccount').length) +
  gifts.reduce((sum, { token, amount }) => (token === 'lamports' ? sum + BigInt(amount) : sum), 0n)

async function sumOf<T>(items: readonly T[], read: (item: T) => Promise<bigint>): Promise<bigint> {
  return (await Promise.all(items.map(read))).reduce((sum, amount) => sum + amount, 0n)
}

/** EIP-7702: this prefix, then the delegate. */
const delegationTo = (address: string) => `0xef0100${address.slice(2)}`.toLowerCase()

export const authority: Check = async (evidence) => {
  const { input, evm } = evidence
  const perChain = [...evm.values()].map((chain) =>
    eachAsync(
      'INV-19',
      input.setup.parties.filter(({ from }) => from === chain.chain.name),
      async ({ wallet, method, isStranger }) => {
        const { account = '', vault = '' } = chain.chain.contracts ?? {}
        const code = (await chain.codeOf(wallet)).toLowerCase()
        const allowed = method === 'delegation' ? [delegationTo(account), delegationTo(vault)] : []
        return isStranger || ['0x', ...allowed].includes(code) ? undefined : `${wallet} has code ${code}`
      },
    ),
  )
  return (await Promise.all([...perChain, unsignedLosses(evidence)])).flat()
}

/** Of clients on all chains, also of those whose payments were refused, so that no swap names them. */
function unsignedLosses({ input, db, opEventsOf, balanceOf }: Evidence) {
  const byWallet = new Map(db.swaps.map((swap) => [swap.wallet.toLowerCase(), swap]))
  return eachAsync('INV-19', input.setup.parties, async (party) => {
    const { wallet, held, from, sell, isStranger } = party
    const chain = input.setup.local.chains.find(({ name }) => name === from)
    const token = chain?.tokens.find(({ symbol }) => symbol === sell)?.address ?? ''
    const swap = byWallet.get(wallet.toLowerCase())
    const isTaken = swap !== undefined && opEventsOf(swap, 'lock').length > 0
    // A stranger on Solana signs more than its swap.
    if (isTaken || movesItsFunds(party) || (isStranger && from === 'solana')) return undefined
    const holds = await balanceOf(chain?.chainId ?? 0, wallet, token)
    return holds < BigInt(held) ? `${wallet} lost money and signed nothing that took it` : undefined
  })
}

export const deadlineOrder: Check = ({ db, input }) => {
  const {
    cutOffSeconds = 0,
    attemptLifeSeconds = 0,
    detectionSeconds = 0,
    claimInclusionSeconds = 0,
  } = input.setup.deadlines
  const finality = (chainId: number) => {
    const chain = input.setup.config.chains.find((candidate) => candidate.chainId === chainId)
    return chain ? finalSecondsOf(chain) : 0
  }
  return each('INV-21', db.ops, (op) => {
    const margin =
      1.5 *
      (attemptLifeSeconds +
        finality(op.destination_chain) +
        detectionSeconds +
        claimInclusionSeconds +
        finality(op.origin_chain))
    if (op.refund_deadline - op.fill_deadline < margin)
      return `${op.op_hash} has a refund margin below ${margin} s`
    return op.op_deadline < op.fill_deadline - cutOffSeconds
      ? undefined
      : `${op.op_hash}: its deadlines are out of order`
  })
}

// Signed EVM transactions are long hex, signed Solana ones long base64.
const LONG = /0x[0-9a-f]{200,}|[A-Za-z0-9+/]{200,}={0,2}/g

export const secrecy: Check = ({ input, db }) => {
  // Of a payment on Solana two transactions are recorded together.
  const raws = new Set(db.attempts.flatMap(({ raw }) => raw.split(' ')))
  return each('INV-24', input.logs, ({ name, text }) => {
    if (input.setup.secrets.some((secret) => text.includes(secret))) return `${name} has a secret in it`
    if (text.includes(input.setup.databaseUrl)) return `${name} has the database's password in it`
    return (text.match(LONG) ?? []).some((found) => raws.has(found))
      ? `${name} has signed bytes in it`
      : undefined
  })
}
