import { mineByTheClock } from '../evm-clock.ts'
import { createEvmProvider } from '../evm-provider.ts'
import { createArbitrumFees } from './arbitrum-fees.ts'
import { automine } from './automine.ts'
import { type Ask, type Next, toHex } from './call.ts'
import { answerControls } from './controls.ts'
import type { EvmShape } from './evm-shape.ts'
import { createOwnFees, type Fees } from './fee-system.ts'
import { createFinality } from './finality.ts'
import { createHeads, type Heads } from './heads.ts'
import { createMeter, type Meter } from './meter.ts'
import { createMining } from './mining.ts'
import { createOpFees } from './op-fees.ts'
import { chain, rulesOf } from './pipeline.ts'
import { initialSettings, l1WeiPerByte, type Settings } from './settings.ts'
import { createSubscriptions, type Subscriptions } from './subscriptions.ts'

export type ShapedChain = {
  /** Passes a call through the rules. */
  answer: Next
  settings: Settings
  meter: Meter
  subscriptions: Subscriptions
}
type ShapedOptions = {
  shape: EvmShape
  chainId: number
  /** 0 makes no block by the clock. */
  blockMs: number
  onFault(error: unknown): void
}

// Enough that a lagging backend knows everything deployed at the chain's start.
const LAST_BLOCKS = 8
const TAKES_BLOCKS_BACK = new Set(['evm_revert', 'hardhat_reset'])

/** A chain that behaves like a public one, with a history older than its finality. */
export async function createShapedChain(options: ShapedOptions): Promise<ShapedChain> {
  const { shape } = options
  const settings = initialSettings(shape)
  const genesisTime = new Date(Date.now() - shape.historySeconds * 1_000)
  const baseFeeWei = Number(shape.baseFeeWei)
  const provider = await createEvmProvider({ chainId: options.chainId, baseFeeWei, genesisTime })
  const ask: Ask = <T>(method: string, ...params: unknown[]) =>
    provider.request({ method, params }) as Promise<T>

  const heads = createHeads(ask)
  const finality = createFinality(shape, settings, heads)
  let basePrice = async (): Promise<bigint> => shape.baseFeeWei
  const fees = feesOf(shape, {
    ask,
    heads,
    basePrice: () => basePrice(),
    weiPerByte: () => l1WeiPerByte(shape, settings),
  })
  const mining = createMining({ ask, shape, heads, fees })
  basePrice = mining.basePrice
  await writeHistory(shape, { ask, heads, fees, mining })

  const clocked = mineByTheClock(
    async ({ method, params = [] }) => {
      if (method === 'shape_advance') return mining.advance(params[0] as number)
      if (method === 'evm_mine' || method === 'hardhat_mine') return mining.mine(method, params)
      await mining.whole()
      const answer = await ask(method, ...params)
      if (!TAKES_BLOCKS_BACK.has(method)) return answer
      heads.forget()
      await finality.forget()
      await mining.keepBaseFee()
      return answer
    },
    options.blockMs,
    options.onFault,
  )
  const whole: Ask = async (method, ...params) => {
    await mining.whole()
    return ask(method, ...params)
  }
  const meter = createMeter()
  const subscriptions = createSubscriptions(provider, { toClient: fees.toClient, whole: mining.whole })
  const controls = answerControls({ shape, settings, finality, fees, meter, silence: subscriptions.silence })
  const answer = chain(
    [controls, automine(), ...rulesOf({ ask: whole, shape, heads, finality, fees })],
    clocked,
  )
  return { answer, settings, meter, subscriptions }
}

type FeeParts = { ask: Ask; heads: Heads; basePrice: () => Promise<bigint>; weiPerByte: () => bigint }

function feesOf(shape: EvmShape, parts: FeeParts): Fees {
  if (shape.fees === 'op-stack') return createOpFees(parts.ask, parts.weiPerByte)
  if (shape.fees === 'arbitrum') return createArbitrumFees(parts)
  return createOwnFees(parts.ask)
}

type HistoryParts = { ask: Ask; heads: Heads; fees: Fees; mining: ReturnType<typeof createMining> }

/** Empty blocks up to now, then a few real ones. Nothing existed before, so nothing is missing there. */
async function writeHistory(shape: EvmShape, { ask, heads, fees, mining }: HistoryParts): Promise<void> {
  const step = Math.max(1, Math.floor(shape.blockMs / 1_000))
  const count = Math.floor(shape.historySeconds / step) - LAST_BLOCKS
  await ask('hardhat_mine', toHex(count), toHex(step))
  heads.forget()
  await fees.start()
  await mining.keepBaseFee()
  const now = Math.floor(Date.now() / 1_000)
  for (let left = LAST_BLOCKS - 1; left >= 0; left -= 1) {
    const { timestamp } = await heads.head()
    await mining.mine('evm_mine', [Math.max(timestamp, now - left * step)])
  }
}
