import { RpcError, type Rule } from './call.ts'
import type { ShapeControl, ShapeControls } from './control-methods.ts'
import type { EvmShape } from './evm-shape.ts'
import type { Fees } from './fee-system.ts'
import type { Finality } from './finality.ts'
import type { Meter } from './meter.ts'
import type { Settings } from './settings.ts'

type Parts = {
  shape: EvmShape
  settings: Settings
  finality: Finality
  fees: Fees
  meter: Meter
  silence: () => number
}
type Handlers = {
  [M in Exclude<ShapeControl, 'shape_advance'>]: (
    ...params: ShapeControls[M]['params']
  ) => ShapeControls[M]['result'] | Promise<ShapeControls[M]['result']>
}

/** Answers the controls. `shape_advance` makes blocks, so it is passed on to the clock, which queues it. */
export function answerControls(parts: Parts): Rule {
  const handlers = createHandlers(parts)
  return async (call, next) => {
    if (!call.method.startsWith('shape_')) return next(call)
    if (call.method === 'shape_advance') {
      positive(call.params[0])
      return next(call)
    }
    const handler = handlers[call.method as keyof Handlers] as ((...params: unknown[]) => unknown) | undefined
    if (!handler) throw new RpcError(-32_601, `the method ${call.method} does not exist/is not available`)
    return handler(...call.params)
  }
}

function createHandlers({ shape, settings, finality, fees, meter, silence }: Parts): Handlers {
  return {
    async shape_haltFinality() {
      // The tags stop at their current blocks, not at those of the last read.
      await Promise.all([finality.blockOf('safe'), finality.blockOf('finalized')])
      settings.finalityHalted = true
      return true as const
    },
    shape_resumeFinality() {
      settings.finalityHalted = false
      return true as const
    },
    async shape_setFinalityLag(factor) {
      const wanted = positive(factor)
      await Promise.all([finality.blockOf('safe'), finality.blockOf('finalized')])
      settings.finalityFactor = wanted
      return true as const
    },
    async shape_setL1PriceFactor(factor) {
      settings.l1PriceFactor = positive(factor)
      await fees.reprice()
      return true as const
    },
    shape_setRateLimit(callsPerSecond) {
      settings.callsPerSecond = callsPerSecond === null ? shape.callsPerSecond : whole(callsPerSecond)
      return true as const
    },
    shape_setBackendLag(blocks) {
      settings.backendLag = blocks === null ? shape.backendLag : whole(blocks)
      return true as const
    },
    shape_silenceSubscriptions: () => silence(),
    shape_readMeter: () => meter.read(),
    shape_resetMeter() {
      meter.reset()
      return true as const
    },
  }
}

function positive(value: unknown): number {
  if (typeof value === 'number' && Number.isFinite(value) && value > 0) return value
  throw new RpcError(-32_602, 'expected a number above 0')
}

function whole(value: unknown): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value
  throw new RpcError(-32_602, 'expected a whole number, 0 or more')
}
