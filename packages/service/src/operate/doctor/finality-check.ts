import type { Findings } from '../../chains/findings.ts'
import type { ConnectedChain } from '../../compose/connected-chain.ts'
import { finalityOf } from '../../config/finality.ts'
import { isTooSlow } from '../../model/finality.ts'
import { listPresets, type Preset, readPreset } from '../presets.ts'

type Times = { name: string; configured: number; measured: number; preset: number | undefined }

/** Compares the time to finality of this moment with the configuration, and the configuration with the preset. */
export async function checkFinality({ config, chain }: ConnectedChain): Promise<Findings> {
  const { head, hard } = await chain.readHeads()
  const preset = findPreset(config.chainId)
  return judgeFinality({
    name: config.name,
    configured: finalityOf(config).hardSeconds,
    measured: head.seconds - hard.seconds,
    preset: preset && finalityOf(preset).hardSeconds,
  })
}

export function judgeFinality({ name, configured, measured, preset }: Times): Findings {
  const slow = `${name}: finality takes ${measured} s now, configured are ${configured} s (hardSeconds)`
  const below = `${name}: hardSeconds is ${configured}, the preset has ${preset}: inputs may be refundable too early`
  const isStalled = isTooSlow(configured, measured)
  return {
    problems: isStalled ? [`${slow}: the chain is not served`] : [],
    warnings: [
      ...(!isStalled && measured > configured ? [slow] : []),
      ...(preset !== undefined && configured < preset ? [below] : []),
    ],
  }
}

function findPreset(chainId: number): Preset | undefined {
  return listPresets()
    .flatMap((name) => readPreset(name) ?? [])
    .find((preset) => preset.chainId === chainId)
}
