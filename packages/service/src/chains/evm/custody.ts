import { geoEscrowAbi, geoVaultAbi } from '@geoswap/protocol'
import {
  type Address,
  erc20Abi,
  type Hex,
  isAddressEqual,
  type Log,
  type PublicClient,
  parseEventLogs,
  zeroAddress,
} from 'viem'
import { setNewest } from '../../swap/group.ts'
import type { Block } from '../chain.ts'
import type { Custody, CustodyChain, CustodyEvent, Held, Paid } from '../custody.ts'
import { attempt } from './attempt.ts'
import { deliveriesIn, opsIn, readCall } from './calls.ts'
import type { EvmClients } from './client.ts'
import { createLogPages, type LogPages } from './events.ts'
import { readBalance } from './reads.ts'
import type { EvmChainSettings } from './settings.ts'
import type { EvmLock } from './ways.ts'

type Settings = Pick<EvmChainSettings, 'chainId' | 'escrow' | 'vault' | 'tokens'> & {
  lockers: readonly Address[]
}
type Parts = { clients: Pick<EvmClients, 'client' | 'agreed'>; settings: Settings; locks: readonly EvmLock[] }

// Overlap with the next range, for logs that a node indexes late.
const OVERLAP = 16n

/** The events and balances of our contracts on an EVM chain. */
export function createEvmCustody(parts: Parts): CustodyChain {
  const { clients, settings } = parts
  const isOurs = rememberSenders(clients.agreed, settings)
  const pages = createLogPages(clients.agreed)
  return {
    chainId: settings.chainId,
    readCustody: (after, hard) => readCustody(parts, pages, after, hard),
    findPaid: (event) => findPaid(parts, event),
    isOurLock: isOurs,
    findSold: (txHash, token) => findSold(clients.agreed, settings, txHash as Hex, token as Address),
  }
}

// Each reading overlaps with the last, and strangers choose how many transactions there are.
const MAX_SENDERS = 10_000

/** Whether one of our keys sent a transaction. */
function rememberSenders(client: PublicClient, { lockers }: Settings) {
  const known = new Map<string, boolean>()
  return async (txHash: string): Promise<boolean> => {
    const before = known.get(txHash)
    if (before !== undefined) return before
    const { from } = await readCall(client, txHash)
    const isOurs = lockers.some((locker) => isAddressEqual(locker, from))
    setNewest(known, txHash, isOurs, MAX_SENDERS)
    return isOurs
  }
}

async function readCustody(
  { clients, settings }: Parts,
  pages: LogPages,
  after: bigint | undefined,
  hard: Block,
): Promise<Custody> {
  const { agreed } = clients
  if (after === undefined) {
    return { block: hard.number, events: [], balances: await readBalances(agreed, settings, hard.number) }
  }
  const from = after > OVERLAP ? after - OVERLAP : 0n
  const logs: Log<bigint, number, false>[] = []
  let to = from - 1n
  // The first pages may only repeat what is known.
  while (to <= after && to < hard.number) {
    const page = await pages.readPage([settings.escrow, settings.vault], { from: to + 1n, to: hard.number })
    logs.push(...page.logs)
    to = page.to
  }
  const events = toEvents(settings, logs)
  const isUpToDate = to === hard.number
  const balances = isUpToDate ? await readBalances(agreed, settings, to) : undefined
  return { block: to, events, balances }
}

/** Without tokens that do not tell: one of them must not keep the others from being compared. */
async function readBalances(client: PublicClient, settings: Settings, blockNumber: bigint): Promise<Held[]> {
  const places = [
    ['escrow', settings.escrow],
    ['vault', settings.vault],
  ] as const
  const asked = places.flatMap(([place, owner]) => settings.tokens.map((token) => ({ place, owner, token })))
  const read = await Promise.all(
    asked.map(async ({ place, owner, token }) => {
      const told = await attempt(
        client,
        () => readBalance(client, { owner, token, blockNumber }),
        blockNumber,
      )
      return told.kind === 'ok' ? [{ place, token, amount: told.result }] : []
    }),
  )
  return read.flat()
}

