import type { InputMethod, OriginMethod } from '@geoswap/wire'
import { arePegged, type Catalog, type CatalogChain, type Token } from '../swap/catalog.ts'
import type { FailureCode } from '../swap/lifecycle.ts'
import type { WayName } from '../swap/swap.ts'
import { authorization } from './authorization.ts'
import { delegation } from './delegation.ts'
import { deposit, transfer } from './deposit.ts'
import { payment } from './payment.ts'
import { permit } from './permit.ts'
import type { EvmWay, Way } from './way.ts'

// See docs/decisions.md#six-ways-in.
/** As callers of quote and build choose. */
const chosen: { readonly [Name in OriginMethod]: EvmWay<Name> } = {
  delegation,
  authorization,
  permit,
  deposit,
  transfer,
}
const onEvm: { readonly [Name in InputMethod]: EvmWay<Name> } = { ...chosen, payment }

/** On Solana the wallet signs the transaction that takes its input. */
const transaction: Way<'transaction'> = {
  name: 'transaction',
  signs: 'transaction',
  payer: 'wallet',
  isBatched: true,
  isSimulated: false,
  takes: () => true,
  canPay: () => true,
}

const all: { readonly [Name in WayName]: Way<Name> } = { ...onEvm, transaction }

/** The ways of EVM chains, in the order in which a token lists them: the cheapest first. */
export const evmWays: readonly EvmWay[] = Object.values(onEvm)

export const evmWayOf = (method: InputMethod): EvmWay => onEvm[method]

type ByWay = { method: WayName }

export const wayOf = ({ method }: ByWay): Way => all[method]

/** Whether the input is sent to the op's own address, and nothing is signed for it. */
export const isSent = (op: ByWay): boolean => wayOf(op).signs === 'nothing'

type OfFamily<Each> = { readonly [Name in CatalogChain['family']]?: readonly Each[] }
const ofFamily: OfFamily<EvmWay> = { evm: evmWays }

/** The ways that the chains of a family know. None where wallets sign the transaction that takes their input. */
export const waysOn = (family: CatalogChain['family']): readonly EvmWay[] => ofFamily[family] ?? []

/** Ways by which the input is sent, as ops are stored with them. */
export const sentWays: readonly WayName[] = evmWays
  .filter(({ signs }) => signs === 'nothing')
  .map(({ name }) => name)

/** Ways by which the input lies at the op's own address before its lock, and goes back if there is none. */
export const heldWays: readonly WayName[] = [...sentWays, payment.name]

/** An obstacle as the reason of a failure: what a sent input lacks is its deposit, which a reorg undid. */
export const failureOf = (op: ByWay, obstacle: FailureCode): FailureCode =>
  isSent(op) && obstacle === 'INPUT_UNAVAILABLE' ? 'DEPOSIT_MISSING' : obstacle

const ofCaller: OfFamily<EvmWay<OriginMethod>> = { evm: Object.values(chosen) }

/** The ways among which a caller chooses for this token, the cheapest first. */
export const waysOf = ({ family, native }: CatalogChain, token: Token): EvmWay<OriginMethod>[] =>
  (ofCaller[family] ?? []).filter((way) => way.takes(token, native))

type Route = { origin: CatalogChain; input: Token; output: Token }

/** Payments of requests are priced apart, for those who ask for nothing else. */
export const paymentsFor = ({ origin, input }: Pick<Route, 'origin' | 'input'>): EvmWay[] =>
  waysOn(origin.family).filter((way) => way.name === payment.name && way.takes(input, origin.native))

/** The ways of one route. A price holds for whoever may pay only if both sides are pegged. */
export function waysFor(catalog: Catalog, { origin, input, output }: Route): EvmWay<OriginMethod>[] {
  const isPegged = arePegged(catalog, input, output)
  return waysOf(origin, input).filter(({ payer }) => isPegged || payer === 'wallet')
}
