import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The files that a run left in its folder. */
export type Said = {
  t: number
  client: number
  type: 'begin' | 'invoke' | 'ok' | 'fail' | 'info' | 'gaveUp' | 'paid'
  n?: number
  path?: string
  status?: number
  retryAfter?: string | null
  reply?: Reply
}
/** A transfer to an op's own address. */
export type Payment = {
  client: number
  type: string
  chain: string
  address: string
  token: string
  amount: string
  txHash: string
}
type Reply = {
  code?: string
  swapId?: string
  status?: string
  originTxHash?: string
  deliveryTxHash?: string
}

type Sighting = { t: number; chain: string; txHash: string; isRecorded: boolean; caller: string }
type Fault = {
  t: number
  kind: string
  chain?: string
  /** Of a planned fault. */
  event?: { percent?: number }
  /** Of a theft. */
  txHash?: string
  op?: string
  amount?: string
}
export type Head = {
  t: number
  chain: string
  number: number
  hash: string
  seconds: number
  /** The chain's final block at that time, if the chain reports one. */
  final?: number
}
export type Party = {
  id: number
  wallet: string
  recipient: string
  behaviour: string
  from: string
  to: string
  /** The symbol of the input. */
  sell: string
  /** How the input comes in. Absent if by a transaction that the service writes. */
  method?: string
  held: string
  /** An honest swap whose time is measured, without strangers or beside them. */
  pace?: 'alone' | 'beside'
  isStranger: boolean
  /** Sends deposits, and held this much for them. */
  payer?: string
  paid?: string
}
/** Whether its wallet moves the input away after it signed. On an EVM chain a payment is cancelled instead. */
export const movesItsFunds = ({ behaviour, from }: Pick<Party, 'behaviour' | 'from'>): boolean =>
  behaviour === 'sweptBalance' || (behaviour === 'cancelledPayment' && from === 'solana')

/** An act of strangers. */
type Act = { t: number; kind: string }
/** A transfer of strangers. `client`: to the op of this one. */
export type Gift = {
  chain: string
  to: string
  token: string
  amount: string
  txHash: string
  client?: number
}
type Token = { symbol: string; address: string; decimals: number }
export type ChainSetup = {
  chainId: number
  name: string
  family: 'evm' | 'solana'
  rpcUrl: string
  /** The node itself, on a chain behind a provider. */
  shape?: { nodeUrl: string }
  tokens: Token[]
  contracts?: { account: string; escrow: string; vault: string }
  /** Of a Solana chain: the authority of the accounts that pay. */
  vault?: string
  program?: string
}
type ChainConfig = {
  chainId: number
  finality: { hard: number; hardSeconds?: number }
  blockMs: number
  feePayers?: { input: string; delivery: string }
}
type Setup = {
  databaseUrl: string
  local: { chains: ChainSetup[] }
  config: { chains: ChainConfig[] }
  logs: string
  secrets: string[]
  deadlines: Record<string, number>
  exposureCapCents: number
  /** Before the run, for every token: the operator's holdings, and the supply. */
  holdings: { chainId: number; token: string; inventory: string; supply: string }[]
  /** Before the run, the lamports of the accounts that pay on Solana. */
  feePayers: Record<string, string>
  /** The login of the stolen attester: a attacker writes with it, in all names. */
  stolenLogin: string
  parties: Party[]
  /** The money of strangers beside that of their swaps. */
  purses?: { chain: string; address: string; held: string }[]
}
type Facts = {
  calmAt: number
  quietMs: number
  least: number
  isGate: boolean
  hasAttackers: boolean
  hasCrowd: boolean
  /** The public chains that these imitated. */
  shape?: string
  crashes: Record<string, number>
  requests: Record<string, number>
}

export type Input = {
  setup: Setup
  facts: Facts
  history: Said[]
  payments: Payment[]
  traffic: Sighting[]
  faults: Fault[]
  heads: Head[]
  acts: Act[]
  gifts: Gift[]
  logs: { name: string; text: string }[]
}

export const nodeOf = ({ rpcUrl, shape }: ChainSetup) => shape?.nodeUrl ?? rpcUrl

/** The longest time that finality may take. */
export const finalSecondsOf = ({ finality, blockMs }: ChainConfig) =>
  finality.hardSeconds ?? (finality.hard * blockMs) / 1_000

export function readInput(dir: string): Input {
  const json = <T>(file: string): T => JSON.parse(readFileSync(join(dir, file), 'utf8'))
  const lines = <T>(file: string): T[] =>
    readFileSync(join(dir, file), { encoding: 'utf8', flag: 'a+' })
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  const setup = json<Setup>('setup.json')
  const history = lines<Said>('history.jsonl')
  return {
    ...{ setup, facts: json<Facts>('facts.json'), history },
    payments: lines<Payment>('history.jsonl').filter(({ type }) => type === 'paid'),
    ...{ traffic: lines<Sighting>('traffic.jsonl'), faults: lines<Fault>('faults.jsonl') },
    heads: lines<Head>('heads.jsonl'),
    ...{ acts: lines<Act>('crowd.jsonl'), gifts: lines<Gift>('gifts.jsonl') },
    logs: readdirSync(setup.logs).map((name) => ({
      name,
      text: readFileSync(join(setup.logs, name), 'utf8'),
    })),
  }
}
