import type { EvmShape } from './evm-shape.ts'

/** The state that controls change while the chain runs. */
export type Settings = {
  finalityHalted: boolean
  finalityFactor: number
  l1PriceFactor: number
  callsPerSecond: number
  backendLag: number
}

export function initialSettings(shape: EvmShape): Settings {
  return {
    finalityHalted: false,
    finalityFactor: 1,
    l1PriceFactor: 1,
    callsPerSecond: shape.callsPerSecond,
    backendLag: shape.backendLag,
  }
}

/** The current price of one byte on L1. */
export function l1WeiPerByte(shape: EvmShape, settings: Settings): bigint {
  return (shape.l1WeiPerByte * BigInt(Math.round(settings.l1PriceFactor * 1_000))) / 1_000n
}
