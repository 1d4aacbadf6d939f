import type { Random } from '../../bench/random.ts'
import type { ChainName, ClientPlan, EvmChainName } from '../plan.ts'

/** The acts of strangers, each with the reason why it could harm others. */
export const crowdKinds = [
  // Contract wallets: their lock is simulated, and then fails and costs gas.
  ...['silentWallet', 'gasPriceWallet', 'originWallet', 'gasLeftWallet', 'megabyteWallet', 'goneWallet'],
  'delegatedAwayWallet',
  // Recipients of coins: the same for deliveries.
  ...['gasPriceRecipient', 'burningRecipient', 'megabyteRecipient'],
  // Tokens that change while swaps of them go on.
  ...['blockedWallet', 'blockedRecipient', 'pausedToken', 'renamedToken', 'changedToken'],
  // Calls that are legal and unusual: readers of calls and events have to stay whole and quick.
  ...['pointers', 'falseEvents', 'twoRecovers', 'ownOp', 'zeroLock'],
  // Transfers that nobody asked for.
  'strayDeposits',
  ...['solanaAccounts', 'solanaDust', 'solanaInput', 'solanaMarker', 'solanaHistory'],
] as const
export type CrowdKind = (typeof crowdKinds)[number]

/** One act. `client`: the swap that it needs, whose wallet and recipient exist for it alone. */
export type CrowdAct = { kind: CrowdKind; chain: EvmChainName; isLate: boolean; client?: ClientPlan }
/** Acts by round: every kind once in each. Acts that fail are repeated by the spare ones. */
export type CrowdPlan = {
  /** How often each kind acts during the faults. */
  rounds: number
  /** The time between two acts. */
  everyMs: number
  acts: CrowdAct[]
  /** Honest swaps after the faults: the first and the last without strangers, the others beside them. */
  pace: { before: ClientPlan[]; beside: ClientPlan[]; after: ClientPlan[] }
}

type Way = Pick<ClientPlan, 'sell' | 'buy' | 'method'>
const SIGNED: Way = { sell: 'USDC', buy: 'USDC', method: 'authorization' }
const DELEGATED: Way = { sell: 'USDC', buy: 'USDC', method: 'delegation' }
const TO_COIN: Way = { sell: 'USDC', buy: 'ETH', method: 'authorization' }
const CHANGING: Way = { sell: 'GEO', buy: 'GEO', method: 'delegation' }
const PAID: Way = { sell: 'USDC', buy: 'USDC', method: 'deposit' }
const WAYS: Partial<Record<CrowdKind, Way>> = {
  ...{ silentWallet: SIGNED, gasPriceWallet: SIGNED, originWallet: SIGNED, gasLeftWallet: SIGNED },
  ...{ megabyteWallet: SIGNED, goneWallet: SIGNED, delegatedAwayWallet: DELEGATED },
  ...{ gasPriceRecipient: TO_COIN, burningRecipient: TO_COIN, megabyteRecipient: TO_COIN },
  ...{ blockedWallet: SIGNED, blockedRecipient: SIGNED },
  ...{ pausedToken: CHANGING, renamedToken: CHANGING, changedToken: CHANGING },
  ...{
    twoRecovers: PAID,
    strayDeposits: PAID,
    solanaInput: { sell: 'USDC', buy: 'USDC' },
    solanaMarker: SIGNED,
  },
}

const SPARE_ROUNDS = 6
// No other client has such a number.
const FIRST_ID = 1_000_000
const FIRST_PACE_ID = 2_000_000
const BETWEEN_MS = 500

type Drawn = {
  rounds: number
  everyMs: number
  /** Cheap ones: strangers act there, and honest swaps are timed. */
  chains: readonly [EvmChainName, EvmChainName]
  usd: number
  /** The number of honest swaps that are timed, with strangers and without. */
  timed: number
}

export function drawCrowd(random: Random, { rounds, everyMs, chains, usd, timed }: Drawn): CrowdPlan {
  // One more round acts beside honest swaps that are timed.
  const acts = Array.from({ length: rounds + 1 + SPARE_ROUNDS }, () => shuffle(random, crowdKinds)).flat()
  const [one, other] = chains
  let paced = FIRST_PACE_ID
  const pace = (count: number, is: 'alone' | 'beside'): ClientPlan[] =>
    Array.from({ length: count }, (_, index) => ({
      ...{ id: paced++, at: index * BETWEEN_MS, behaviour: 'honest', pace: is, usd, ...DELEGATED },
      ...(index % 2 === 0 ? { from: one, to: other } : { from: other, to: one }),
    }))
  return {
    ...{ rounds, everyMs },
    acts: acts.map((kind, index) => {
      const chain = random.pick(chains)
      const way = WAYS[kind]
      const client = way && { id: FIRST_ID + index, at: 0, behaviour: 'stranger' as const, usd, ...way }
      const isLate = random.next() < 0.5
      return {
        kind,
        chain,
        isLate,
        ...(client && { client: { ...client, ...routeOf(kind, chains, chain) } }),
      }
    }),
    pace: {
      before: pace(Math.ceil(timed / 2), 'alone'),
      beside: pace(timed, 'beside'),
      after: pace(Math.floor(timed / 2), 'alone'),
    },
  }
}

function routeOf(kind: CrowdKind, chains: readonly EvmChainName[], chain: EvmChainName) {
  const other = chains.find((each) => each !== chain) ?? chain
  const from: ChainName = kind === 'solanaInput' ? 'solana' : chain
  const to: ChainName = kind === 'solanaMarker' ? 'solana' : kind === 'solanaInput' ? chain : other
  return { from, to }
}

function shuffle<T>(random: Random, items: readonly T[]): T[] {
  const keyed = items.map((item) => ({ item, key: random.next() }))
  return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item)
}

/** Whether the swap's wallet is a contract. */
export const hasCode = ({ kind, client }: CrowdAct): boolean =>
  kind.endsWith('Wallet') && client?.method === 'authorization'

/** The swaps of a crowd and beside it, which need wallets. */
export function clientsOf({ acts, pace }: CrowdPlan): ClientPlan[] {
  const ofStrangers = acts.flatMap(({ client }) => client ?? [])
  return [...ofStrangers, ...pace.before, ...pace.beside, ...pace.after]
}
