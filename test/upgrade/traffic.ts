import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import type { ApiClient } from '../client.ts'
import { submitSolanaSwap } from '../solana-orders.ts'
import type { SolanaWorld } from '../solana-world.ts'
import { outcomeOf, submitSwap, type World, type WorldChain } from '../world.ts'

// In USDC, whose decimals depend on the chain.
const AMOUNT = 10n
const BUDGET = 10_000n

type Connections = { world: World; solana: SolanaWorld; api: ApiClient }
/** A wallet with its own recipient, so that their balances show the effect of its swaps. */
type Trader = {
  name: string
  /** The input of one swap. */
  amount: bigint
  swap(): Promise<{ swapId: string; quote: { output: string } }>
  spent(): Promise<bigint>
  received(): Promise<bigint>
}
type Done = { swapId: string; status: string; output: bigint }

export type Traffic = {
  /** The ended swaps of all traders, in order. */
  done: readonly Done[]
  end(): Promise<void>
  /** All problems, from calls to balances. Empty if there are none. */
  audit(): Promise<string[]>
}

/** Wallets that swap one after the other until they are stopped. */
export async function startTraffic(connections: Connections, perRoute: number): Promise<Traffic> {
  const { alpha, beta } = connections.world
  const routes = [
    () => fromEvm(connections, alpha, beta),
    () => fromEvm(connections, beta, alpha),
    () => fromSolana(connections),
  ]
  const traders = await Promise.all(routes.flatMap((create) => Array.from({ length: perRoute }, create)))
  const all: Done[] = []
  const faults: string[] = []
  let isOver = false
  const work = async (trader: Trader, done: Done[]) => {
    while (!isOver) {
      const { swapId, quote } = await trader.swap()
      const { status } = await outcomeOf(connections, swapId)
      const end = { swapId, status, output: BigInt(quote.output) }
      done.push(end)
      all.push(end)
    }
  }
  const running = traders.map((trader) => {
    const done: Done[] = []
    const ended = work(trader, done).catch(
      (error: Error) => void faults.push(`${trader.name}: ${error.message}`),
    )
    return { trader, done, ended }
  })
  return {
    done: all,
    async end() {
      isOver = true
      await Promise.all(running.map(({ ended }) => ended))
    },
    audit: async () => [
      ...faults,
      ...(await Promise.all(running.map(({ trader, done }) => compare(trader, done)))).flat(),
    ],
  }
}

/** Compares the expected payments of these swaps with the actual ones. */
async function compare({ name, amount, ...trader }: Trader, done: readonly Done[]): Promise<string[]> {
  const unsettled = done.filter(({ status }) => status !== 'settled')
  const owed = done.reduce((sum, { output }) => sum + output, 0n)
  const [spent, received] = await Promise.all([trader.spent(), trader.received()])
  const problems = unsettled.map(({ swapId, status }) => `${name}: ${swapId} is ${status}`)
  if (spent !== amount * BigInt(done.length)) problems.push(`${name}: spent ${spent} on ${done.length} swaps`)
  if (received !== owed) problems.push(`${name}: received ${received} of ${owed}`)
  return problems
}

async function fromEvm({ world, api }: Connections, from: WorldChain, to: WorldChain): Promise<Trader> {
  const unit = unitOf(world, from.chainId)
  const [amount, budget] = [AMOUNT * unit, BUDGET * unit]
  const wallet = await world.walletWith(from, 'USDC', budget)
  const recipient = privateKeyToAddress(generatePrivateKey())
  const order = { from, sell: 'USDC', to, buy: 'USDC', amount, recipient }
  return {
    ...{ name: `${from.name} to ${to.name}`, amount },
    swap: () => submitSwap({ api }, wallet, order),
    spent: async () => budget - (await from.balanceOf(wallet.address, 'USDC')),
    received: () => to.balanceOf(recipient, 'USDC'),
  }
}

async function fromSolana({ world, solana, api }: Connections): Promise<Trader> {
  const { alpha } = world
  const unit = unitOf(world, solana.chainId)
  const [amount, budget] = [AMOUNT * unit, BUDGET * unit]
  const wallet = await solana.wallet({ USDC: budget })
  const recipient = privateKeyToAddress(generatePrivateKey())
  const order = { sell: 'USDC', to: alpha, buy: 'USDC', amount, recipient }
  return {
    ...{ name: 'solana to alpha', amount },
    swap: () => submitSolanaSwap({ api, solana }, wallet, order),
    spent: async () => budget - (await solana.balanceOf(wallet.address, solana.token('USDC'))),
    received: () => alpha.balanceOf(recipient, 'USDC'),
  }
}

function unitOf({ local }: World, chainId: number): bigint {
  const chain = local.chains.find((each) => each.chainId === chainId)
  const usdc = chain?.tokens.find(({ symbol }) => symbol === 'USDC')
  if (!usdc) throw new Error(`Chain ${chainId} has no USDC`)
  return 10n ** BigInt(usdc.decimals)
}
