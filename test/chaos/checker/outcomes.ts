import { ENDS, OVER } from './coverage.ts'
import type { SwapRow } from './database.ts'
import { type Check, type Evidence, each, eachAsync } from './evidence.ts'
import { type Input, movesItsFunds, type Said } from './input.ts'

// Compares the answers to clients with the chains.

const nameOf = (swap: { id: string; state: string }) => `${swap.id} (${swap.state})`

type Told = { swapId: string; status: string; said: Said; askedAt: number }

/** Every answer about a swap, with the time of its request. */
function toldIn({ history }: Input): Told[] {
  const asked = new Map<string, number>()
  return history.flatMap((said) => {
    const key = `${said.client} ${said.n}`
    if (said.type === 'invoke') asked.set(key, said.t)
    const { swapId = swapIdIn(said), status } = said.reply ?? {}
    if (said.type !== 'ok' || !swapId || !status) return []
    return [{ swapId, status, said, askedAt: asked.get(key) ?? said.t }]
  })
}

const swapIdIn = ({ path }: Said) => /\/swap\/status\/(swp_\w+)/.exec(path ?? '')?.[1]

function everToldAs(input: Input, status: string): Set<string> {
  return new Set(toldIn(input).flatMap((told) => (told.status === status ? [told.swapId] : [])))
}

export const atMostOneDelivery: Check = ({ db, opEventsOf }) =>
  each('INV-1', db.swaps, (swap) => {
    const { length } = opEventsOf(swap, 'deliver')
    return length > 1 ? `${nameOf(swap)} was delivered ${length} times` : undefined
  })

export const exclusiveOutcome: Check = ({ db, input, opEventsOf }) => {
  const thefts = new Set(input.faults.flatMap(({ op, txHash }) => (op && txHash ? [txHash] : [])))
  return each('INV-2', db.swaps, (swap) =>
    opEventsOf(swap, 'deliver').length > 0 &&
    opEventsOf(swap, 'refund').some(({ txHash }) => !thefts.has(txHash))
      ? `${nameOf(swap)} was delivered and refunded`
      : undefined,
  )
}

export const atMostOneRefund: Check = ({ db, opEventsOf }) =>
  each('INV-3', db.swaps, (swap) => {
    const { length } = opEventsOf(swap, 'refund')
    return length > 1 ? `${nameOf(swap)} was refunded ${length} times` : undefined
  })

export const settledIsTrue: Check = ({ input, db, opEventsOf }) => {
  const told = everToldAs(input, 'settled')
  return each('INV-4', db.swaps, (swap) => {
    if (!told.has(swap.id) && !['settled', 'claiming', 'closed'].includes(swap.state)) return undefined
    const [paid] = opEventsOf(swap, 'deliver')
    if (!paid) return `${nameOf(swap)} was said to be settled, and nothing was delivered`
    return (paid.amount ?? 0n) < swap.min_output ? `${nameOf(swap)} was paid below its minimum` : undefined
  })
}

export const refundedIsTrue: Check = ({ input, db, opEventsOf }) => {
  const told = everToldAs(input, 'refunded')
  return each('INV-5', db.swaps, (swap) => {
    if (!told.has(swap.id) && swap.state !== 'refunded') return undefined
    const [back] = opEventsOf(swap, 'refund')
    if (!back) return `${nameOf(swap)} was said to be refunded, and nothing went back`
    const isExact = back.amount === undefined || back.amount === swap.input_amount
    return isExact ? undefined : `${nameOf(swap)} got ${back.amount} of ${swap.input_amount} back`
  })
}

export const failedIsTrue: Check = ({ input, db, opEventsOf }) => {
  const told = everToldAs(input, 'failed')
  return each('INV-6', db.swaps, (swap) =>
    (told.has(swap.id) || swap.state === 'failed') && opEventsOf(swap, 'lock').length > 0
      ? `${nameOf(swap)} was said to have failed, and its input was taken`
      : undefined,
  )
}

/** A request after a reported end must be answered with that end. */
export const terminalIsFinal: Check = ({ input }) => {
  const ends = new Map<string, Told>()
  const hadReorg = input.faults.some(({ kind }) => kind === 'reorged')
  return each('INV-7', toldIn(input), (told) => {
    const end = ends.get(told.swapId)
    if (!end) {
      if (ENDS.includes(told.status)) ends.set(told.swapId, told)
      return undefined
    }
    if (told.askedAt < end.said.t) return undefined
    if (told.status !== end.status) return `${told.swapId} was ${end.status} and became ${told.status}`
    const [now, then] = [told.said.reply, end.said.reply]
    if (!now || !then || !('originTxHash' in now) || !('originTxHash' in then)) return undefined
    if (now.originTxHash !== then.originTxHash && !hadReorg) return `${told.swapId}: originTxHash changed`
    return now.deliveryTxHash !== then.deliveryTxHash && !hadReorg
      ? `${told.swapId}: deliveryTxHash changed without a reorg`
      : undefined
  })
}

export const noLostSwap: Check = ({ input, db, opEventsOf }) => {
  const rows = new Set(db.swaps.map(({ id }) => id))
  const acknowledged = new Set(toldIn(input).map(({ swapId }) => swapId))
  const isBlocked = (swap: (typeof db.swaps)[number]) =>
    swap.state === 'refundBlocked' &&
    opEventsOf(swap, 'lock').length === 1 &&
    opEventsOf(swap, 'refund').length === 0
  return [
    ...each('INV-8', [...acknowledged], (id) =>
      rows.has(id) ? undefined : `${id} was acknowledged and is lost`,
    ),
    ...each('INV-8', db.swaps, (swap) =>
      OVER.includes(swap.state) || isBlocked(swap) ? undefined : `${nameOf(swap)} did not end in time`,
    ),
  ]
}

