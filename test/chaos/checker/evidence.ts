import { mapConcurrently } from './concurrency.ts'
import { type Database, readDatabase, type SwapRow } from './database.ts'
import { type EvmEvidence, type OpEvent, type OpEventKind, readEvmEvidence } from './evm-evidence.ts'
import type { Input, Party, Payment } from './input.ts'
import { readSolanaEvidence, type SolanaEvidence } from './solana-evidence.ts'

/** All evidence of a run: the clients' answers, the records, and the chains. */
export type Evidence = {
  input: Input
  db: Database
  evm: Map<number, EvmEvidence>
  solana: SolanaEvidence
  opEventsOf(swap: SwapRow, kind: OpEventKind): OpEvent[]
  partyOf(swap: SwapRow): Party | undefined
  /** The deposits of a client that are on the chain. */
  depositsOf(party: Party): readonly Payment[]
  balanceOf(chainId: number, owner: string, token: string): Promise<bigint>
}

export type Violation = { invariant: string; what: string }
export type Check = (evidence: Evidence) => Violation[] | Promise<Violation[]>

export async function gather(input: Input): Promise<Evidence> {
  const { chains } = input.setup.local
  const solanaChain = chains.find(({ family }) => family === 'solana')
  if (!solanaChain) throw new Error('The run had no Solana chain')
  const [db, solana, ...all] = await Promise.all([
    readDatabase(input.setup.databaseUrl),
    readSolanaEvidence(solanaChain),
    ...chains.filter(({ family }) => family === 'evm').map(readEvmEvidence),
  ])
  const evm = new Map(all.map((evidence) => [evidence.chain.chainId, evidence]))
  const opEvents = new Map<string, OpEvent[]>()
  for (const opEvent of [...solana.opEvents, ...all.flatMap((each) => each.opEvents)]) {
    const key = `${opEvent.chainId} ${opEvent.kind} ${opEvent.id.toLowerCase()}`
    opEvents.set(key, [...(opEvents.get(key) ?? []), opEvent])
  }
  const deposits = await findDeposits(input, evm)
  const parties = new Map(input.setup.parties.map((party) => [party.wallet.toLowerCase(), party]))
  return {
    ...{ input, db, evm, solana },
    opEventsOf(swap, kind) {
      const isDelivery = kind === 'deliver'
      const chainId = isDelivery ? swap.destination_chain : swap.origin_chain
      const id = isDelivery ? swap.delivery_hash : swap.op_hash
      return opEvents.get(`${chainId} ${kind} ${id.toLowerCase()}`) ?? []
    },
    partyOf: (swap) => parties.get(swap.wallet.toLowerCase()),
    depositsOf: ({ id }) => deposits.filter(({ client }) => client === id),
    balanceOf: (chainId, owner, token) =>
      evm.get(chainId)?.balanceOf(owner, token) ?? solana.balanceOf(owner, token),
  }
}

/** A reorg may have undone the others. A payment that repeats one it undid has the same hash, and counts once. */
async function findDeposits({ payments }: Input, evm: Map<number, EvmEvidence>): Promise<Payment[]> {
  const chains = new Map([...evm.values()].map((each) => [each.chain.name, each]))
  const distinct = [...new Map(payments.map((payment) => [payment.txHash, payment])).values()]
  const found = await mapConcurrently(distinct, async (payment) =>
    (await chains.get(payment.chain)?.hasSucceeded(payment.txHash)) ? [payment] : [],
  )
  return found.flat()
}

/** One violation for each item with a message. */
export function each<T>(
  invariant: string,
  items: readonly T[],
  judge: (item: T) => string | undefined,
): Violation[] {
  return items.flatMap((item) => {
    const what = judge(item)
    return what === undefined ? [] : [{ invariant, what }]
  })
}

export async function eachAsync<T>(
  invariant: string,
  items: readonly T[],
  judge: (item: T) => Promise<string | undefined>,
): Promise<Violation[]> {
  const found = await mapConcurrently(items, judge)
  return found.flatMap((what) => (what === undefined ? [] : [{ invariant, what }]))
}
