import {
  advanceTime,
  currentBlock,
  findInteger,
  invalidParams,
  type Ledger,
  type Methods,
  slotAt,
} from '@geoswap/solana-rpc'
import type { Meter } from '../meter.ts'
import type { LaggingNode } from './lagging-node.ts'

const MAX_ADVANCE_SECONDS = 86_400

type Provider = {
  ledger: Ledger
  slotMs: number
  meter: Meter
  settings: { callsPerSecond: number }
  lagging: LaggingNode
}

/** The controls of a shaped EVM chain that apply here, with the same names. */
export function providerControls({ ledger, slotMs, meter, settings, lagging }: Provider): Methods {
  const { slots } = ledger
  const preset = { callsPerSecond: settings.callsPerSecond, lagSlots: lagging.slots }
  return {
    shape_advance([count]) {
      const seconds = findInteger(count) ?? 0
      if (seconds > MAX_ADVANCE_SECONDS) throw invalidParams(`at most ${MAX_ADVANCE_SECONDS} seconds at once`)
      advanceTime(ledger, { seconds, slotMs })
      const { slot, timeSeconds } = currentBlock(slots)
      return { blockNumber: slot, timestamp: timeSeconds }
    },
    shape_haltFinality() {
      slots.finalityHaltedAt ??= slotAt(slots, 'finalized')
      return true
    },
    /** The overdue slots become final with the next slot. */
    shape_resumeFinality() {
      slots.finalityHaltedAt = undefined
      return true
    },
    shape_setRateLimit([callsPerSecond]) {
      settings.callsPerSecond = findInteger(callsPerSecond) ?? preset.callsPerSecond
      return true
    },
    shape_setBackendLag([count]) {
      lagging.slots = findInteger(count) ?? preset.lagSlots
      return true
    },
    shape_readMeter: () => meter.read(),
    shape_resetMeter() {
      meter.reset()
      return true
    },
  }
}
