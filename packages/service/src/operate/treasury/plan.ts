import { type Address, formatUnits, zeroAddress } from 'viem'
import { type TreasuryCall, toCall, toPayment } from './calls.ts'

/** The contracts of one chain as the configuration wants them. Amounts are in the smallest unit. */
export type Wanted = {
  contracts: { vault: Address; escrow: Address }
  deliverers: readonly Address[]
  adapters: readonly Address[]
  /** Deliverers and adapters of earlier configurations. */
  revoked: readonly Address[]
  attester: Address
  tokens: readonly WantedToken[]
}
type WantedToken = {
  address: Address
  symbol: string
  decimals: number
  /** Undefined if the chain's own value stays. */
  cap?: bigint
  claimCap?: bigint
  /** The least that the vault should hold. */
  stock?: bigint
}

/** The contracts of one chain as they are. Time is that of the newest block, in seconds. */
export type TreasuryState = {
  time: bigint
  attester: Address
  pending: { next: Address; readyAt: bigint }
  deliverers: ReadonlySet<Address>
  adapters: ReadonlySet<Address>
  tokens: ReadonlyMap<Address, TokenState>
}
export type TokenState = { cap: bigint; claimCap: bigint; held: bigint; credit: bigint }

/** Calls that the treasury has to make, in order, and states that no call changes now. */
export type TreasuryPlan = { calls: TreasuryCall[]; notes: string[] }

/**
 * Compares the configuration with the chain. Rights end before others begin, and a token can be claimed before it is
 * paid.
 */
export function planTreasury(wanted: Wanted, state: TreasuryState): TreasuryPlan {
  const attester = planAttester(wanted, state)
  const tokens = wanted.tokens.map((token) => planToken(wanted, token, state.tokens.get(token.address)))
  return {
    calls: [
      ...planRevoked(wanted, state),
      ...attester.calls,
      ...planAllowed(wanted, state),
      ...tokens.flatMap(({ calls }) => calls),
    ],
    notes: [...attester.notes, ...tokens.flatMap(({ notes }) => notes)],
  }
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
  return toCall({ contract: 'GeoVault', to, name: 'setDeliverer', args: { deliverer, isAllowed }, says })
}

function setAdapter(to: Address, adapter: Address, isAllowed: boolean): TreasuryCall {
  const says = isAllowed ? 'lets the vault buy through it' : 'ends purchases through it'
  return toCall({ contract: 'GeoVault', to, name: 'setAdapter', args: { adapter, isAllowed }, says })
}

/** A new attester is proposed, and accepted when its notice is over. */
function planAttester({ contracts, attester: next }: Wanted, state: TreasuryState): TreasuryPlan {
  const { attester, pending, time } = state
  const escrow = { contract: 'GeoEscrow', to: contracts.escrow } as const
  if (attester === next) {
    if (pending.next === zeroAddress || pending.next === attester) return { calls: [], notes: [] }
    const cancel = 'name it as nextAttester, or end it with GeoEscrow.proposeAttester of the zero address'
    return { calls: [], notes: [`the escrow has a pending attester ${pending.next}: ${cancel}`] }
  }
  if (pending.next !== next) {
    const says = `instead of ${attester}, after 8 days`
    return { calls: [toCall({ ...escrow, name: 'proposeAttester', args: { next }, says })], notes: [] }
  }
  if (time < pending.readyAt) {
    const at = new Date(Number(pending.readyAt) * 1_000).toISOString()
    return { calls: [], notes: [`the attester ${next} is proposed, and can be accepted from ${at}`] }
  }
  const says = `${next} instead of ${attester}`
  return { calls: [toCall({ ...escrow, name: 'acceptAttester', args: {}, says })], notes: [] }
}

function planToken(
  { contracts }: Wanted,
  token: WantedToken,
  state: TokenState = { cap: 0n, claimCap: 0n, held: 0n, credit: 0n },
): TreasuryPlan {
  const { vault, escrow } = contracts
  const { address, symbol } = token
  const calls: TreasuryCall[] = []
  if (token.claimCap !== undefined && token.claimCap !== state.claimCap) {
    const args = { token: address, limitPerHour: token.claimCap }
    const says = `claims of ${coins(token, token.claimCap)} an hour, now ${coins(token, state.claimCap)}`
    calls.push(toCall({ contract: 'GeoEscrow', to: escrow, name: 'setClaimCap', args, says }))
  }
  if (token.cap !== undefined && token.cap !== state.cap) {
    const args = { token: address, limitPerHour: token.cap }
    const says = `payments of ${coins(token, token.cap)} an hour, now ${coins(token, state.cap)}`
    calls.push(toCall({ contract: 'GeoVault', to: vault, name: 'setCap', args, says }))
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

function planStock(vault: Address, token: WantedToken, held: bigint): TreasuryCall[] {
  const missing = (token.stock ?? 0n) - held
  if (missing <= 0n) return []
  const says = `deposits ${coins(token, missing)} into the vault, which holds ${coins(token, held)}`
  if (token.address === zeroAddress) return [toPayment(vault, missing, says)]
  const args = { recipient: vault, amount: missing }
  return [toCall({ contract: 'token', to: token.address, name: 'transfer', args, says })]
}

function coins({ decimals, symbol }: WantedToken, amount: bigint): string {
  return `${formatUnits(amount, decimals)} ${symbol}`
}
