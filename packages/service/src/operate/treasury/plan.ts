import { type Address, formatUnits, isAddressEqual, zeroAddress } from 'viem'
import {
  type AttesterSet,
  byAddress,
  type DatedSet,
  keyOfSet,
  type ProposedSet,
} from '../../swap/attester-set.ts'
import { type TreasuryCall, toCall, toPayment } from './calls.ts'

/** The contracts of one chain as the configuration wants them. Amounts are in the smallest unit. */
export type Wanted = {
  contracts: { vault: Address; escrow: Address }
  deliverers: readonly Address[]
  adapters: readonly Address[]
  /** Deliverers and adapters of earlier configurations. */
  revoked: readonly Address[]
  attesters: AttesterSet
  guardian?: Address
  /** Undefined if the chain's own value stays. */
  refundsStopped?: boolean
  tokens: readonly WantedToken[]
}
type WantedToken = {
  address: Address
  symbol: string
  decimals: number
  /** Undefined if the chain's own value stays. */
  cap?: bigint
  claimCap?: bigint
  refundCap?: bigint
  /** Whether its transfers move exactly their amount. */
  isPlain?: boolean
  /** The least that the vault should hold. */
  stock?: bigint
}

/** The contracts of one chain as they are. Time is that of the newest block, in seconds. */
export type TreasuryState = {
  time: bigint
  /** The set that was accepted last. */
  attesters: DatedSet
  pending: ProposedSet | undefined
  refundsStopped: boolean
  /** The zero address if there is none. */
  guardian: Address
  deliverers: ReadonlySet<Address>
  adapters: ReadonlySet<Address>
  tokens: ReadonlyMap<Address, TokenState>
}
export type TokenState = {
  cap: bigint
  claimCap: bigint
  refundCap: bigint
  isPlain: boolean
  /** Of the vault, and of the treasury. */
  held: bigint
  owned: bigint
  credit: bigint
  /** Why the token cannot be listed. */
  fault?: string
}

type Steps = { calls: TreasuryCall[]; notes: string[] }
/**
 * Calls that the treasury has to make, in order, states that no call changes now, coins that it lacks for them, and
 * tokens that must not be listed. See docs/decisions.md#the-treasury-by-comparison.
 */
export type TreasuryPlan = Steps & { lacks: string[]; refused: string[] }

/**
 * Compares the configuration with the chain. Rights end before others begin, and a token can be claimed before it is
 * paid.
 */
export function planTreasury(wanted: Wanted, state: TreasuryState): TreasuryPlan {
  const attesters = planAttesters(wanted, state)
  const stop = planStop(wanted, state)
  const guardian = planGuardian(wanted, state)
  const tokens = wanted.tokens.map((token) => planToken(wanted, token, state.tokens.get(token.address)))
  return {
    calls: [
      ...planRevoked(wanted, state),
      ...stop.calls,
      ...guardian.calls,
      ...attesters.calls,
      ...planAllowed(wanted, state),
      ...tokens.flatMap(({ calls }) => calls),
    ],
    notes: [...stop.notes, ...guardian.notes, ...attesters.notes, ...tokens.flatMap(({ notes }) => notes)],
    lacks: wanted.tokens.flatMap((token) => findLack(token, state.tokens.get(token.address))),
    refused: wanted.tokens.flatMap((token) => findRefused(token, state.tokens.get(token.address))),
  }
}

/** The part of a plan that the guardian can carry out. */
export function guardianPart({ calls }: TreasuryPlan): TreasuryPlan {
  return { calls: calls.filter(({ isLess }) => isLess), notes: [], lacks: [], refused: [] }
}

/** One key can lower caps and revoke deliverers beside the treasury. Its rights end by name, as all rights do. */
function planGuardian({ contracts, guardian, revoked }: Wanted, state: TreasuryState): Steps {
  const set = (newGuardian: Address, says: string) => {
    const call = { contract: 'GeoVault', to: contracts.vault, name: 'setGuardian' } as const
    return { calls: [toCall({ ...call, args: { newGuardian }, says })], notes: [] }
  }
  if (guardian && !isAddressEqual(guardian, state.guardian))
    return set(guardian, 'lets it lower caps and revoke deliverers')
  if (guardian || state.guardian === zeroAddress) return { calls: [], notes: [] }
  if (revoked.includes(state.guardian)) return set(zeroAddress, `ends the rights of ${state.guardian}`)
  const note = `the guardian is ${state.guardian}, which is not configured: name it, or revoke it`
  return { calls: [], notes: [note] }
}

