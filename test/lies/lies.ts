import { type GeoOp, ringOf } from '@geoswap/protocol'
import { ERROR_CODES, errorCatalogue } from '@geoswap/wire'
import { AccountRole, type Address, type Instruction } from '@solana/kit'
import { readGeoOp } from '../../packages/sdk/src/checks/read-fields.ts'
import { addressOf, buildOf, nowSeconds, origin, wordOf } from '../../packages/sdk/test/evm-offer.ts'
import {
  accountOf,
  delivery,
  feePayer,
  lockOf,
  memoOf,
  nativeTransferOf,
  parts,
  solanaBuildOf,
  stranger,
  transactionOf,
  transferOf,
  wallet,
} from '../../packages/sdk/test/solana-offer.ts'
import type { Lie, Reply } from './liar.ts'

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

/** Every value of a reply, each changed in turn: new fields are covered automatically. */
export function leafLies(path: string, honest: Json, { isBrief = false } = {}): Lie[] {
  return leavesOf(honest).flatMap(({ keys, value }) =>
    otherValues(value, isBrief).map((other) => ({
      ...{ name: `${path} ${keys.join('.')} is ${JSON.stringify(other) ?? 'absent'}`, path, times: 1 },
      tell: ({ status, body }: Reply) => ({ status, body: changed(body as Json, keys, other) }),
    })),
  )
}

type Key = string | number

// The entries selected from these decide the payment.
const LISTS = ['chains', 'tokens']

/** Lists, and the unused types of typed data, count as one value each. */
function leavesOf(value: Json, keys: Key[] = []): { keys: Key[]; value: Json }[] {
  const isList = Array.isArray(value) && !LISTS.includes(String(keys.at(-1)))
  if (typeof value !== 'object' || value === null || isList || keys.at(-1) === 'types')
    return [{ keys, value }]
  const inside = Object.entries(value).flatMap(([key, each]) => leavesOf(each, [...keys, key]))
  return [...inside, ...(keys.length > 0 ? [{ keys, value }] : [])]
}

/** A worse value of the same kind, another value, and none. */
function otherValues(value: Json, isBrief: boolean): (Json | undefined)[] {
  const others = allOthers(value)
  return isBrief ? others.filter((each) => each !== undefined && each !== 'other') : others
}

function allOthers(value: Json): (Json | undefined)[] {
  if (typeof value === 'number') return [value + 1, undefined]
  if (typeof value === 'boolean') return [!value, undefined]
  if (typeof value !== 'string') return ['text']
  if (/^0x[0-9a-fA-F]{40}$/.test(value)) return [addressOf('2'), undefined]
  if (/^0x[0-9a-fA-F]{64}$/.test(value)) return [wordOf('2'), undefined]
  if (/^\d+$/.test(value)) return ['1', `${value}0`, undefined]
  return ['other', undefined]
}

function changed(node: Json, [key, ...rest]: Key[], other: Json | undefined): Json {
  if (key === undefined) return other as Json
  const copy = (Array.isArray(node) ? [...node] : { ...(node as object) }) as Record<Key, Json>
  copy[key] = changed(copy[key] ?? null, rest, other)
  return copy as Json
}

/** Refusals with every code. A transient one is sent once, any other always. */
export function errorLies(paths: readonly string[]): Lie[] {
  return paths.flatMap((path) => ERROR_CODES.map((code) => errorLie(path, code)))
}

function errorLie(path: string, code: (typeof ERROR_CODES)[number]): Lie {
  const { status, message, retryable, action } = errorCatalogue[code]
  const body = { code, message, retryable, requestId: 'req_1', recovery: { action } }
  const lie = { name: `${path} is refused with ${code}`, path, tell: () => ({ status, body }) }
  const isWaitedOut = status === 429 || status >= 500 || /DELEGATION|AUTHORIZATION/.test(code)
  return isWaitedOut && !path.includes('submit') ? { ...lie, times: 1 } : toPassing(lie, status)
}

function toPassing(lie: Lie, status: number): Lie {
  return status === 429 || status >= 500 ? { ...lie, times: 1 } : lie
}

export function statusLies(): Lie[] {
  return ['failed', 'refunded'].map((status) => ({
    ...{ name: `the swap is called ${status}`, path: '/swap/status' },
    tell: (reply: Reply) => ({ ...reply, body: { ...(reply.body as object), status, substatus: status } }),
  }))
}

type Change = (op: GeoOp) => GeoOp
const inDelivery =
  (change: Partial<GeoOp['delivery']>): Change =>
  (op) => ({ ...op, delivery: { ...op.delivery, ...change } })
