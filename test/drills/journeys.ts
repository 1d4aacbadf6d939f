import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAddress } from 'viem/accounts'
import { delegateTo } from '../instant-wallet.ts'
import { prepareSolana } from '../solana-orders.ts'
import { prepare } from '../world.ts'
import type { Stage } from './stage.ts'

const USDC = 1_000_000n
const AMOUNT = 10n * USDC

/** A swap of ten USDC from a new wallet to a new recipient: their balances show its effect. */
export type Journey = {
  /** The operation's id on every chain: it survives a loss of the database. */
  opHash: string
  /** As the build replied: with a node, it is enough for a refund. */
  operation: object
  /** The only account that may lock it; empty on Solana. */
  locker: string
  output: bigint
  submit(): Promise<string>
  /** The amounts that the recipient received and the wallet has left. */
  read(): Promise<{ paid: bigint; left: bigint }>
}

type ChainName = 'alpha' | 'beta' | 'solana'
type Ready = Pick<Stage, 'world' | 'solana'>

/** Quoted, built and signed, but not submitted yet. */
export function prepareJourney(stage: Ready, from: 'alpha' | 'solana', to: ChainName): Promise<Journey> {
  return from === 'alpha' ? fromAlpha(stage, to) : fromSolana(stage, to)
}

export async function startJourney(stage: Ready, from: 'alpha' | 'solana', to: ChainName): Promise<Journey> {
  const journey = await prepareJourney(stage, from, to)
  await journey.submit()
  return journey
}

/** From a delegated wallet of alpha: any relayer may lock it, without an authorization. */
export async function prepareAgain(stage: Ready): Promise<Journey> {
  const { alpha } = stage.world
  const wallet = await stage.world.walletWith(alpha, 'USDC', AMOUNT)
  await delegateTo(alpha, wallet.address, alpha.contracts.account)
  return fromAlpha(stage, 'beta', wallet)
}

async function fromAlpha(stage: Ready, to: ChainName, given?: PrivateKeyAccount): Promise<Journey> {
  const { world, solana } = stage
  const { api, alpha } = world
  const wallet = given ?? (await world.walletWith(alpha, 'USDC', AMOUNT))
  const { recipient, paid } = await recipientOn(stage, to)
  const target = to === 'solana' ? solana : world[to]
  const order = { from: alpha, sell: 'USDC', to: target, buy: 'USDC', amount: AMOUNT, recipient }
  const { quote, build, submission } = await prepare(world, wallet, order)
  return {
    opHash: build.geoOpHash,
    operation: build.operation,
    locker: (build.operation.message as { locker: string }).locker,
    output: BigInt(quote.output),
    submit: async () => accepted(await api.submit(submission)),
    read: async () => ({ paid: await paid(), left: await alpha.balanceOf(wallet.address, 'USDC') }),
  }
}

async function fromSolana(stage: Ready, to: ChainName): Promise<Journey> {
  const { world, solana } = stage
  const { api } = world
  const wallet = await solana.wallet({ USDC: AMOUNT })
  const { recipient, paid } = await recipientOn(stage, to)
  const order = { sell: 'USDC', buy: 'USDC', amount: AMOUNT, recipient }
  const target = to === 'solana' ? solana : world[to]
  const prepared = await prepareSolana({ api, solana }, wallet, { ...order, to: target })
  const left = () => solana.balanceOf(wallet.address, solana.token('USDC'))
  return {
    opHash: `0x${prepared.operation.opId}`,
    operation: prepared.operation,
    locker: '',
    output: BigInt(prepared.quote.output),
    submit: async () => accepted(await api.submitSolana(prepared.submission)),
    read: async () => ({ paid: await paid(), left: await left() }),
  }
}

async function recipientOn({ world, solana }: Ready, place: ChainName) {
  if (place !== 'solana') {
    const recipient = privateKeyToAddress(generatePrivateKey())
    return { recipient, paid: () => world[place].balanceOf(recipient, 'USDC') }
  }
  // With a token account, so that the quote includes no rent.
  const { address: recipient } = await solana.wallet({ USDC: 1n })
  return { recipient, paid: async () => (await solana.balanceOf(recipient, solana.token('USDC'))) - 1n }
}

type Submitted = { status: number; body: { swapId: string; code?: string; message?: string } }

function accepted({ status, body }: Submitted): string {
  if (status !== 200) throw new Error(`submit: ${status} ${body.code} ${body.message}`)
  return body.swapId
}

export const ENDS = { settled: 'closed', refunded: 'refunded', failed: 'failed' } as const
export type End = keyof typeof ENDS

/** The balances of both for this end: the whole output, or the whole input. */
export function moneyOf({ output }: Journey, end: End): { paid: bigint; left: bigint } {
  return end === 'settled' ? { paid: output, left: 0n } : { paid: 0n, left: AMOUNT }
}