/** A token with closed caps is not listed. */
function findRefused(token: WantedToken, state: TokenState = NO_STATE): string[] {
  const { cap = state.cap, claimCap = state.claimCap } = token
  if (state.fault === undefined || (cap === 0n && claimCap === 0n)) return []
  return [`${token.symbol} ${state.fault}: set its caps to 0 or remove it`]
}

function planRevoked(
  { revoked, contracts }: Wanted,
  { deliverers, adapters }: TreasuryState,
): TreasuryCall[] {
  const to = contracts.vault
  return revoked.flatMap((address) => [
    ...(deliverers.has(address) ? [setDeliverer(to, address, false)] : []),
    ...(adapters.has(address) ? [setAdapter(to, address, false)] : []),
  ])
}

function planAllowed(wanted: Wanted, state: TreasuryState): TreasuryCall[] {
  const to = wanted.contracts.vault
  return [
    ...wanted.deliverers
      .filter((address) => !state.deliverers.has(address))
      .map((address) => setDeliverer(to, address, true)),
    ...wanted.adapters
      .filter((address) => !state.adapters.has(address))
      .map((address) => setAdapter(to, address, true)),
  ]
}

function setDeliverer(to: Address, deliverer: Address, isAllowed: boolean): TreasuryCall {
  const says = isAllowed ? 'lets it pay from the vault' : 'ends its right to pay from the vault'
  const args = { deliverer, isAllowed }
  return toCall({ contract: 'GeoVault', to, name: 'setDeliverer', args, says, isLess: !isAllowed })
}

function setAdapter(to: Address, adapter: Address, isAllowed: boolean): TreasuryCall {
  const says = isAllowed ? 'lets the vault buy through it' : 'ends purchases through it'
  return toCall({ contract: 'GeoVault', to, name: 'setAdapter', args: { adapter, isAllowed }, says })
}

/** New attesters are proposed, and accepted a day later. They decide ops from 7 days after that on. */
function planAttesters({ contracts, attesters: next }: Wanted, state: TreasuryState): Steps {
  const { attesters, pending, time } = state
  const escrow = { contract: 'GeoEscrow', to: contracts.escrow } as const
  const [now, wanted] = [keyOfSet(attesters), keyOfSet(next)]
  if (now === wanted) {
    const at = toTime(attesters.since)
    const waits = `the attesters ${now} decide swaps whose refund deadline is ${at} or later`
    if (!pending) return { calls: [], notes: attesters.since > time ? [waits] : [] }
    const cancel = 'name them as nextAttesters, or end it with GeoEscrow.proposeAttesters of no members'
    return { calls: [], notes: [`the escrow has pending attesters, ${keyOfSet(pending)}: ${cancel}`] }
  }
  if (!pending || keyOfSet(pending) !== wanted) {
    const says = `instead of ${now}, in 8 days at the earliest`
    const args = { members: [...next.members].sort(byAddress), threshold: BigInt(next.threshold) }
    return { calls: [toCall({ ...escrow, name: 'proposeAttesters', args, says })], notes: [] }
  }
  if (time < BigInt(pending.readyAt)) {
    const at = toTime(pending.readyAt)
    return {
      calls: [],
      notes: [`the attesters ${wanted} are proposed, and can be accepted for two days from ${at}`],
    }
  }
  const says = `${wanted} instead of ${now}, for refund deadlines more than 7 days from now`
  return { calls: [toCall({ ...escrow, name: 'acceptAttesters', args: {}, says })], notes: [] }
}

const toTime = (seconds: number) => new Date(seconds * 1_000).toISOString()

