import type { Address } from '@solana/kit'
import { findAt } from './account-store.ts'
import { isObject } from './json.ts'
import type { Methods } from './json-rpc.ts'
import type { Ledger, Reached } from './ledger.ts'
import { findAccountJson, readFilters } from './methods/accounts.ts'
import {
  API_VERSION,
  findBoolean,
  readAddress,
  readArray,
  readCommitment,
  readConfig,
  readSignature,
} from './params.ts'
import { invalidParams } from './rpc-error.ts'
import { slotAt } from './slots.ts'

/** Each returns the values to notify: none, one or several. `once` ends it after the first. */
type Subscription = {
  kind: string
  once?: boolean
  onSlot?(slot: number): unknown[]
  onReached?(reached: Reached): unknown[]
}
export type Notify = (notification: unknown) => void

let lastId = 0

/** The subscription methods of one connection, and a function that ends them all. */
export function createSubscriptions(ledger: Ledger, notify: Notify): { methods: Methods; close(): void } {
  const active = new Map<number, Subscription>()

  function deliver(id: number, results: unknown[]): void {
    const subscription = active.get(id)
    if (!subscription) return
    for (const result of results) {
      const method = `${subscription.kind}Notification`
      notify({ jsonrpc: '2.0', method, params: { result, subscription: id } })
      if (subscription.once) active.delete(id)
    }
  }

  function subscribe(subscription: Subscription): number {
    lastId += 1
    active.set(lastId, subscription)
    return lastId
  }

  function unsubscribe([id]: unknown[]): boolean {
    if (!active.delete(Number(id))) throw invalidParams('Invalid subscription id.')
    return true
  }

  const listener = {
    onSlot(slot: number) {
      for (const [id, subscription] of active) deliver(id, subscription.onSlot?.(slot) ?? [])
    },
    onReached(reached: Reached) {
      for (const [id, subscription] of active) deliver(id, resultsOf(subscription, reached))
    },
  }
  ledger.listeners.add(listener)

  return {
    close: () => ledger.listeners.delete(listener),
    methods: {
      slotSubscribe: () => subscribe(slotSubscription(ledger)),
      rootSubscribe: () => subscribe(rootSubscription(ledger)),
      signatureSubscribe: (params) => subscribe(signatureSubscription(ledger, params)),
      accountSubscribe: (params) => subscribe(accountSubscription(ledger, params)),
      programSubscribe: (params) => subscribe(programSubscription(ledger, params)),
      logsSubscribe: (params) => subscribe(logsSubscription(params)),
      slotUnsubscribe: unsubscribe,
      rootUnsubscribe: unsubscribe,
      signatureUnsubscribe: unsubscribe,
      accountUnsubscribe: unsubscribe,
      programUnsubscribe: unsubscribe,
      logsUnsubscribe: unsubscribe,
    },
  }
}

// An account can outgrow the encoding of its subscription: that must not stop the block.
function resultsOf(subscription: Subscription, reached: Reached): unknown[] {
  try {
    return subscription.onReached?.(reached) ?? []
  } catch {
    return []
  }
}

function slotSubscription({ slots }: Ledger): Subscription {
  return { kind: 'slot', onSlot: (slot) => [{ slot, parent: slot - 1, root: slotAt(slots, 'finalized') }] }
}

function rootSubscription({ slots }: Ledger): Subscription {
  return { kind: 'root', onSlot: () => [slotAt(slots, 'finalized')] }
}

function signatureSubscription(ledger: Ledger, params: unknown[]): Subscription {
  const signature = readSignature(params[0])
  const config = readConfig(params[1])
  findBoolean(config.enableReceivedNotification)
  const commitment = readCommitment(config.commitment)
  return {
    kind: 'signature',
    once: true,
    // A transaction that landed before the subscription is notified with the next slot, as on real nodes. A
    // client drops notifications that arrive together with the subscription's id.
    onSlot() {
      const slot = slotAt(ledger.slots, commitment)
      const landed = ledger.history.find(signature)
      return landed && landed.slot <= slot ? [inContext(slot, { err: landed.err })] : []
    },
    onReached(reached) {
      if (reached.commitment !== commitment) return []
      const landed = reached.landed.find(({ transaction }) => transaction.signature === signature)
      return landed ? [inContext(reached.slot, { err: landed.err })] : []
    },
  }
}

function accountSubscription(ledger: Ledger, params: unknown[]): Subscription {
  const address = readAddress(params[0])
  const config = readConfig(params[1])
  const commitment = readCommitment(config.commitment)
  return {
    kind: 'account',
    onReached({ slot, changed, ...reached }) {
      if (reached.commitment !== commitment || !changed.has(address)) return []
      const value = findAccountJson(ledger, { address, slot, config }) ?? { ...GONE }
      return [inContext(slot, value)]
    },
  }
}

function programSubscription(ledger: Ledger, params: unknown[]): Subscription {
  const program = readAddress(params[0])
  const config = readConfig(params[1])
  const commitment = readCommitment(config.commitment)
  const isWanted = readFilters(config)
  return {
    kind: 'program',
    onReached({ slot, changed, ...reached }) {
      if (reached.commitment !== commitment) return []
      return [...changed].flatMap((pubkey) => {
        const account = findAt(ledger.accounts, { address: pubkey, slot })
        if (account?.owner !== program || !isWanted(account)) return []
        return [
          inContext(slot, { pubkey, account: findAccountJson(ledger, { address: pubkey, slot, config }) }),
        ]
      })
    },
  }
}

function logsSubscription([filter, options]: unknown[]): Subscription {
  const mentioned = readMentioned(filter)
  const commitment = readCommitment(readConfig(options).commitment)
  return {
    kind: 'logs',
    onReached(reached) {
      if (reached.commitment !== commitment) return []
      return reached.landed
        .filter(({ keys }) => mentioned === undefined || keys.some((key) => key.address === mentioned))
        .map(({ transaction, err, logs }) =>
          inContext(reached.slot, { signature: transaction.signature, err, logs }),
        )
    },
  }
}

function readMentioned(filter: unknown): Address | undefined {
  if (filter === 'all' || filter === 'allWithVotes') return undefined
  const [mentioned] = isObject(filter) ? readArray(filter.mentions, { max: 1 }) : []
  return readAddress(mentioned)
}

// A node's notification for a closed account.
const GONE = {
  lamports: 0,
  owner: '11111111111111111111111111111111',
  executable: false,
  rentEpoch: 0,
  space: 0,
  data: ['', 'base64'],
}

function inContext(slot: number, value: unknown) {
  return { context: { slot, apiVersion: API_VERSION }, value }
}
