import { AccountRole, type Address } from '@solana/kit'
import { MARKER_BYTES, SWEEP_MARGIN_SECONDS } from '../../src/accounts.ts'
import {
  claimInstruction,
  deliverInstruction,
  refundInstruction,
  sweepInstruction,
} from '../../src/instructions.ts'
import { SYSTEM_PROGRAM } from '../../src/token.ts'
import type { Call } from '../model/bank.ts'
import type { Random } from './random.ts'
import { NOW, type Universe } from './universe.ts'

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
  const weighted = [delivering, delivering, delivering, delivering].flat()
  return [...templates, ...weighted, ...sweeps(universe)]
}

async function deliveries({ chain, slots, tokens, payer, recipient }: Universe): Promise<Call[]> {
  const markerLamports = chain.rent(MARKER_BYTES)
  const calls: Call[] = []
  for (const { vault, opId } of slots) {
    for (const token of tokens) {
      const delivery = { opId, vault, payer, token, recipient, fillDeadline: NOW, markerLamports }
      calls.push(await deliverInstruction(chain.program, { ...delivery, amount: 2_000_000n }))
    }
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
  const changes = random.pick([0, 1, 1, 1, 1, 1, 2, 2, 3])
  for (let count = 0; count < changes; count++) change(random, draft, universe)
  // A program that can be written is a question to the chain, not to us.
  for (const account of draft.accounts) {
    if (universe.programs.has(account.address)) account.role &= ~AccountRole.WRITABLE
  }
  return draft
}

function change(random: Random, draft: Draft, universe: Universe): void {
  const { accounts } = draft
  const index = random.below(accounts.length || 1)
  const account = accounts[index]
  const kind = random.below(18)
  if (!account || kind >= 11) changeData(random, draft, universe)
  else if (kind <= 2) account.address = random.pick(universe.pool)
  else if (kind === 9) account.address = random.pick(universe.twins.get(account.address) ?? universe.odd)
  else if (kind === 10) draft.accounts = withAddress(accounts, 1, random.pick(universe.odd))
  else if (kind === 3) account.address = random.pick(universe.destinations)
  else if (kind === 4) account.address = random.pick(accounts).address
  else if (kind === 5) swap(accounts, index, random.below(accounts.length))
  else if (kind <= 7) account.role ^= random.pick([1, 2, 2, 3])
  else if (random.isOneOf(2)) accounts.splice(index, 1)
  else
    accounts.splice(index, 0, { address: random.pick(universe.pool), role: random.below(4) as AccountRole })
}

function withAddress(accounts: readonly Account[], place: number, address: Address): Account[] {
  return accounts.map((account, index) => (index === place ? { ...account, address } : account))
}

function swap(accounts: Account[], a: number, b: number): void {
  const [first, second] = [accounts[a], accounts[b]]
  if (!first || !second) return
  accounts[a] = second
  accounts[b] = first
}

const AMOUNTS = [0n, 1n, 890_879n, 890_880n, 7_000_000n, 7_000_001n, 2n ** 63n, 2n ** 64n - 1n]
const DEADLINES = [NOW - 1n, NOW, NOW + 1n, -1n, 0n, 2n ** 63n - 1n, -(2n ** 63n)]

function changeData(random: Random, draft: Draft, { chain, slots, places }: Universe): void {
  const { data } = draft
  const view = new DataView(data.buffer)
  const kind = random.below(12)
  if (kind === 0) data[0] = random.below(8)
  else if (kind === 1) data[0] = (data[0] ?? 0) ^ random.pick([1, 2])
  else if (kind === 2 && data.length > 1) data[1] = (data[1] ?? 0) + random.pick([1, -1])
  else if (kind === 3) data[random.below(data.length)] = random.below(256)
  else if (kind === 4) draft.data = data.slice(0, random.below(data.length + 1))
  else if (kind === 5) draft.data = Uint8Array.from([...data, random.below(256)])
  else if (kind === 6) deriveNothing(draft, random.pick([...slots, ...places]).bump)
  else if (data.length !== 58) data[random.below(data.length)] = 1 << random.below(8)
  else if (kind <= 8) view.setBigUint64(34, random.pick(AMOUNTS), true)
  else if (kind === 9) view.setBigInt64(42, random.pick(DEADLINES), true)
  else view.setBigUint64(50, random.pick([...AMOUNTS, chain.rent(MARKER_BYTES) - 1n]), true)
}

/**
 * A bump whose address would be on the curve, with the address of zeros in its place: the chain derives nothing, and
 * the memory for the address stays zero.
 */
function deriveNothing(draft: Draft, bump: number): void {
  const place = draft.data.length === 58 ? 6 : 0
  const account = draft.accounts[place]
  if (!account || draft.data.length < 2) return
  account.address = SYSTEM_PROGRAM
  draft.data[1] = bump + 1
}
