import { AccountRole, type Address } from '@solana/kit'
import { MARKER_BYTES, SWEEP_MARGIN_SECONDS } from '../../src/accounts.ts'
import {
  claimInstruction,
  deliverInstruction,
  refundInstruction,
  sweepInstruction,
} from '../../src/instructions.ts'
import { SYSTEM_PROGRAM } from '../../src/terms.ts'
import type { Call } from '../model/bank.ts'
import type { Random } from './random.ts'
import { LEAST, NOW, type Universe } from './universe.ts'

/** Clocks around every deadline of the universe. */
export const CLOCKS = [
  ...[NOW - 1n, NOW, NOW + 1n],
  ...[NOW + SWEEP_MARGIN_SECONDS, NOW + SWEEP_MARGIN_SECONDS + 1n, 0n],
]

type Account = { address: Address; role: AccountRole }
type Draft = { accounts: Account[]; data: Uint8Array }

/** Every instruction in every form that the client builds, from which the fuzzer starts. */
export async function createTemplates(universe: Universe): Promise<Call[]> {
  const { chain, places, tokens } = universe
  const templates: Call[] = []
  for (const { terms } of places) {
    for (const token of tokens) {
      for (const keepRent of [false, true]) {
        const payout = { terms, token, keepRent }
        templates.push(await claimInstruction(chain.program, payout))
        templates.push(await refundInstruction(chain.program, { ...payout, attested: true }))
        templates.push(await refundInstruction(chain.program, { ...payout, attested: false }))
      }
    }
  }
  const delivering = await deliveries(universe)
  // As often as payouts, of which there are more forms.
  const weighted = [delivering, delivering].flat()
  return [...templates, ...weighted, ...sweeps(universe)]
}

async function deliveries({ chain, slots, payer, recipient }: Universe): Promise<Call[]> {
  const markerLamports = chain.rent(MARKER_BYTES)
  const calls: Call[] = []
  for (const { vault, opId, order, token } of slots) {
    const delivery = { opId, order, vault, payer, token, recipient, markerLamports }
    calls.push(await deliverInstruction(chain.program, { ...delivery, amount: 2_000_000n }))
  }
  return calls
}

/** As many as of the others together would be too many: a sweep has little to check. */
function sweeps({ chain, markers }: Universe): Call[] {
  return markers.flatMap((of) => Array.from({ length: 6 }, () => sweepInstruction(chain.program, of)))
}

/** A template with up to three changes. */
export function createCase(
  random: Random,
  { universe, templates }: { universe: Universe; templates: Call[] },
): Call {
  const { accounts, data } = random.pick(templates)
  const draft: Draft = { accounts: accounts.map((account) => ({ ...account })), data: data.slice() }
  const count = random.pick([0, 1, 1, 1, 1, 1, 2, 2, 3])
  for (let made = 0; made < count; made++) random.pick(changes)({ random, draft, universe })
  // A program that can be written is a question to the chain, not to us.
  for (const account of draft.accounts) {
    if (universe.programs.has(account.address)) account.role &= ~AccountRole.WRITABLE
  }
  return draft
}

type Case = { random: Random; draft: Draft; universe: Universe }
type Change = (on: Case) => void

/** Each change as often as it stands here: those that a first check refuses are rarer. */
const changes: readonly Change[] = [
  ...[replaceByAny, replaceByAny, replaceByAny, replaceByTwin, replaceByTwin, replaceByTwin],
  ...[replaceByDestination, replaceSourceByOdd, replaceByOther, swapTwo, changeRole, changeRole, changeCount],
  ...[changeTag, changeByte, changeLength, deriveNothing, changeBump],
  ...[changeAmount, changeAmount, changeDeadline, changeRent, takeOtherMarker],
]

function pickAccount({ random, draft }: Case): Account | undefined {
  return draft.accounts[random.below(draft.accounts.length || 1)]
}

function setAddress(account: Account | undefined, address: Address): void {
  if (account) account.address = address
}

