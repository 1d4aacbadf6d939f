import type { Custodian, CustodyEvent, Paid } from '../chains/custody.ts'
import type { LedgerAccount, Transfer } from '../model/ledger.ts'
import { isPurchase } from '../model/venue.ts'
import type { OpRecord } from '../store/ledger.ts'

/** The stored op of an event. */
export type KnownOp = Omit<OpRecord, 'deliveryHash'>

export type Explained = {
  event: CustodyEvent
  op?: KnownOp
  /** Token and amount of an unknown op, if the chain shows them. */
  paid?: Paid
  /** The amount that a purchase took from the vault, if the chain shows it. */
  sold?: bigint
  /** Whether it is a recorded withdrawal of the operator: a vault without a contract does not show who withdrew. */
  isWithdrawal?: boolean
  /** Whether one of our own keys sent this lock. */
  isOurLock?: boolean
  /** The booked lock of an exit: inputs locked before the opening are in `spare`. */
  lock?: Paid
}

/** The movements of an event. Empty if even the token is unknown, as of the ops of others: they are balance. */
export function transfersOf(explained: Explained): Transfer[] {
  const { event, op, paid } = explained
  const move = (debit: LedgerAccount, credit: LedgerAccount, of: Paid): Transfer[] => [
    { token: of.token, amount: of.amount, debit, credit },
  ]
  switch (event.kind) {
    case 'locked':
    case 'claimed':
    case 'refunded': {
      const input = inputOf(event, op) ?? explained.lock ?? paid
      if (!input) return []
      if (event.kind === 'locked') return move('wallet', 'locked', input)
      const held = explained.lock ? 'locked' : 'spare'
      return move(held, event.kind === 'claimed' ? 'inventory' : 'wallet', input)
    }
    case 'delivered':
      return transfersOfDelivery(event, explained)
    case 'credited':
      return move(event.owner === 'vault' ? 'inventory' : 'wallet', 'owed', event)
    case 'creditPaid':
      return move('owed', event.to === 'vault' ? 'inventory' : event.to, event)
    case 'withdrawn':
      return move('inventory', 'treasury', event)
    case 'received':
      return move('outside', restOf(event.place), event)
    case 'left':
      return move(restOf(event.place), explained.isWithdrawal ? 'treasury' : 'unexplained', event)
    case 'spent':
      return move('gas', 'network', event)
    case 'rentPaid':
      return move('gas', 'rent', event)
    case 'rentReturned':
      return move('rent', 'gas', event)
  }
}

function inputOf(event: { token?: string; amount?: bigint }, op: KnownOp | undefined): Paid | undefined {
  const { token, amount } = event
  if (token !== undefined && amount !== undefined) return { token, amount }
  return op && { token: op.inputToken, amount: op.inputAmount }
}

type Delivered = Extract<CustodyEvent, { kind: 'delivered' }>

function transfersOfDelivery(event: Delivered, { op, paid, sold }: Explained): Transfer[] {
  const { amount } = event
  if (!op?.swapId) {
    const token = event.token ?? paid?.token
    return token === undefined ? [] : [{ token, amount, debit: 'inventory', credit: 'unexplained' }]
  }
  const token = event.token ?? (op.outputToken || paid?.token)
  if (token === undefined) return []
  if (!isPurchase(op)) return [{ token, amount, debit: 'inventory', credit: 'wallet' }]
  // If the chain does not show it, the whole reserved amount counts as spent, and the rest appears as received.
  const spent = { token: op.payToken, amount: sold ?? op.payAmount }
  return [
    { ...spent, debit: 'inventory', credit: 'market' },
    { token, amount, debit: 'market', credit: 'wallet' },
  ]
}

/** The account of a custodian that takes unexplained differences. */
export function restOf(custodian: Custodian): 'spare' | 'inventory' {
  return custodian === 'escrow' ? 'spare' : 'inventory'
}

/** The reason why an event needs an operator: money moved without a swap. */
export function suspicionOf({ event, op, isOurLock, isWithdrawal }: Explained): string | undefined {
  if (event.kind === 'left' && !isWithdrawal) return 'money left without a swap of ours'
  if (event.kind === 'locked' && isOurLock && !op?.swapId)
    return 'an input was locked that no swap here explains'
  if (event.kind === 'delivered' && !op?.swapId) return 'a delivery was made that no swap here explains'
  return undefined
}
