import type { Custodian, CustodyEvent, Paid } from '../chains/custody.ts'
import type { LedgerAccount, Transfer } from '../model/ledger.ts'
import { INVENTORY } from '../model/venue.ts'
import type { OpRecord } from '../store/ledger.ts'

/** What is known here of the op that an event names. */
export type KnownOp = Omit<OpRecord, 'deliveryHash'>

export type Explained = {
  event: CustodyEvent
  op?: KnownOp
  /** What an op that is not known here was about, if the chain tells. */
  paid?: Paid
  /** What a purchase took out of the vault, if the chain tells. */
  sold?: bigint
  /** Whether the operator withdrew it by command: a vault without a contract tells nobody who took it. */
  isWithdrawal?: boolean
  /** Whether one of our own keys made this lock. */
  isOurLock?: boolean
  /** Whether the books have the lock: what was locked before they were opened is in `spare`. */
  isLockBooked?: boolean
}

/** The movements of an event. Empty where even the token is unknown: then the balances show it. */
export function transfersOf(explained: Explained): Transfer[] {
  const { event, op, paid } = explained
  const move = (debit: LedgerAccount, credit: LedgerAccount, of: Paid): Transfer[] => [
    { token: of.token, amount: of.amount, debit, credit },
  ]
  switch (event.kind) {
    case 'locked':
    case 'claimed':
    case 'refunded': {
      const input = inputOf(event, op) ?? paid
      if (!input) return []
      if (event.kind === 'locked') return move('wallet', 'locked', input)
      const held = explained.isLockBooked ? 'locked' : 'spare'
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
  if (op.venue === INVENTORY) return [{ token, amount, debit: 'inventory', credit: 'wallet' }]
  // Where the chain does not tell, all that was set aside counts as spent: what came back shows as received.
  const spent = { token: op.payToken, amount: sold ?? op.payAmount }
  return [
    { ...spent, debit: 'inventory', credit: 'market' },
    { token, amount, debit: 'market', credit: 'wallet' },
  ]
}

/** Of what a place holds, the account that takes what no event explains. */
export function restOf(place: Custodian): 'spare' | 'inventory' {
  return place === 'escrow' ? 'spare' : 'inventory'
}

/** Why an event calls for a person: money was taken in or paid out for something that is not a swap here. */
export function suspicionOf({ event, op, isOurLock, isWithdrawal }: Explained): string | undefined {
  if (event.kind === 'left' && !isWithdrawal) return 'money left without a swap of ours'
  if (event.kind === 'locked' && isOurLock && !op?.swapId)
    return 'an input was locked that no swap here explains'
  if (event.kind === 'delivered' && !op?.swapId) return 'a delivery was made that no swap here explains'
  return undefined
}