function toEvents(
  { escrow, vault, tokens }: Omit<Settings, 'chainId' | 'lockers'>,
  logs: Log[],
): CustodyEvent[] {
  const isFrom = (address: Address) => (log: Log) => isAddressEqual(log.address, address)
  const said = parseEventLogs({ abi: geoEscrowAbi, logs: logs.filter(isFrom(escrow)) })
  const paid = parseEventLogs({ abi: geoVaultAbi, logs: logs.filter(isFrom(vault)) })
  const ownerOf = (owner: Address) =>
    isAddressEqual(owner, vault) ? ('vault' as const) : ('wallet' as const)
  const events: CustodyEvent[] = []
  for (const log of said) {
    const at = whereIs(log)
    if (log.eventName === 'Locked') events.push({ ...at, kind: 'locked', op: log.args.op })
    if (log.eventName === 'Claimed') events.push({ ...at, kind: 'claimed', op: log.args.op })
    if (log.eventName === 'Refunded') events.push({ ...at, kind: 'refunded', op: log.args.op })
    // Anyone can be credited with a token of their own, in any amount.
    if ('token' in log.args && !tokens.includes(log.args.token)) continue
    if (log.eventName === 'Credited') {
      const { owner, token, amount } = log.args
      events.push({ ...at, kind: 'credited', owner: ownerOf(owner), token, amount })
    }
    if (log.eventName === 'Withdrawn') {
      const { owner, token, to, amount } = log.args
      const elsewhere = ownerOf(owner) === 'vault' ? ('treasury' as const) : ('wallet' as const)
      events.push({
        ...at,
        kind: 'creditPaid',
        to: ownerOf(to) === 'vault' ? 'vault' : elsewhere,
        token,
        amount,
      })
    }
  }
  for (const log of paid) {
    const at = whereIs(log)
    if (log.eventName === 'Delivered') {
      events.push({ ...at, kind: 'delivered', delivery: log.args.delivery, amount: log.args.amount })
    }
    if (log.eventName === 'Withdrawn') {
      events.push({ ...at, kind: 'withdrawn', token: log.args.token, amount: log.args.amount })
    }
  }
  return events
}

type Mined = { transactionHash: Hex; blockNumber: bigint; logIndex: number }

function whereIs({ transactionHash, blockNumber, logIndex }: Mined) {
  return { txHash: transactionHash, block: blockNumber, part: logIndex }
}

/** Read from the call itself: the hash of the op or delivery commits to it, so any node may be asked. */
async function findPaid(
  { clients: { client }, settings, locks }: Parts,
  event: CustodyEvent,
): Promise<Paid | undefined> {
  if (event.kind === 'delivered') {
    const called = deliveriesIn(settings, await readCall(client, event.txHash))
    const made = called.find(({ hash }) => hash === event.delivery)
    return made && { token: made.token, amount: event.amount }
  }
  if (event.kind !== 'locked' && event.kind !== 'claimed' && event.kind !== 'refunded') return undefined
  const called = opsIn(settings, locks, await readCall(client, event.txHash))
  const op = called.find(({ hash }) => hash === event.op)
  return op && { token: op.inputToken, amount: op.inputAmount }
}

/** Read from the token's own log; undefined for the native coin, which has none. */
async function findSold(
  client: PublicClient,
  { vault }: Pick<Settings, 'vault'>,
  hash: Hex,
  token: Address,
): Promise<bigint | undefined> {
  if (token === zeroAddress) return undefined
  const { logs } = await client.getTransactionReceipt({ hash })
  const own = logs.filter(({ address }) => isAddressEqual(address, token))
  return parseEventLogs({ abi: erc20Abi, logs: own, eventName: 'Transfer' }).reduce((sold, { args }) => {
    const out = isAddressEqual(args.from, vault) ? args.value : 0n
    const back = isAddressEqual(args.to, vault) ? args.value : 0n
    return sold + out - back
  }, 0n)
}