function replaceByAny(on: Case): void {
  setAddress(pickAccount(on), on.random.pick(on.universe.pool))
}

function replaceByTwin(on: Case): void {
  const account = pickAccount(on)
  const twins = account && on.universe.twins.get(account.address)
  if (twins) setAddress(account, on.random.pick(twins))
}

function replaceByDestination(on: Case): void {
  setAddress(pickAccount(on), on.random.pick(on.universe.destinations))
}

function replaceSourceByOdd({ random, draft, universe }: Case): void {
  setAddress(draft.accounts[1], random.pick(universe.odd))
}

function replaceByOther(on: Case): void {
  const other = pickAccount(on)
  if (other) setAddress(pickAccount(on), other.address)
}

function swapTwo(on: Case): void {
  const [first, second] = [pickAccount(on), pickAccount(on)]
  if (!first || !second) return
  const kept = { ...first }
  Object.assign(first, second)
  Object.assign(second, kept)
}

function changeRole(on: Case): void {
  const account = pickAccount(on)
  if (account) account.role ^= on.random.pick([1, 2, 2, 3])
}

function changeCount({ random, draft, universe }: Case): void {
  const added = { address: random.pick(universe.pool), role: random.below(4) as AccountRole }
  const index = random.below(draft.accounts.length || 1)
  if (random.isOneOf(2)) draft.accounts.splice(index, 1)
  else draft.accounts.splice(index, 0, added)
}

function changeTag({ random, draft }: Case): void {
  draft.data[0] = random.isOneOf(2) ? random.below(8) : (draft.data[0] ?? 0) ^ random.pick([1, 2])
}

function changeByte({ random, draft }: Case): void {
  const index = random.below(draft.data.length || 1)
  draft.data[index] = (draft.data[index] ?? 0) ^ (1 << random.below(8))
}

function changeLength({ random, draft }: Case): void {
  const { data } = draft
  const shorter = data.slice(0, random.below(data.length + 1))
  draft.data = random.isOneOf(2) ? shorter : Uint8Array.from([...data, random.below(256)])
}

function changeBump({ random, draft }: Case): void {
  if (draft.data.length > 1) draft.data[1] = (draft.data[1] ?? 0) + random.pick([1, -1])
}

/**
 * A bump whose address would be on the curve, with the address of zeros in its place: the chain derives nothing, and
 * the memory for the address stays zero.
 */
function deriveNothing({ draft, random, universe }: Case): void {
  const { bump } = random.pick(universe.places)
  if (draft.data.length < 2 || draft.data.length === DELIVER_BYTES) return
  setAddress(draft.accounts[0], SYSTEM_PROGRAM)
  draft.data[1] = bump + 1
}

/** Another address of the same vault and op, by a later bump. */
function takeOtherMarker({ draft, random, universe }: Case): void {
  const { others } = random.pick(universe.slots)
  if (draft.data.length === DELIVER_BYTES && others.length > 0)
    setAddress(draft.accounts[6], random.pick(others))
}

const DELIVER_BYTES = 209
const AMOUNTS = [
  0n,
  1n,
  LEAST - 1n,
  LEAST,
  LEAST + 1n,
  890_879n,
  890_880n,
  7_000_000n,
  7_000_001n,
  2n ** 63n,
  2n ** 64n - 1n,
]
const DEADLINES = [NOW - 1n, NOW, NOW + 1n, -1n, 0n, 2n ** 63n - 1n, -(2n ** 63n)]

function setNumber({ data }: Draft, offset: number, value: bigint): void {
  if (data.length === DELIVER_BYTES) new DataView(data.buffer).setBigInt64(offset, value, true)
}

function changeAmount({ random, draft }: Case): void {
  setNumber(draft, 193, random.pick(AMOUNTS))
}

function changeDeadline({ random, draft }: Case): void {
  setNumber(draft, 185, random.pick(DEADLINES))
}

function changeRent({ random, draft, universe }: Case): void {
  setNumber(draft, 201, random.pick([...AMOUNTS, universe.chain.rent(MARKER_BYTES) - 1n]))
}
