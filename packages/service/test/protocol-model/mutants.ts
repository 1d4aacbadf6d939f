import type { RuleName } from './invariants.ts'
import { baseRules, type Rules, softRules } from './rules.ts'

/** The protocol without one rule: the invariant it violates, and the length of the trace. */
export type Mutant = {
  id: string
  what: string
  on: Rules
  off: Partial<Rules>
  breaks: RuleName
  steps: number
  states: number
  /** A rule that the mutant violates before money is lost. */
  first?: RuleName
}

const toSolana: Rules = { ...baseRules, destination: 'solana' }
const fromSolana: Rules = { ...baseRules, origin: 'solana' }

const ONE_DELIVERY = 'INV-1 at most one delivery'
const EXCLUSIVE = 'INV-2 never delivered and refunded'
const ONE_REFUND = 'INV-3 at most one refund'
const SETTLED = 'INV-4 settled is true'
const WRITTEN = 'INV-9 written ahead'
const PROVEN = 'INV-22 no money decision without a proof'

/** The mutants of the design, with its numbers. M8 is none any more: no chain pays after the fill deadline. */
export const designMutants: readonly Mutant[] = [
  {
    ...{ id: 'M1', what: 'no marker, and signed again before the first is dead', on: toSolana },
    off: { hasDeliveryGuard: false, signsAgainAfterDeath: false },
    ...{ breaks: ONE_DELIVERY, steps: 17, states: 4_079 },
  },
  {
    ...{ id: 'M2', what: 'no marker, and no write-ahead log', on: toSolana },
    off: { hasDeliveryGuard: false, writesAhead: false },
    ...{ breaks: ONE_DELIVERY, steps: 18, states: 3_801, first: WRITTEN },
  },
  {
    ...{ id: 'M3', what: 'a refund decided by a timer, to an EVM chain', on: baseRules },
    off: { refundNeeds: 'timer' },
    ...{ breaks: EXCLUSIVE, steps: 22, states: 660, first: PROVEN },
  },
  {
    ...{ id: 'M4', what: 'a refund decided by a timer, to Solana', on: toSolana },
    off: { refundNeeds: 'timer' },
    ...{ breaks: EXCLUSIVE, steps: 22, states: 696, first: PROVEN },
  },
  {
    ...{ id: 'M5', what: 'failed by a timer', on: baseRules },
    off: { failNeeds: 'timer' },
    ...{ breaks: 'INV-6 failed is true', steps: 5, states: 568, first: PROVEN },
  },
  {
    ...{ id: 'M6', what: 'no margin before the refund deadline', on: baseRules },
    off: { refundMargin: 'none' },
    ...{ breaks: EXCLUSIVE, steps: 21, states: 565 },
  },
  {
    ...{ id: 'M7', what: 'a margin for the claim’s inclusion, not for its finality', on: baseRules },
    off: { refundMargin: 'claimIncluded' },
    ...{ breaks: EXCLUSIVE, steps: 28, states: 549 },
  },
  {
    ...{ id: 'M9', what: 'delivered against a lock that is not final, without a cap', on: baseRules },
    off: { acceptAt: 'soft', booksExposure: false },
    ...{ breaks: 'INV-13 exposure within its cap', steps: 7, states: 650 },
  },
  {
    ...{ id: 'M10', what: 'an input that is paid out again: two refunds', on: fromSolana },
    off: { paysOutOnce: false },
    ...{ breaks: ONE_REFUND, steps: 21, states: 1_174 },
  },
  {
    ...{ id: 'M11', what: 'the marker without a write-ahead log', on: toSolana },
    off: { writesAhead: false },
    ...{ breaks: EXCLUSIVE, steps: 19, states: 3_304, first: WRITTEN },
  },
  {
    ...{ id: 'M12', what: 'the vault’s lane without a write-ahead log', on: baseRules },
    off: { writesAhead: false },
    ...{ breaks: EXCLUSIVE, steps: 19, states: 3_150, first: WRITTEN },
  },
  {
    ...{ id: 'M13', what: 'settled at inclusion, however late', on: baseRules },
    off: { settleAt: 'soft', settlesOnlyRepeatable: false },
    ...{ breaks: SETTLED, steps: 18, states: 754 },
  },
  {
    ...{ id: 'M14', what: 'refunded at inclusion', on: baseRules },
    off: { refundedAt: 'inclusion' },
    ...{ breaks: 'INV-5 refunded is true', steps: 13, states: 604 },
  },
  {
    ...{ id: 'M15', what: 'a stale process signs after the decision to refund', on: baseRules },
    off: { comparesVersion: false, hasTriggers: false },
    ...{ breaks: EXCLUSIVE, steps: 18, states: 959 },
    first: 'INV-2 no delivery is signed after a refund decision',
  },
]

/** Further rules that the design's list does not turn off. */
export const furtherMutants: readonly Mutant[] = [
  {
    ...{ id: 'M16', what: 'a stale process signs a lock after the swap was declined', on: baseRules },
    off: { comparesVersion: false, hasTriggers: false },
    ...{ breaks: 'INV-6 failed is true', steps: 5, states: 959 },
  },
  {
    ...{ id: 'M17', what: 'a fill deadline that does not wait for the lock’s finality', on: softRules },
    off: { fillAwaitsLockFinality: false },
    ...{ breaks: EXCLUSIVE, steps: 20, states: 1_508 },
  },
  {
    ...{ id: 'M18', what: 'a settled swap is not delivered again after a reorg', on: softRules },
    off: { redeliversSettled: false },
    ...{ breaks: SETTLED, steps: 17, states: 1_276 },
  },
  {
    ...{ id: 'M19', what: 'reported as settled without time to repeat it', on: softRules },
    off: { settlesOnlyRepeatable: false },
    ...{ breaks: SETTLED, steps: 17, states: 1_484 },
  },
  {
    ...{ id: 'M20', what: 'an attester that trusts the worker', on: softRules },
    off: { attesterReads: false },
    ...{ breaks: 'INV-15 no claim without a final delivery', steps: 11, states: 2_127 },
  },
  {
    ...{ id: 'M21', what: 'an input that is paid out again: a refund after the claim', on: fromSolana },
    off: { paysOutOnce: false },
    ...{ breaks: EXCLUSIVE, steps: 28, states: 1_174 },
  },
  {
    ...{ id: 'M22', what: 'a refund by anyone before its deadline', on: fromSolana },
    off: { strangersWait: false },
    ...{ breaks: EXCLUSIVE, steps: 14, states: 2_031 },
  },
  {
    ...{ id: 'M23', what: 'no margin before the refund deadline of a Solana input', on: fromSolana },
    off: { refundMargin: 'none' },
    ...{ breaks: EXCLUSIVE, steps: 21, states: 1_101 },
  },
  {
    ...{ id: 'M24', what: 'a program that pays after the fill deadline', on: toSolana },
    off: { refusesLate: false },
    ...{ breaks: EXCLUSIVE, steps: 21, states: 716 },
  },
  {
    ...{ id: 'M25', what: 'a refund decided at the newest block past the fill deadline', on: toSolana },
    off: { overAt: 'newest' },
    ...{ breaks: EXCLUSIVE, steps: 22, states: 707 },
  },
  {
    ...{ id: 'M26', what: 'a marker that is swept before the refund deadline', on: toSolana },
    off: { sweepAwaits: 'nothing' },
    ...{ breaks: EXCLUSIVE, steps: 23, states: 593 },
  },
]