/** Attested refunds are stopped against a stolen attester key; refunds after their deadline go on. */
function planStop({ contracts, refundsStopped: isStopped }: Wanted, state: TreasuryState): Steps {
  if (isStopped === undefined) {
    const note = 'attested refunds are stopped: set attestedRefundsStopped to false to go on'
    return { calls: [], notes: state.refundsStopped ? [note] : [] }
  }
  if (isStopped === state.refundsStopped) return { calls: [], notes: [] }
  const says = isStopped ? 'stops refunds before their deadline' : 'allows refunds before their deadline'
  const call = { contract: 'GeoEscrow', to: contracts.escrow, name: 'setAttestedRefundsStopped' } as const
  return { calls: [toCall({ ...call, args: { isStopped }, says })], notes: [] }
}

const NO_STATE: TokenState = {
  cap: 0n,
  claimCap: 0n,
  refundCap: 0n,
  isPlain: false,
  held: 0n,
  owned: 0n,
  credit: 0n,
}

function planToken({ contracts }: Wanted, token: WantedToken, state: TokenState = NO_STATE): Steps {
  const { vault, escrow } = contracts
  const { address, symbol } = token
  const calls: TreasuryCall[] = []
  if (token.claimCap !== undefined && token.claimCap !== state.claimCap) {
    const args = { token: address, limitPerHour: token.claimCap }
    const says = `claims of ${coins(token, token.claimCap)} an hour, now ${coins(token, state.claimCap)}`
    const isLess = token.claimCap < state.claimCap
    calls.push(toCall({ contract: 'GeoEscrow', to: escrow, name: 'setClaimCap', args, says, isLess }))
  }
  if (token.refundCap !== undefined && token.refundCap !== state.refundCap) {
    const args = { token: address, limitPerHour: token.refundCap }
    const says = `attested refunds of ${coins(token, token.refundCap)} an hour, now ${coins(token, state.refundCap)}`
    const isLess = token.refundCap < state.refundCap
    calls.push(toCall({ contract: 'GeoEscrow', to: escrow, name: 'setRefundCap', args, says, isLess }))
  }
  if (token.isPlain !== undefined && token.isPlain !== state.isPlain) {
    const args = { token: address, isPlain: token.isPlain }
    const says = token.isPlain
      ? 'pays without comparing balances: its transfers move exactly their amount'
      : 'compares balances around each payment'
    calls.push(toCall({ contract: 'GeoVault', to: vault, name: 'setPlainToken', args, says }))
  }
  if (token.cap !== undefined && token.cap !== state.cap) {
    const args = { token: address, limitPerHour: token.cap }
    const says = `payments of ${coins(token, token.cap)} an hour, now ${coins(token, state.cap)}`
    const isLess = token.cap < state.cap
    calls.push(toCall({ contract: 'GeoVault', to: vault, name: 'setCap', args, says, isLess }))
  }
  if (state.credit > 0n) {
    const says = `takes ${coins(token, state.credit)} that a claim could not pay to the vault`
    const args = { escrow, token: address }
    calls.push(toCall({ contract: 'GeoVault', to: vault, name: 'collectCredit', args, says }))
  }
  calls.push(...planStock(vault, token, state.held))
  const isUnset = token.cap === undefined && token.claimCap === undefined
  const isClosed = state.cap === 0n || state.claimCap === 0n
  const unset = `${symbol} is closed: its capPerHour and claimCapPerHour are not configured`
  return { calls, notes: isUnset && isClosed ? [unset] : [] }
}

const missingOf = ({ stock = 0n }: WantedToken, held: bigint) => stock - held

/** Of the native coin it also needs gas. */
function findLack(token: WantedToken, { held, owned }: TokenState = NO_STATE): string[] {
  const missing = missingOf(token, held)
  const isEnough = token.address === zeroAddress ? owned > missing : owned >= missing
  if (missing <= 0n || isEnough) return []
  return [`the treasury has ${coins(token, owned)}, and the deposit is ${coins(token, missing)}`]
}

function planStock(vault: Address, token: WantedToken, held: bigint): TreasuryCall[] {
  const missing = missingOf(token, held)
  if (missing <= 0n) return []
  const says = `deposits ${coins(token, missing)} into the vault, which holds ${coins(token, held)}`
  if (token.address === zeroAddress) return [toPayment(vault, missing, says)]
  const args = { recipient: vault, amount: missing }
  return [toCall({ contract: 'token', to: token.address, name: 'transfer', args, says })]
}

function coins({ decimals, symbol }: WantedToken, amount: bigint): string {
  return `${formatUnits(amount, decimals)} ${symbol}`
}