const attacker = { ...origin, escrow: addressOf('2') }
const soon = () => BigInt(nowSeconds())

/** Ops that differ from the request, under matching hashes. */
const opChanges: [string, Change][] = [
  ['another wallet', (op) => ({ ...op, wallet: addressOf('2') })],
  ['another input token', (op) => ({ ...op, inputToken: addressOf('2') })],
  ['a larger input', (op) => ({ ...op, inputAmount: op.inputAmount + 1n })],
  ['another position', (op) => ({ ...op, index: op.index + 1n })],
  ['another locker', (op) => ({ ...op, locker: addressOf('2') })],
  [
    'deadlines of next week',
    (op) => ({ ...op, opDeadline: soon() + 600_000n, refundDeadline: soon() + 604_800n }),
  ],
  ['a refund that never comes', (op) => ({ ...op, refundDeadline: (1n << 256n) - 1n })],
  ['another chain of delivery', inDelivery({ destinationChain: 1n })],
  ['another recipient', inDelivery({ recipient: wordOf('2') })],
  ['another output token', inDelivery({ outputToken: wordOf('2') })],
  ['a minimum of 1', inDelivery({ minOutput: 1n })],
  ['another vault', inDelivery({ vault: wordOf('2') })],
  ['another ring', inDelivery({ ring: wordOf('2') })],
]

export function opLies(): Lie[] {
  const path = '/swap/build-geo-op'
  const lies = opChanges.map(([name, change]) => ({
    ...{ name: `the op has ${name}`, path },
    tell: (reply: Reply) => rebuilt(reply, change, origin),
  }))
  const inEscrow: Change = (op) => inDelivery({ ring: ringOf({ ...attacker, locker: op.locker }) })(op)
  const ofThief = {
    name: "the op is for an attacker's escrow",
    path,
    tell: (reply: Reply) => rebuilt(reply, inEscrow, attacker),
  }
  const ofMainnet = {
    ...{ name: 'the op is for another chain', path },
    tell: (reply: Reply) => rebuilt(reply, (op) => op, { ...origin, chainId: 1 }),
  }
  return [...lies, ofThief, ofMainnet]
}

function rebuilt({ status, body }: Reply, change: Change, domain: typeof origin): Reply {
  const { operation, geoOpToken } = body as { operation: { message: unknown }; geoOpToken: string }
  return { status, body: { ...buildOf(change(readGeoOp(operation.message)), domain), geoOpToken } }
}

/** Transactions that are not exactly the requested transfer. */
export async function solanaLies(): Promise<Lie[]> {
  const path = '/swap/build-solana-tx'
  const { limit, price, memo, create, transfer } = parts
  const [elsewhereAccount = create] = await lockOf({ vault: stranger })
  const toAttacker = await accountOf(stranger)
  const elsewhere = transferOf({ destination: toAttacker })
  const withTable: Instruction = {
    ...transfer,
    accounts: [...(transfer.accounts ?? []), lookedUp(stranger)] as never,
  }
  const usual = [limit, price, memo, create]
  const all: [string, readonly Instruction[], Address?][] = [
    ['goes to an attacker', [...usual, elsewhere]],
    ['moves more', [...usual, transferOf({ amount: 10_000_001n })]],
    ['moves tokens twice', [...usual, transfer, transfer]],
    ['moves coins too', [...usual, transfer, nativeTransferOf(stranger)]],
    ['moves coins instead', [...usual, nativeTransferOf(stranger)]],
    ['pays out of another account', [...usual, transferOf({ source: toAttacker })]],
    ['is of another mint', [...usual, transferOf({ mint: stranger })]],
    ['owes another delivery', [limit, price, memoOf({ ...delivery, minOutput: 1n }), create, transfer]],
    ['owes somebody else', [limit, price, memoOf({ ...delivery, recipient: wordOf('2') }), create, transfer]],
    ['owes nothing', [limit, price, create, transfer]],
    ['goes into the escrow of other terms', [limit, price, memo, elsewhereAccount, elsewhere]],
    ['has the wallet pay the fee', [...usual, transfer], wallet.address],
    ['names accounts by a lookup table', [...usual, withTable]],
    ['begins with something else', [transfer, ...usual]],
  ]
  return all.map(([name, instructions, payer = feePayer]) => ({
    ...{ name: `the transaction ${name}`, path },
    tell: ({ status, body }: Reply) => ({
      status,
      body: { ...(body as object), ...solanaBuildOf(transactionOf(instructions, payer)) },
    }),
  }))
}

function lookedUp(address: Address): object {
  const table = { lookupTableAddress: wallet.address, addressIndex: 0 }
  return { address, role: AccountRole.WRITABLE, ...table }
}