export const oneInput: Check = ({ db, opEventsOf }) =>
  each('INV-10', db.swaps, (swap) => {
    const { length } = opEventsOf(swap, 'lock')
    return length > 1 ? `the input of ${nameOf(swap)} was taken ${length} times` : undefined
  })

export const atMostOneClaim: Check = ({ db, opEventsOf }) =>
  each('INV-14', db.swaps, (swap) => {
    const left = opEventsOf(swap, 'claim').length + opEventsOf(swap, 'refund').length
    return left > 1 ? `the input of ${nameOf(swap)} left its vault ${left} times` : undefined
  })

/**
 * For each swap: minus input and plus output, or nothing, or minus input and plus refund. Of a deposit, all that was
 * not swapped is with the wallet.
 */
export const deltas: Check = (evidence) => {
  const { db, opEventsOf, partyOf, balanceOf } = evidence
  return eachAsync('INV-11', db.swaps, async (swap) => {
    const party = partyOf(swap)
    if (!party) return `${nameOf(swap)} has a wallet that nobody knows`
    const [paid] = opEventsOf(swap, 'deliver')
    const isTaken = opEventsOf(swap, 'lock').length > 0 && opEventsOf(swap, 'refund').length === 0
    const [holds, got, credit] = await Promise.all([
      balanceOf(swap.origin_chain, swap.wallet, swap.input_token),
      balanceOf(swap.destination_chain, swap.recipient, swap.output_token),
      evidence.evm.get(swap.origin_chain)?.creditOf(swap.wallet, swap.input_token) ?? 0n,
    ])
    const had = BigInt(party.held) + (party.payer ? usedOf(evidence, swap) : 0n)
    const expected = isTaken ? had - swap.input_amount : had
    // A wallet that moves its funds away after signing has less; no wallet has more.
    const isOwnDoing = movesItsFunds(party) && holds === 0n
    if (holds + credit !== expected && !isOwnDoing)
      return `${nameOf(swap)}: the wallet holds ${holds} instead of ${expected}`
    const due = paid?.amount ?? 0n
    return got === due ? undefined : `${nameOf(swap)}: the recipient holds ${got} instead of ${due}`
  })
}

/** Nothing stays at an op's own address, of any token. */
export const emptyAddresses: Check = ({ input, balanceOf }) => {
  const places = new Map(input.payments.map((payment) => [payment.address, payment]))
  return eachAsync('INV-11', [...places.values()], async ({ address, chain }) => {
    const setup = input.setup.local.chains.find(({ name }) => name === chain)
    const tokens = setup?.tokens ?? []
    const held = await Promise.all(
      tokens.map((token) => balanceOf(setup?.chainId ?? 0, address, token.address)),
    )
    const left = tokens.flatMap(({ symbol }, index) => (held[index] ? `${held[index]} ${symbol}` : []))
    return left.length > 0 ? `${address} on ${chain} still holds ${left.join(', ')}` : undefined
  })
}

/** The part of a deposit that was locked or went back from the op's address. */
function usedOf({ opEventsOf }: Evidence, swap: SwapRow): bigint {
  const returned = opEventsOf(swap, 'recover').reduce((sum, { amount = 0n }) => sum + amount, 0n)
  return returned + (opEventsOf(swap, 'lock').length > 0 ? swap.input_amount : 0n)
}

/** Of every deposit that a client knows of, each cent was locked or went back. A client may miss the reply to one. */
export const depositsAreUsed: Check = (evidence) =>
  each('INV-11', evidence.db.swaps, (swap) => {
    const party = evidence.partyOf(swap)
    if (!party?.payer) return undefined
    const paid = evidence.depositsOf(party).reduce((sum, { amount }) => sum + BigInt(amount), 0n)
    const used = usedOf(evidence, swap)
    return paid > used ? `${nameOf(swap)}: ${paid} was deposited, ${used} was locked or sent back` : undefined
  })

export const idempotentSubmit: Check = ({ input, db }) => {
  const byClient = new Map<number, Set<string>>()
  for (const { client, path, reply, type } of input.history) {
    if (type !== 'ok' || !/^\/swap\/(submit|x402)/.test(path ?? '') || !reply?.swapId) continue
    byClient.set(client, (byClient.get(client) ?? new Set()).add(reply.swapId))
  }
  const quotes = new Set(db.swaps.map(({ quote_id }) => quote_id))
  return [
    ...each('INV-18', [...byClient], ([client, ids]) =>
      ids.size > 1 ? `client ${client} was given ${ids.size} swaps for one quote` : undefined,
    ),
    ...each('INV-18', [db.swaps.length - quotes.size], (more) =>
      more > 0 ? `${more} quotes have two swaps` : undefined,
    ),
  ]
}

export const tenantsApart: Check = ({ input }) =>
  each('INV-20', input.history, ({ client, type, path, status }) =>
    client === -1 && type === 'ok' ? `a stranger was answered ${status} at ${path}` : undefined,
  )

/**
 * If a database or node is down, the answer is a 503 with Retry-After; anything else is an unhandled fault.
 */
export const honestRefusals: Check = ({ input }) =>
  each('HTTP', input.history, ({ type, path, status, retryAfter }) => {
    if (type !== 'fail' || status === undefined || status < 500) return undefined
    return status === 503 && retryAfter
      ? undefined
      : `${path} was answered ${status}, retry-after ${retryAfter}`
  })
